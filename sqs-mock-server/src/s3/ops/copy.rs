//! `CopyObject`.

use s3s::dto::{
    CopyObjectInput, CopyObjectOutput, CopyObjectResult, CopySource, ETag, MetadataDirective,
    TaggingDirective,
};
use s3s::{S3Request, S3Result, s3_error};

use super::attributes::attributes;
use super::conditions::{self, ReadConditions};
use super::{Failed, Operations, set_sum, timestamp};
use crate::s3::store::{Attributes, Bucket, Object};

impl Operations {
    pub(super) fn copy_object(&self, mut request: S3Request<CopyObjectInput>) -> S3Result<CopyObjectOutput> {
        let input = &mut request.input;
        let CopySource::Bucket { bucket: from, key, .. } = &input.copy_source else {
            return Err(s3_error!(NotImplemented, "There are no access points here"));
        };
        let source = self.object(from, key)?;
        let target = self.bucket(&input.bucket)?;
        let is_itself = **from == *input.bucket && **key == *input.key;
        let conditions = ReadConditions {
            matches: input.copy_source_if_match.take(),
            none_match: input.copy_source_if_none_match.take(),
            modified_since: input.copy_source_if_modified_since.take(),
            unmodified_since: input.copy_source_if_unmodified_since.take(),
        };
        conditions.check(&source.record).map_err(|_| conditions::failed())?;
        let replaced =
            input.metadata_directive.as_ref().is_some_and(|d| d.as_str() == MetadataDirective::REPLACE);
        if is_itself && !replaced {
            let text = "This copy request is illegal because it is trying to copy an object to itself without \
                        changing the object's metadata, storage class, website redirect location or encryption \
                        attributes.";
            return Err(s3_error!(InvalidRequest, "{text}"));
        }
        let retagged =
            input.tagging_directive.as_ref().is_some_and(|d| d.as_str() == TaggingDirective::REPLACE);
        let given: Attributes = attributes!(input);
        let tags = if retagged { given.tags.clone() } else { source.record.attributes.tags.clone() };
        let attributes = if replaced { given } else { source.record.attributes.clone() };
        let object = copied(&source, &target, is_itself)?;
        let record = crate::s3::store::Record {
            key: input.key.clone(),
            modified: self.now(),
            attributes: Attributes { tags, ..attributes },
            ..object.record
        };
        let put = target.put(Object { record, files: object.files }, |_| Ok::<_, Failed>(()))?;
        let mut output = CopyObjectResult {
            e_tag: Some(ETag::Strong(put.record.etag.clone())),
            last_modified: Some(timestamp(put.record.modified)),
            ..CopyObjectResult::default()
        };
        set_sum!(output, put.record.sum.as_ref(), with its type);
        Ok(CopyObjectOutput { copy_object_result: Some(output), ..CopyObjectOutput::default() })
    }
}

/// The same object with files of its own, unless it stays where it is.
fn copied(source: &Object, target: &Bucket, is_itself: bool) -> Result<Object, Failed> {
    let mut copy = Object { record: source.record.clone(), files: source.files.clone() };
    if !is_itself {
        for (file, segment) in copy.files.iter_mut().zip(&mut copy.record.segments) {
            (*file, *segment) = target.link(file, segment.size)?;
        }
    }
    Ok(copy)
}
