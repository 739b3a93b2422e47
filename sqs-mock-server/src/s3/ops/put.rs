//! `PutObject`, and `PostObject`, which s3s converts.

use std::io;

use http::Method;
use s3s::dto::{ETag, PutObjectInput, PutObjectOutput};
use s3s::{S3Request, S3Result, s3_error};

use super::attributes::attributes;
use super::body::ExpectedChecksum;
use super::conditions::WriteConditions;
use super::{Operations, refused, set_checksum, stored};
use crate::s3::notifications::{Configuration, POST, PUT};
use crate::s3::request_context::RequestContext;
use crate::s3::store::{Object, Record, hex};

/// The largest body of a request in bytes: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const MAX_BODY: u64 = 5 << 30;

impl Operations {
    pub(super) async fn put_object(
        &self,
        mut request: S3Request<PutObjectInput>,
    ) -> S3Result<PutObjectOutput> {
        let expected = ExpectedChecksum::of(&request, None)?;
        let (context, is_form) = (RequestContext::of(&request.extensions), request.method == Method::POST);
        let input = &mut request.input;
        let sent = || input.content_length.and_then(|length| u64::try_from(length).ok());
        if expected.decoded_length.or_else(sent).is_some_and(|length| length > MAX_BODY) {
            return Err(s3_error!(EntityTooLarge, "Your proposed upload exceeds the maximum allowed size"));
        }
        let bucket = self.bucket(&input.bucket)?;
        let conditions =
            WriteConditions { if_match: input.if_match.take(), if_none_match: input.if_none_match.take() };
        let attributes = attributes!(input);
        // Checked before the body is read, and again under the lock when the object is stored.
        conditions.check(bucket.object(&input.key).as_ref().map(|object| &object.record))?;
        let written = expected.store(&bucket, input.body.take()).await?;
        let record = Record {
            key: input.key.clone(),
            etag: hex(written.md5),
            modified: self.now(),
            attributes,
            checksum: written.checksum,
            segments: vec![written.segment],
            multipart: false,
        };
        let object = Object { record, files: vec![written.file] };
        let check = |before: Option<&Record>| conditions.check(before).map_err(io::Error::other);
        let event = if is_form { POST } else { PUT };
        let announce = |rules: &Configuration, record: &Record| {
            self.outbox.send(&context, &bucket.name, rules, &record.key, stored(event, record));
        };
        let record = bucket.put(object, check, announce).map_err(refused)?.record.clone();
        let mut output = PutObjectOutput {
            e_tag: Some(ETag::Strong(record.etag)),
            server_side_encryption: record.attributes.server_side_encryption.map(Into::into),
            ssekms_key_id: record.attributes.kms_key_id,
            ..PutObjectOutput::default()
        };
        set_checksum!(output, record.checksum.as_ref(), with type);
        Ok(output)
    }
}
