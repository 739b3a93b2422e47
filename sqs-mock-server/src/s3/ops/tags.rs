//! Tags of objects.

use s3s::dto::{
    DeleteObjectTaggingInput, DeleteObjectTaggingOutput, GetObjectTaggingInput, GetObjectTaggingOutput,
    PutObjectTaggingInput, PutObjectTaggingOutput, Tag,
};
use s3s::{S3Request, S3Result};

use super::attributes::checked_tags;
use super::{Failed, Operations};
use crate::s3::store::{Object, Record};

#[expect(clippy::needless_pass_by_value, reason = "operations look alike")]
impl Operations {
    pub(super) fn get_object_tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<GetObjectTaggingOutput> {
        let object = self.object(&request.input.bucket, &request.input.key)?;
        let tag =
            |(key, value): &(String, String)| Tag { key: Some(key.clone()), value: Some(value.clone()) };
        let tag_set = object.record.attributes.tags.iter().map(tag).collect();
        Ok(GetObjectTaggingOutput { tag_set, ..GetObjectTaggingOutput::default() })
    }

    pub(super) fn put_object_tagging(
        &self,
        request: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<PutObjectTaggingOutput> {
        let input = request.input;
        let pair = |tag: Tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default());
        let tags = checked_tags(input.tagging.tag_set.into_iter().map(pair).collect())?;
        self.set_tags(&input.bucket, &input.key, tags)?;
        Ok(PutObjectTaggingOutput::default())
    }

    pub(super) fn delete_object_tagging(
        &self,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> S3Result<DeleteObjectTaggingOutput> {
        self.set_tags(&request.input.bucket, &request.input.key, Vec::new())?;
        Ok(DeleteObjectTaggingOutput::default())
    }

    /// The object is another one then with the same bytes, unless somebody has put one there meanwhile.
    fn set_tags(&self, bucket: &str, key: &str, tags: Vec<(String, String)>) -> S3Result<()> {
        let object = self.object(bucket, key)?;
        let before = &object.record;
        let mut record = before.clone();
        record.attributes.tags = tags;
        let is_the_same = |now: Option<&Record>| {
            let is_the_same =
                now.is_some_and(|now| now.etag == before.etag && now.modified == before.modified);
            if is_the_same { Ok(()) } else { Err(Failed::from(super::no_such_key())) }
        };
        self.bucket(bucket)?.put(Object { record, files: object.files.clone() }, is_the_same)?;
        Ok(())
    }
}
