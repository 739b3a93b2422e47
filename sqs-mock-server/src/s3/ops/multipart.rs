//! Multipart uploads.

use std::collections::BTreeMap;

use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, ChecksumAlgorithm, ChecksumType,
    CreateMultipartUploadInput, CreateMultipartUploadOutput, ETag, UploadPartInput, UploadPartOutput,
};
use s3s::{S3Request, S3Result, s3_error};

use super::body::ExpectedChecksum;
use super::{Operations, move_fields, refused};
use crate::s3::store::{Algorithm, Attributes, StoredChecksum, Upload, hex};

/// Valid part numbers: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const NUMBERS: std::ops::RangeInclusive<i32> = 1..=10_000;

impl Operations {
    pub(super) fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<CreateMultipartUploadOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let algorithm = input.checksum_algorithm.as_ref().map(|name| {
            let unknown = || s3_error!(InvalidRequest, "Checksum algorithm provided is unsupported.");
            Algorithm::from_name(name.as_str()).ok_or_else(unknown)
        });
        let algorithm = algorithm.transpose()?;
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
            algorithm,
            whole,
            parts: BTreeMap::new(),
        };
        bucket.begin(upload).map_err(refused)?;
        let kind = if whole { ChecksumType::FULL_OBJECT } else { ChecksumType::COMPOSITE };
        Ok(CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
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
        let algorithm = bucket.upload(&input.upload_id, &input.key, |upload| upload.algorithm)?;
        let part = ExpectedChecksum::of(&request, algorithm)?.store(&bucket, body).await?;
        let mut output =
            UploadPartOutput { e_tag: Some(ETag::Strong(hex(part.md5))), ..UploadPartOutput::default() };
        let checksum = StoredChecksum::fields(part.checksum.as_ref());
        move_fields!(checksum => output; checksums);
        bucket.add_part(&input.upload_id, input.part_number, part)?;
        Ok(output)
    }

    pub(super) fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<AbortMultipartUploadOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        bucket.abort(&input.upload_id, &input.key)?;
        Ok(AbortMultipartUploadOutput::default())
    }
}
