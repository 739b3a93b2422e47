//! `DeleteObject` and `DeleteObjects`.

use std::io;
use std::sync::Arc;

use s3s::dto::{
    DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject,
    ETagCondition, Error, ObjectIdentifier,
};
use s3s::{S3Request, S3Result, s3_error};

use super::conditions::{failed, is_met};
use super::{Operations, refused};
use crate::s3::notifications::{Change, DELETE, MALFORMED_XML};
use crate::s3::request_context::RequestContext;
use crate::s3::store::{Bucket, Record};

/// The most keys of a request: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>.
const MAX_KEYS: usize = 1000;

impl Operations {
    /// Deletes an object; `false` if it does not exist. Like in S3, this is no error, and makes an event.
    pub(in crate::s3) fn delete(
        &self,
        context: &Arc<RequestContext>,
        bucket: &Bucket,
        key: &str,
        if_match: Option<&ETagCondition>,
    ) -> io::Result<bool> {
        let check = |before: Option<&Record>| match (before, if_match) {
            (Some(before), Some(wanted)) if !is_met(wanted, before) => Err(io::Error::other(failed())),
            _ => Ok(()),
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
