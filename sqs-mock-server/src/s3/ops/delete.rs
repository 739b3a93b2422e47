//! `DeleteObject` and `DeleteObjects`.

use s3s::dto::{
    DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject,
    ETagCondition, Error, ObjectIdentifier,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::conditions::{failed, is_met};
use super::{Failed, Operations};
use crate::s3::store::{Bucket, Record};

/// The most keys of a request: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>.
const MAX_KEYS: usize = 1000;

/// Deletes an object. Like in S3, it is no error if the object does not exist.
fn delete(bucket: &Bucket, key: &str, if_match: Option<&ETagCondition>) -> S3Result<()> {
    let check = |before: Option<&Record>| match (before, if_match) {
        (Some(before), Some(wanted)) if !is_met(wanted, before) => Err(Failed::from(failed())),
        _ => Ok(()),
    };
    bucket.delete(key, check).map(drop).map_err(S3Error::from)
}

impl Operations {
    pub(super) fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<DeleteObjectOutput> {
        let input = request.input;
        delete(&*self.bucket(&input.bucket)?, &input.key, input.if_match.as_ref())?;
        Ok(DeleteObjectOutput::default())
    }

    pub(super) fn delete_objects(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<DeleteObjectsOutput> {
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        if input.delete.objects.is_empty() || input.delete.objects.len() > MAX_KEYS {
            let text =
                "The XML you provided was not well-formed or did not validate against our published schema";
            return Err(s3_error!(MalformedXML, "{text}"));
        }
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for ObjectIdentifier { key, e_tag, .. } in input.delete.objects {
            match delete(&bucket, &key, e_tag.map(ETagCondition::ETag).as_ref()) {
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
