//! Uploads in parts: begun, completed, aborted.

use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, ChecksumAlgorithm, ChecksumType,
    CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CompletedPart, CreateMultipartUploadInput,
    CreateMultipartUploadOutput, ETag,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::attributes::attributes;
use super::conditions::WriteConditions;
use super::put::hex;
use super::{Failed, Operations, set_sum};
use crate::s3::store::{Algorithm, Bucket, Hashes, Object, Pieces, Record, Sum, Upload, UploadHead};

/// Least bytes of all parts but the last: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const MIN_PART: u64 = 5 << 20;

/// The upload of this id for this key.
pub(super) fn upload(bucket: &Bucket, id: &str, key: &str) -> S3Result<Upload> {
    bucket.upload(id).filter(|upload| upload.head.key == key).ok_or_else(no_such_upload)
}

pub(super) fn no_such_upload() -> S3Error {
    let text = "The specified upload does not exist. The upload ID may be invalid, or the upload may have been \
                aborted or completed.";
    s3_error!(NoSuchUpload, "{text}")
}

impl Operations {
    pub(super) fn create_multipart_upload(
        &self,
        mut request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<CreateMultipartUploadOutput> {
        let input = &mut request.input;
        let bucket = self.bucket(&input.bucket)?;
        let algorithm = input.checksum_algorithm.as_ref().map(|name| {
            let unknown = || s3_error!(InvalidRequest, "Checksum algorithm provided is unsupported.");
            Algorithm::from_name(name.as_str()).ok_or_else(unknown)
        });
        let algorithm = algorithm.transpose()?;
        let asked =
            input.checksum_type.as_ref().is_some_and(|kind| kind.as_str() == ChecksumType::FULL_OBJECT);
        let whole = asked || algorithm.is_some_and(Algorithm::is_whole_only);
        let key = input.key.clone();
        let head = UploadHead {
            id: String::new(),
            key: key.clone(),
            initiated: self.now(),
            attributes: attributes!(input),
            algorithm,
            whole,
        };
        let id = bucket.begin::<Failed>(head)?;
        let kind = if whole { ChecksumType::FULL_OBJECT } else { ChecksumType::COMPOSITE };
        Ok(CreateMultipartUploadOutput {
            bucket: Some(input.bucket.clone()),
            key: Some(key),
            upload_id: Some(id),
            checksum_algorithm: algorithm.map(|algorithm| ChecksumAlgorithm::from_static(algorithm.name())),
            checksum_type: algorithm.map(|_| ChecksumType::from_static(kind)),
            ..CreateMultipartUploadOutput::default()
        })
    }

    pub(super) fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<AbortMultipartUploadOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        upload(&bucket, &input.upload_id, &input.key)?;
        if !bucket.abort(&input.upload_id).map_err(Failed::from)? {
            return Err(no_such_upload());
        }
        Ok(AbortMultipartUploadOutput::default())
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<CompleteMultipartUploadOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let upload = upload(&bucket, &input.upload_id, &input.key)?;
        let wanted = input.multipart_upload.and_then(|parts| parts.parts).unwrap_or_default();
        let conditions = WriteConditions { if_match: input.if_match, if_none_match: input.if_none_match };
        let mut object = assembled(&upload, &wanted)?;
        if input.mpu_object_size.is_some_and(|size| u64::try_from(size) != Ok(object.record.size())) {
            return Err(s3_error!(
                InvalidRequest,
                "The provided 'x-amz-mp-object-size' header does not match."
            ));
        }
        if let Some(algorithm) = upload.head.algorithm {
            object.record.sum = if upload.head.whole {
                Some(sum_of(&object, algorithm).await.map_err(Failed::from)?)
            } else {
                Sum::of_sums(algorithm, wanted_sums(&upload, &wanted))
            };
        }
        let given = input.checksum_crc32.or(input.checksum_crc32c).or(input.checksum_crc64nvme);
        let given = given.or(input.checksum_sha1).or(input.checksum_sha256);
        if given.is_some() && given != object.record.sum.as_ref().map(|sum| sum.value.clone()) {
            return Err(s3_error!(BadDigest, "The checksum you specified did not match what we received."));
        }
        let check = |before: Option<&Record>| conditions.check(before).map_err(Failed::from);
        let object = bucket.complete(&input.upload_id, object, check)?.ok_or_else(no_such_upload)?;
        let mut output = CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(ETag::Strong(object.record.etag.clone())),
            ..CompleteMultipartUploadOutput::default()
        };
        set_sum!(output, object.record.sum.as_ref(), with its type);
        Ok(output)
    }
}

/// An object of the parts that are wanted. No byte is copied. It is dated from the beginning of its upload:
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html>.
fn assembled(upload: &Upload, wanted: &[CompletedPart]) -> S3Result<Object> {
    if wanted.is_empty() {
        return Err(s3_error!(MalformedXML, "You must specify at least one part"));
    }
    if !wanted.is_sorted_by(|one, next| one.part_number < next.part_number) {
        return Err(s3_error!(InvalidPartOrder, "The list of parts was not in ascending order."));
    }
    let (mut segments, mut files, mut md5) = (Vec::new(), Vec::new(), Md5::new());
    for (at, part) in wanted.iter().enumerate() {
        let found = part.part_number.and_then(|number| upload.parts.get(&number));
        let has_etag = |md5: &[u8]| part.e_tag.as_ref().is_none_or(|etag| etag.value() == hex(md5));
        let (found, file) = found.filter(|(found, _)| has_etag(&found.md5)).ok_or_else(invalid_part)?;
        if at + 1 < wanted.len() && found.segment.size < MIN_PART {
            return Err(s3_error!(
                EntityTooSmall,
                "Your proposed upload is smaller than the minimum allowed size"
            ));
        }
        md5.update(&found.md5);
        segments.push(found.segment.clone());
        files.push(std::sync::Arc::clone(file));
    }
    let record = Record {
        key: upload.head.key.clone(),
        etag: format!("{}-{}", hex(&md5.finalize()), wanted.len()),
        modified: upload.head.initiated,
        attributes: upload.head.attributes.clone(),
        sum: None,
        segments,
        multipart: true,
    };
    Ok(Object { record, files })
}

fn invalid_part() -> S3Error {
    let text = "One or more of the specified parts could not be found. The part may not have been uploaded, or the \
                specified entity tag may not match the part's entity tag.";
    s3_error!(InvalidPart, "{text}")
}

fn wanted_sums<'a>(upload: &'a Upload, wanted: &'a [CompletedPart]) -> impl Iterator<Item = Option<&'a Sum>> {
    wanted.iter().map(|part| upload.parts.get(&part.part_number?)?.0.sum.as_ref())
}

/// The checksum of all bytes, which are read for it.
async fn sum_of(object: &Object, algorithm: Algorithm) -> std::io::Result<Sum> {
    let mut hashes = Hashes::new(Some(algorithm));
    let mut pieces = Pieces::of(object, 0, object.record.size());
    while let Some(chunk) = pieces.next().await? {
        hashes.update(&chunk);
    }
    let (_, sum) = hashes.finish();
    sum.ok_or_else(|| std::io::Error::other("an algorithm gives no checksum"))
}
