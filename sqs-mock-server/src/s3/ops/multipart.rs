//! Multipart uploads.

use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, ChecksumAlgorithm, ChecksumType,
    CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CompletedPart, CreateMultipartUploadInput,
    CreateMultipartUploadOutput, ETag, Initiator, ListPartsInput, ListPartsOutput, Part as Row, StorageClass,
    UploadPartInput, UploadPartOutput,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};
use std::collections::BTreeMap;

use crate::s3::RequestContext;
use crate::s3::body::ExpectedChecksum;
use crate::s3::notifications::{COMPLETE, OWNER_ID};
use crate::s3::ops::list::{owner, page_size};
use crate::s3::ops::objects::check_write;
use crate::s3::ops::{Operations, move_fields, refused, tags, timestamp};
use crate::s3::store::object::{
    Algorithm, Attributes, Hashes, Object, Part, StoredChecksum, Upload, Written, hex,
};

/// Valid part numbers: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const NUMBERS: std::ops::RangeInclusive<i32> = 1..=10_000;

impl Operations {
    pub(crate) fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<CreateMultipartUploadOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let tags = tags::of_header(&context, input.tagging.as_deref())?;
        let algorithm = algorithm_of(input.checksum_algorithm.as_ref())?;
        let asked = input.checksum_type.is_some_and(|kind| kind.as_str() == ChecksumType::FULL_OBJECT);
        // S3 has no composite checksums with this algorithm.
        let whole = asked || algorithm == Some(Algorithm::Crc64Nvme);
        let mut attributes = Attributes::default();
        move_fields!(input => attributes; attributes);
        attributes.remove_chunks();
        let (id, key) = (self.store.new_id(), input.key);
        let upload = Upload {
            id: id.clone(),
            key: key.clone(),
            initiated: self.now(),
            attributes,
            tags,
            algorithm,
            whole,
            parts: BTreeMap::new(),
        };
        let kind = upload.checksum_type();
        bucket.begin(upload).map_err(refused)?;
        Ok(CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(key),
            upload_id: Some(id),
            checksum_algorithm: algorithm.map(|algorithm| ChecksumAlgorithm::from_static(algorithm.name())),
            checksum_type: algorithm.map(|_| kind),
            ..CreateMultipartUploadOutput::default()
        })
    }

    pub(crate) async fn upload_part(
        &self,
        mut request: S3Request<UploadPartInput>,
    ) -> S3Result<UploadPartOutput> {
        let body = request.input.body.take();
        let input = &request.input;
        check_part_number(input.part_number)?;
        let bucket = self.bucket(&input.bucket)?;
        let algorithm = bucket.upload(&input.upload_id, &input.key, |upload| upload.algorithm)?;
        let expected = ExpectedChecksum::of(&request, algorithm)?;
        check_algorithm(algorithm, expected.algorithm)?;
        let part = Part { written: expected.store(&bucket, body).await?, modified: self.now() };
        let mut output = UploadPartOutput {
            e_tag: Some(ETag::Strong(hex(part.written.md5))),
            ..UploadPartOutput::default()
        };
        let checksum = StoredChecksum::fields(part.written.checksum.as_ref());
        move_fields!(checksum => output; checksums);
        bucket.add_part(&input.upload_id, input.part_number, part)?;
        Ok(output)
    }

    pub(crate) fn list_parts(&self, request: S3Request<ListPartsInput>) -> S3Result<ListPartsOutput> {
        let input = request.input;
        let (max_parts, limit) = page_size("max-parts", input.max_parts)?;
        let marker = input.part_number_marker.unwrap_or(0);
        if marker < 0 {
            let most = i32::MAX;
            let text = format!("Argument part-number-marker must be an integer between 0 and {most}");
            return Err(s3_error!(InvalidArgument, "{text}"));
        }
        let bucket = self.bucket(&input.bucket)?;
        let listed = |upload: &Upload| {
            let mut rest = upload.parts.range(marker.saturating_add(1)..);
            let parts: Vec<_> = rest.by_ref().take(limit).map(|(number, part)| row(*number, part)).collect();
            let last = parts.last().and_then(|part| part.part_number);
            let class = upload.attributes.storage_class.clone();
            ListPartsOutput {
                checksum_algorithm: upload.algorithm.map(|one| ChecksumAlgorithm::from_static(one.name())),
                checksum_type: upload.algorithm.map(|_| upload.checksum_type()),
                is_truncated: Some(limit > 0 && rest.next().is_some()),
                next_part_number_marker: Some(last.unwrap_or(0)),
                parts: Some(parts),
                storage_class: Some(class.unwrap_or(StorageClass::from_static(StorageClass::STANDARD))),
                ..ListPartsOutput::default()
            }
        };
        let page = bucket.upload(&input.upload_id, &input.key, listed)?;
        Ok(ListPartsOutput {
            bucket: Some(input.bucket),
            initiator: Some(Initiator { display_name: None, id: Some(OWNER_ID.to_owned()) }),
            key: Some(input.key),
            max_parts: Some(max_parts),
            owner: Some(owner()),
            part_number_marker: Some(marker),
            upload_id: Some(input.upload_id),
            ..page
        })
    }

    pub(crate) fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<AbortMultipartUploadOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        bucket.abort(&input.upload_id, &input.key)?;
        Ok(AbortMultipartUploadOutput::default())
    }

    pub(crate) async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<CompleteMultipartUploadOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let upload = bucket.upload(&input.upload_id, &input.key, Upload::clone)?;
        let wanted = input.multipart_upload.and_then(|parts| parts.parts).unwrap_or_default();
        let parts = found_parts(&upload, &wanted)?;
        let mut object = assembled(&upload, &parts);
        if input.mpu_object_size.is_some_and(|size| u64::try_from(size) != Ok(object.size())) {
            return Err(s3_error!(
                InvalidRequest,
                "The provided 'x-amz-mp-object-size' header does not match."
            ));
        }
        if let Some(algorithm) = upload.algorithm {
            object.checksum = if upload.whole {
                Hashes::of(&object, Some(algorithm)).await.map_err(refused)?.1
            } else {
                StoredChecksum::of_checksums(algorithm, parts.iter().map(|part| part.checksum.as_ref()))
            };
        }
        let given = input.checksum_crc32.or(input.checksum_crc32c).or(input.checksum_crc64nvme);
        let given = given.or(input.checksum_sha1).or(input.checksum_sha256);
        if given.is_some() && given.as_ref() != object.checksum.as_ref().map(|checksum| &checksum.value) {
            return Err(s3_error!(BadDigest, "The checksum you specified did not match what we received."));
        }
        let check = |before: Option<&Object>| {
            check_write(&context, before, input.if_match.as_ref(), input.if_none_match.as_ref())
        };
        let object = self.store(&context, &bucket, object, Some(&upload.id), check, COMPLETE)?;
        let checksum = StoredChecksum::fields(object.checksum.as_ref());
        let mut output = CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(ETag::Strong(object.etag.clone())),
            checksum_type: checksum.checksum_type,
            ..CompleteMultipartUploadOutput::default()
        };
        move_fields!(checksum => output; checksums);
        Ok(output)
    }
}

