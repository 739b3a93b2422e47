//! Multipart uploads.

use std::collections::BTreeMap;
use std::io;

use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, ChecksumAlgorithm, ChecksumType,
    CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CreateMultipartUploadInput,
    CreateMultipartUploadOutput, ETag, UploadPartInput, UploadPartOutput,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::assemble::{assembled, checksum_of, wanted_checksums};
use super::attributes::attributes;
use super::body::ExpectedChecksum;
use super::conditions::WriteConditions;
use super::{Operations, refused, set_checksum, stored};
use crate::s3::notifications::{COMPLETE, Configuration};
use crate::s3::request_context::RequestContext;
use crate::s3::store::{Algorithm, Bucket, Record, StoredChecksum, Upload, hex};

/// Valid part numbers: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const NUMBERS: std::ops::RangeInclusive<i32> = 1..=10_000;

/// The upload with this id and key.
pub(super) fn upload(bucket: &Bucket, id: &str, key: &str) -> S3Result<Upload> {
    bucket.upload(id).filter(|upload| upload.key == key).ok_or_else(no_such_upload)
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
        let (id, key) = (self.store.new_id(), input.key.clone());
        let upload = Upload {
            id: id.clone(),
            key: key.clone(),
            initiated: self.now(),
            attributes: attributes!(input),
            algorithm,
            whole,
            parts: BTreeMap::new(),
        };
        bucket.begin(upload).map_err(refused)?;
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

    pub(super) async fn upload_part(
        &self,
        mut request: S3Request<UploadPartInput>,
    ) -> S3Result<UploadPartOutput> {
        let body = request.input.body.take();
        let input = &request.input;
        if !NUMBERS.contains(&input.part_number) {
            let text = "Part number must be an integer between 1 and 10000, inclusive";
            return Err(s3_error!(InvalidArgument, "{text}"));
        }
        let bucket = self.bucket(&input.bucket)?;
        let upload = upload(&bucket, &input.upload_id, &input.key)?;
        let part = ExpectedChecksum::of(&request, upload.algorithm)?.store(&bucket, body).await?;
        let mut output =
            UploadPartOutput { e_tag: Some(ETag::Strong(hex(part.md5))), ..UploadPartOutput::default() };
        set_checksum!(output, part.checksum.as_ref());
        if !bucket.add_part(&upload.id, input.part_number, part) {
            return Err(no_such_upload());
        }
        Ok(output)
    }

    pub(super) fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<AbortMultipartUploadOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        upload(&bucket, &input.upload_id, &input.key)?;
        if !bucket.abort(&input.upload_id) {
            return Err(no_such_upload());
        }
        Ok(AbortMultipartUploadOutput::default())
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<CompleteMultipartUploadOutput> {
        let context = RequestContext::of(&request.extensions);
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
        if let Some(algorithm) = upload.algorithm {
            object.record.checksum = if upload.whole {
                Some(checksum_of(&object, algorithm).await.map_err(refused)?)
            } else {
                StoredChecksum::of_checksums(algorithm, wanted_checksums(&upload, &wanted))
            };
        }
        let given = input.checksum_crc32.or(input.checksum_crc32c).or(input.checksum_crc64nvme);
        let given = given.or(input.checksum_sha1).or(input.checksum_sha256);
        if given.is_some() && given != object.record.checksum.as_ref().map(|checksum| checksum.value.clone())
        {
            return Err(s3_error!(BadDigest, "The checksum you specified did not match what we received."));
        }
        let check = |before: Option<&Record>| conditions.check(before).map_err(io::Error::other);
        let announce = |rules: &Configuration, record: &Record| {
            self.outbox.send(&context, &bucket.name, rules, &record.key, stored(COMPLETE, record));
        };
        let completed = bucket.complete(&input.upload_id, object, check, announce).map_err(refused)?;
        let object = completed.ok_or_else(no_such_upload)?;
        let mut output = CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(ETag::Strong(object.record.etag.clone())),
            ..CompleteMultipartUploadOutput::default()
        };
        set_checksum!(output, object.record.checksum.as_ref(), with type);
        Ok(output)
    }
}
