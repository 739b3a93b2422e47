//! Objects: `PutObject`, `PostObject`, which s3s converts, `GetObject`, `HeadObject`, `DeleteObject` and `DeleteObjects`.

use std::sync::Arc;
use std::{io, ops};

use http::{HeaderName, HeaderValue, Method};
use s3s::dto::{
    ChecksumMode, DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput,
    DeletedObject, ETag, ETagCondition, Error, GetObjectInput, GetObjectOutput, HeadObjectInput,
    HeadObjectOutput, ObjectIdentifier, PutObjectInput, PutObjectOutput, Range, StreamingBlob, Timestamp,
};
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, s3_error};

use crate::s3::RequestContext;
use crate::s3::body::ExpectedChecksum;
use crate::s3::notifications::{Change, Changed, Configuration, DELETE, MALFORMED_XML, POST, PUT};
use crate::s3::ops::{Operations, move_fields, no_such_key, refused, tags, timestamp};
use crate::s3::store::bucket::Bucket;
use crate::s3::store::object::{Attributes, Object, StoredChecksum, hex, read};

/// The most keys of a request: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>.
const MAX_KEYS: usize = 1000;

impl Operations {
    pub(crate) async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<PutObjectOutput> {
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
        check_key(context, &input.key)?;
        let bucket = self.bucket(&input.bucket)?;
        let check = |before: Option<&Object>| {
            check_write(context, before, input.if_match.as_ref(), input.if_none_match.as_ref())
        };
        // Checked before the body is read, and again under the lock when the object is stored.
        check(bucket.object(&input.key).as_deref())?;
        let tags = tags::of_header(context, input.tagging.as_deref())?;
        let written = expected.store(&bucket, input.body).await?;
        let mut attributes = Attributes::default();
        move_fields!(input => attributes; attributes);
        attributes.remove_chunks();
        let object = Object {
            key: input.key,
            etag: hex(written.md5),
            modified: self.now(),
            attributes,
            tags,
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
    pub(crate) fn store(
        &self,
        context: &Arc<RequestContext>,
        bucket: &Bucket,
        object: Object,
        upload: Option<&str>,
        check: impl FnOnce(Option<&Object>) -> S3Result<()>,
        event: &'static str,
    ) -> S3Result<Arc<Object>> {
        let announce = |rules: &Configuration, object: &Object| {
            let object_now = Changed::Stored { size: object.size(), etag: &object.etag };
            let change = Change { name: event, object: object_now };
            self.outbox.send(context, (&bucket.name, self.region(bucket)), rules, &object.key, change);
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
            Some(_) => check_write(context, before, if_match, None),
            None => Ok(()),
        };
        let change = Change { name: DELETE, object: Changed::Deleted };
        let place = (bucket.name.as_str(), self.region(bucket));
        bucket.delete(key, check, |rules| self.outbox.send(context, place, rules, key, change))
    }

    pub(crate) fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<DeleteObjectOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        self.delete(&context, &bucket, &input.key, input.if_match.as_ref()).map_err(refused)?;
        Ok(DeleteObjectOutput::default())
    }

    pub(crate) fn delete_objects(
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
            let result = if key.len() > MAX_KEY {
                Err(key_too_long())
            } else {
                self.delete(&context, &bucket, &key, if_match.as_ref()).map_err(refused)
            };
            match result {
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

    pub(crate) fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<GetObjectOutput> {
        let context = RequestContext::of(&request.extensions);
        self.read_object(&context, request.input)
    }

    fn read_object(&self, context: &RequestContext, input: GetObjectInput) -> S3Result<GetObjectOutput> {
        let object = self.object(&input.bucket, &input.key)?;
        let mut conditions = Conditions::default();
        move_fields!(input => conditions; if_match if_none_match if_modified_since if_unmodified_since);
        match conditions.unmet(&object) {
            Some(unmet @ (Unmet::Match | Unmet::UnmodifiedSince)) => {
                return Err(failed(context, unmet.header()));
            }
            Some(Unmet::NoneMatch | Unmet::ModifiedSince) => return Err(S3ErrorCode::NotModified.into()),
            None => {}
        }
        let span = selected(context, &object, input.range, input.part_number)?;
        let is_whole = input.range.is_none() && input.part_number.is_none();
        let last = span.end.saturating_sub(1);
        let parts = input.part_number.filter(|_| object.multipart).map(|_| object.segments.len());
        // The checksum covers the whole object.
        let shows_checksum =
            is_whole && input.checksum_mode.is_some_and(|mode| mode.as_str() == ChecksumMode::ENABLED);
        let checksum = StoredChecksum::fields(object.checksum.as_ref().filter(|_| shows_checksum));
        let attributes = object.attributes.clone();
        let mut output = GetObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            body: Some(StreamingBlob::wrap(read(&object, span.clone()))),
            checksum_type: checksum.checksum_type,
            content_length: i64::try_from(span.end - span.start).ok(),
            content_range: (!is_whole).then(|| format!("bytes {}-{last}/{}", span.start, object.size())),
            e_tag: Some(ETag::Strong(object.etag.clone())),
            last_modified: Some(timestamp(object.modified)),
            parts_count: parts.and_then(|parts| i32::try_from(parts).ok()),
            tag_count: i32::try_from(object.tags.len()).ok().filter(|count| *count > 0),
            ..GetObjectOutput::default()
        };
        move_fields!(attributes => output; attributes);
        move_fields!(checksum => output; checksums);
        output.content_type.get_or_insert_with(|| "binary/octet-stream".to_owned());
        Ok(output)
    }

    /// Answers like `GetObject`, without the body.
    pub(crate) fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let context = RequestContext::of(&request.extensions);
        let (head, mut get) = (request.input, GetObjectInput::default());
        check_overrides(&head)?;
        move_fields!(head => get; bucket key range part_number checksum_mode if_match if_none_match if_modified_since
            if_unmodified_since);
        let (found, mut output) = (self.read_object(&context, get)?, HeadObjectOutput::default());
        move_fields!(found => output; accept_ranges checksum_type content_length content_range e_tag last_modified
            parts_count);
        move_fields!(found => output; attributes);
        move_fields!(found => output; checksums);
        // In responses to GetObject, s3s replaces them.
        output.cache_control = head.response_cache_control.or(output.cache_control);
        output.content_disposition = head.response_content_disposition.or(output.content_disposition);
        output.content_encoding = head.response_content_encoding.or(output.content_encoding);
        output.content_language = head.response_content_language.or(output.content_language);
        output.content_type = head.response_content_type.or(output.content_type);
        output.expires = head.response_expires;
        let mut response = S3Response::new(output);
        // The output of s3s has no field for it.
        if let Some(count) = found.tag_count {
            response.headers.insert(TAG_COUNT, HeaderValue::from(count));
        }
        Ok(response)
    }
}

/// The header with the number of tags.
const TAG_COUNT: HeaderName = HeaderName::from_static("x-amz-tagging-count");

/// Checks values that replace headers, which s3s does only for `GetObject`.
fn check_overrides(head: &HeadObjectInput) -> S3Result<()> {
    let overrides = [
        &head.response_cache_control,
        &head.response_content_disposition,
        &head.response_content_encoding,
        &head.response_content_language,
        &head.response_content_type,
    ];
    for value in overrides.into_iter().flatten() {
        if HeaderValue::from_str(value).is_err() {
            return Err(s3_error!(InvalidRequest, "invalid overridden header: {value:?}"));
        }
    }
    Ok(())
}

/// The longest key in bytes: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html>.
pub(crate) const MAX_KEY: usize = 1024;

/// Checks the length of a key.
pub(crate) fn check_key(context: &RequestContext, key: &str) -> S3Result<()> {
    if key.len() <= MAX_KEY {
        return Ok(());
    }
    context.add_error_element("Size", &key.len().to_string());
    context.add_error_element("MaxSizeAllowed", &MAX_KEY.to_string());
    Err(key_too_long())
}

pub(crate) fn key_too_long() -> S3Error {
    s3_error!(KeyTooLongError, "Your key is too long")
}

/// Checks the conditions of a write on the object that it replaces.
pub(crate) fn check_write(
    context: &RequestContext,
    before: Option<&Object>,
    if_match: Option<&ETagCondition>,
    if_none_match: Option<&ETagCondition>,
) -> S3Result<()> {
    if let Some(wanted) = if_match
        && !is_met(wanted, before.ok_or_else(no_such_key)?)
    {
        return Err(failed(context, Unmet::Match.header()));
    }
    let is_unwanted = if_none_match.zip(before).is_some_and(|(unwanted, before)| is_met(unwanted, before));
    if is_unwanted { Err(failed(context, Unmet::NoneMatch.header())) } else { Ok(()) }
}

pub(crate) fn is_met(condition: &ETagCondition, object: &Object) -> bool {
    match condition {
        ETagCondition::Any => true,
        ETagCondition::ETag(etag) => etag.weak_cmp(&ETag::Strong(object.etag.clone())),
    }
}

/// The error for a condition, given by its header, that does not hold.
pub(crate) fn failed(context: &RequestContext, condition: &str) -> S3Error {
    context.add_error_element("Condition", condition);
    s3_error!(PreconditionFailed, "At least one of the pre-conditions you specified did not hold")
}

/// The bytes of an object that a request selects: a range, a part, or all.
fn selected(
    context: &RequestContext,
    object: &Object,
    range: Option<Range>,
    part: Option<i32>,
) -> S3Result<ops::Range<u64>> {
    match (range, part) {
        (Some(_), Some(_)) => {
            let text = "Cannot specify both Range header and partNumber query parameter";
            Err(s3_error!(InvalidRequest, "{text}"))
        }
        (Some(range), None) => {
            let unsatisfiable = |_| {
                context.add_error_element("RangeRequested", &range.to_header_string());
                context.add_error_element("ActualObjectSize", &object.size().to_string());
                s3_error!(InvalidRange, "The requested range is not satisfiable")
            };
            range.check(object.size()).map_err(unsatisfiable)
        }
        // A copy of an object of several parts has one, in several files.
        (None, Some(1)) if !object.multipart => Ok(0..object.size()),
        (None, Some(wanted)) if object.multipart => {
            let mut start = 0;
            for (number, segment) in (1..).zip(&object.segments) {
                if number == wanted {
                    return Ok(start..start + segment.size);
                }
                start += segment.size;
            }
            Err(unsatisfiable_part())
        }
        (None, Some(_)) => Err(unsatisfiable_part()),
        (None, None) => Ok(0..object.size()),
    }
}

fn unsatisfiable_part() -> S3Error {
    s3_error!(InvalidRange, "The requested partnumber is not satisfiable")
}

/// The conditions of a read, or of the source of a copy.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the names of the headers, and of s3s")]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<ETagCondition>,
    pub(crate) if_none_match: Option<ETagCondition>,
    pub(crate) if_modified_since: Option<Timestamp>,
    pub(crate) if_unmodified_since: Option<Timestamp>,
}