/// A part in a listing.
fn row(number: i32, part: &Part) -> Row {
    let checksum = StoredChecksum::fields(part.written.checksum.as_ref());
    let mut row = Row {
        part_number: Some(number),
        e_tag: Some(ETag::Strong(hex(part.written.md5))),
        last_modified: Some(timestamp(part.modified)),
        size: i64::try_from(part.written.segment.size).ok(),
        ..Row::default()
    };
    move_fields!(checksum => row; checksums);
    row
}

/// The algorithm that a request names.
pub(crate) fn algorithm_of(name: Option<&ChecksumAlgorithm>) -> S3Result<Option<Algorithm>> {
    let Some(name) = name else { return Ok(None) };
    let unknown = || {
        let allowed = Algorithm::ALL.map(Algorithm::name).join(", ");
        s3_error!(
            InvalidRequest,
            "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [{allowed}]"
        )
    };
    Algorithm::from_name(name.as_str()).map(Some).ok_or_else(unknown)
}

pub(crate) fn check_part_number(number: i32) -> S3Result<()> {
    if NUMBERS.contains(&number) {
        return Ok(());
    }
    let (first, last) = NUMBERS.into_inner();
    Err(s3_error!(InvalidArgument, "Part number must be an integer between {first} and {last}, inclusive"))
}

