//! `PutObject`, `PostObject`, which s3s converts, `DeleteObject` and `DeleteObjects`.

use std::io;
use std::sync::Arc;

use http::Method;
use s3s::dto::{
    DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject, ETag,
    ETagCondition, Error, ObjectIdentifier, PutObjectInput, PutObjectOutput,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::body::ExpectedChecksum;
use super::{Operations, move_fields, no_such_key, refused};
use crate::s3::RequestContext;
use crate::s3::notifications::{Change, Configuration, DELETE, MALFORMED_XML, POST, PUT};
use crate::s3::store::{Attributes, Bucket, Object, StoredChecksum, hex};

/// The most keys of a request: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>.
const MAX_KEYS: usize = 1000;

impl Operations {
    pub(super) async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<PutObjectOutput> {
        let expected = ExpectedChecksum::of(&request, None)?;
        let context = RequestContext::of(&request.extensions);
        let event = if request.method == Method::POST { POST } else { PUT };
        self.put(&context, request.input, expected, event).await
    }

    /// Stores an object like `PutObject`.
    pub(crate) async fn put(
        &self,
        context: &Arc<RequestContext>,
        input: PutObjectInput,
        expected: ExpectedChecksum,
        event: &'static str,
    ) -> S3Result<PutObjectOutput> {
        let bucket = self.bucket(&input.bucket)?;
        let check = |before: Option<&Object>| {
            check_write(before, input.if_match.as_ref(), input.if_none_match.as_ref())
        };
        // Checked before the body is read, and again under the lock when the object is stored.
        check(bucket.object(&input.key).as_deref())?;
        let written = expected.store(&bucket, input.body).await?;
        let mut attributes = Attributes::default();
        move_fields!(input => attributes; attributes);
        attributes.remove_chunks();
        let object = Object {
            key: input.key,
            etag: hex(written.md5),
            modified: self.now(),
            attributes,
            checksum: written.checksum,
            segments: vec![written.segment],
            multipart: false,
        };
        let object = self.store(context, &bucket, object, None, check, event)?;
        let checksum = StoredChecksum::fields(object.checksum.as_ref());
        let mut output = PutObjectOutput {
            e_tag: Some(ETag::Strong(object.etag.clone())),
            server_side_encryption: object.attributes.server_side_encryption.clone(),
            ssekms_key_id: object.attributes.ssekms_key_id.clone(),
            checksum_type: checksum.checksum_type,
            ..PutObjectOutput::default()
        };
        move_fields!(checksum => output; checksums);
        Ok(output)
    }

    /// Stores an object and sends its event, unless `check` rejects the object that it replaces. Ends the upload that it
    /// comes from.
    pub(super) fn store(
        &self,
        context: &Arc<RequestContext>,
        bucket: &Bucket,
        object: Object,
        upload: Option<&str>,
        check: impl FnOnce(Option<&Object>) -> S3Result<()>,
        event: &'static str,
    ) -> S3Result<Arc<Object>> {
        let announce = |rules: &Configuration, object: &Object| {
            let change = Change { name: event, object: Some((object.size(), &object.etag)) };
            self.outbox.send(context, &bucket.name, rules, &object.key, change);
        };
        bucket.put(object, upload, check, announce).map_err(refused)
    }

    /// Deletes an object; `false` if it does not exist. Like in S3, this is no error, and makes an event.
    pub(crate) fn delete(
        &self,
        context: &Arc<RequestContext>,
        bucket: &Bucket,
        key: &str,
        if_match: Option<&ETagCondition>,
    ) -> io::Result<bool> {
        let check = |before: Option<&Object>| match before {
            Some(_) => check_write(before, if_match, None),
            None => Ok(()),
        };
        let change = Change { name: DELETE, object: None };
        bucket.delete(key, check, |rules| self.outbox.send(context, &bucket.name, rules, key, change))
    }

    pub(super) fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<DeleteObjectOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        self.delete(&context, &bucket, &input.key, input.if_match.as_ref()).map_err(refused)?;
        Ok(DeleteObjectOutput::default())
    }

    pub(super) fn delete_objects(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<DeleteObjectsOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        if !(1..=MAX_KEYS).contains(&input.delete.objects.len()) {
            return Err(s3_error!(MalformedXML, "{MALFORMED_XML}"));
        }
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for ObjectIdentifier { key, e_tag, .. } in input.delete.objects {
            let if_match = e_tag.map(ETagCondition::ETag);
            match self.delete(&context, &bucket, &key, if_match.as_ref()).map_err(refused) {
                Ok(_) => deleted.push(DeletedObject { key: Some(key), ..DeletedObject::default() }),
                Err(error) => errors.push(Error {
                    code: Some(error.code().as_str().to_owned()),
                    message: error.message().map(str::to_owned),
                    key: Some(key),
                    ..Error::default()
                }),
            }
        }
        let deleted = (!input.delete.quiet.unwrap_or(false)).then_some(deleted);
        Ok(DeleteObjectsOutput { deleted, errors: Some(errors), ..DeleteObjectsOutput::default() })
    }
}

/// Checks the conditions of a write on the object that it replaces.
pub(super) fn check_write(
    before: Option<&Object>,
    if_match: Option<&ETagCondition>,
    if_none_match: Option<&ETagCondition>,
) -> S3Result<()> {
    if let Some(wanted) = if_match
        && !is_met(wanted, before.ok_or_else(no_such_key)?)
    {
        return Err(failed());
    }
    let is_unwanted = if_none_match.zip(before).is_some_and(|(unwanted, before)| is_met(unwanted, before));
    if is_unwanted { Err(failed()) } else { Ok(()) }
}

pub(super) fn is_met(condition: &ETagCondition, object: &Object) -> bool {
    match condition {
        ETagCondition::Any => true,
        ETagCondition::ETag(etag) => etag.weak_cmp(&ETag::Strong(object.etag.clone())),
    }
}

/// The error for a condition that does not hold.
pub(super) fn failed() -> S3Error {
    s3_error!(PreconditionFailed, "At least one of the pre-conditions you specified did not hold")
}