/// A condition of a read that does not hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unmet {
    Match,
    NoneMatch,
    ModifiedSince,
    UnmodifiedSince,
}

impl Unmet {
    /// The header of the condition.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Match => "If-Match",
            Self::NoneMatch => "If-None-Match",
            Self::ModifiedSince => "If-Modified-Since",
            Self::UnmodifiedSince => "If-Unmodified-Since",
        }
    }
}

impl Conditions {
    /// The first condition that does not hold, in the order of RFC 9110, section 13.2.2.
    pub(crate) fn unmet(&self, object: &Object) -> Option<Unmet> {
        // HTTP dates have a resolution of one second.
        let modified = timestamp(object.modified / 1000 * 1000);
        let is_after = |time: &Timestamp| modified > *time;
        match (&self.if_match, &self.if_unmodified_since) {
            (Some(wanted), _) if !is_met(wanted, object) => return Some(Unmet::Match),
            (None, Some(time)) if is_after(time) => return Some(Unmet::UnmodifiedSince),
            _ => {}
        }
        match (&self.if_none_match, &self.if_modified_since) {
            (Some(unwanted), _) if is_met(unwanted, object) => Some(Unmet::NoneMatch),
            (None, Some(time)) if !is_after(time) => Some(Unmet::ModifiedSince),
            _ => None,
        }
    }
}
