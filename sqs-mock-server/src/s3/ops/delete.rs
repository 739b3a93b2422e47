//! `DeleteObject` and `DeleteObjects`.

use std::io;

use s3s::dto::{
    DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject,
    ETagCondition, Error, ObjectIdentifier,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::conditions::{failed, is_met};
use super::{Failed, Operations};
use crate::s3::notifications::{Change, MALFORMED_XML};
use crate::s3::outbox::Slots;
use crate::s3::request_context::RequestContext;
use crate::s3::store::{Bucket, Record};

/// The most keys of a request: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>.
const MAX_KEYS: usize = 1000;

/// Deletes an object. Like in S3, it is no error if the object does not exist.
fn delete(
    bucket: &Bucket,
    key: &str,
    if_match: Option<&ETagCondition>,
    events: &mut Slots<'_>,
) -> S3Result<()> {
    let check = |before: Option<&Record>| match (before, if_match) {
        (Some(before), Some(wanted)) if !is_met(wanted, before) => Err(Failed::from(failed())),
        _ => Ok(()),
    };
    bucket.delete(key, check, || events.send(key, Change::Delete)).map(drop).map_err(S3Error::from)
}

impl Operations {
    pub(super) async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<DeleteObjectOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let mut events = self.outbox.reserve(&bucket, context, 1).await.map_err(Failed::from)?;
        delete(&bucket, &input.key, input.if_match.as_ref(), &mut events)?;
        Ok(DeleteObjectOutput::default())
    }

    /// Deletes an object without a request; `false` if it does not exist.
    pub(in crate::s3) fn delete_directly(&self, bucket: &str, key: &str) -> io::Result<bool> {
        let Some(bucket) = self.store.bucket(bucket) else { return Ok(false) };
        let mut events = self.outbox.try_reserve(&bucket)?;
        bucket.delete(key, |_| Ok(()), || events.send(key, Change::Delete))
    }

    pub(super) async fn delete_objects(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<DeleteObjectsOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let count = input.delete.objects.len();
        if !(1..=MAX_KEYS).contains(&count) {
            return Err(s3_error!(MalformedXML, "{MALFORMED_XML}"));
        }
        let mut events = self.outbox.reserve(&bucket, context, count).await.map_err(Failed::from)?;
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for ObjectIdentifier { key, e_tag, .. } in input.delete.objects {
            match delete(&bucket, &key, e_tag.map(ETagCondition::ETag).as_ref(), &mut events) {
                Ok(()) => deleted.push(DeletedObject { key: Some(key), ..DeletedObject::default() }),
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