/// Checks that a part has the checksum algorithm of its upload, if both have one.
fn check_algorithm(of_upload: Option<Algorithm>, of_part: Option<Algorithm>) -> S3Result<()> {
    match of_upload.zip(of_part) {
        Some((of_upload, of_part)) if of_upload != of_part => Err(s3_error!(
            InvalidRequest,
            "Checksum Type mismatch occurred, expected checksum Type: {}, actual checksum Type: {}",
            of_upload.name().to_ascii_lowercase(),
            of_part.name().to_ascii_lowercase()
        )),
        _ => Ok(()),
    }
}

/// The smallest part, except for the last: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const MIN_PART: u64 = 5 << 20;

/// The listed parts.
fn found_parts<'u>(upload: &'u Upload, wanted: &[CompletedPart]) -> S3Result<Vec<&'u Written>> {
    if wanted.is_empty() {
        return Err(s3_error!(MalformedXML, "You must specify at least one part"));
    }
    if !wanted.is_sorted_by(|one, next| one.part_number < next.part_number) {
        return Err(s3_error!(InvalidPartOrder, "The list of parts was not in ascending order."));
    }
    let mut parts = Vec::new();
    for (number, part) in (1..).zip(wanted) {
        let has_etag =
            |found: &&Written| part.e_tag.as_ref().is_none_or(|etag| etag.value() == hex(found.md5));
        let found = part.part_number.and_then(|number| upload.parts.get(&number)).map(|part| &part.written);
        let found = found.filter(has_etag).ok_or_else(invalid_part)?;
        check_checksum(upload, part, found)?;
        if number < wanted.len() && found.segment.size < MIN_PART {
            return Err(s3_error!(
                EntityTooSmall,
                "Your proposed upload is smaller than the minimum allowed size"
            ));
        }
        parts.push(found);
    }
    Ok(parts)
}

/// Checks the checksum of a listed part, which composite checksums need.
fn check_checksum(upload: &Upload, listed: &CompletedPart, found: &Written) -> S3Result<()> {
    let Some(algorithm) = upload.algorithm else { return Ok(()) };
    let listed_checksum = match algorithm {
        Algorithm::Crc32 => &listed.checksum_crc32,
        Algorithm::Crc32c => &listed.checksum_crc32c,
        Algorithm::Crc64Nvme => &listed.checksum_crc64nvme,
        Algorithm::Sha1 => &listed.checksum_sha1,
        Algorithm::Sha256 => &listed.checksum_sha256,
    };
    match listed_checksum {
        None if upload.whole => Ok(()),
        None => Err(s3_error!(
            InvalidRequest,
            "The upload was created using a {} checksum. The complete request must include the checksum for each part. It \
             was missing for part {} in the request.",
            algorithm.name().to_ascii_lowercase(),
            listed.part_number.unwrap_or_default()
        )),
        Some(value) => {
            let is_same = |one: &StoredChecksum| one.algorithm == algorithm && one.value == *value;
            if found.checksum.as_ref().is_some_and(is_same) { Ok(()) } else { Err(invalid_part()) }
        }
    }
}

fn invalid_part() -> S3Error {
    let text = "One or more of the specified parts could not be found. The part may not have been uploaded, or the \
                specified entity tag may not match the part's entity tag.";
    s3_error!(InvalidPart, "{text}")
}

/// Joins parts without copying bytes. The date of the object is that of the start of the upload:
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html>.
fn assembled(upload: &Upload, parts: &[&Written]) -> Object {
    let mut md5 = Md5::new();
    for part in parts {
        md5.update(&part.md5);
    }
    Object {
        key: upload.key.clone(),
        etag: format!("{}-{}", hex(md5.finalize()), parts.len()),
        modified: upload.initiated,
        attributes: upload.attributes.clone(),
        tags: upload.tags.clone(),
        checksum: None,
        segments: parts.iter().map(|part| part.segment.clone()).collect(),
        multipart: true,
    }
}
