//! Copies on the server: `CopyObject` and `UploadPartCopy`.
//!
//! ```text
//! x-amz-copy-source -> an object, if its conditions hold -> CopyObject:     its data files linked or copied, hashes known or read
//!                                                       `-> UploadPartCopy: a range of its bytes, streamed into a new data file
//! ```

use std::sync::Arc;
use std::{io, ops};

use futures_util::TryStreamExt as _;
use http::HeaderMap;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use s3s::dto::{
    CopyObjectInput, CopyObjectOutput, CopyObjectResult, CopyPartResult, CopySource, ETag, ETagCondition,
    MetadataDirective, ParseCopySourceError, Range, TaggingDirective, UploadPartCopyInput,
    UploadPartCopyOutput,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use crate::s3::RequestContext;
use crate::s3::notifications::COPY;
use crate::s3::ops::multipart::{algorithm_of, check_part_number};
use crate::s3::ops::objects::{Conditions, check_write, failed, key_too_long};
use crate::s3::ops::{Operations, move_fields, refused, tags, timestamp};
use crate::s3::store::bucket::Bucket;
use crate::s3::store::object::{Hashes, Object, Part, Segment, StoredChecksum, Written, hex, read};

/// The largest source of a copy in bytes: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html>.
const MAX_SOURCE: u64 = 5 << 30;

const SOURCE: &str = "x-amz-copy-source";

const RANGE: &str = "x-amz-copy-source-range";

impl Operations {
    pub(crate) async fn copy_object(
        &self,
        request: S3Request<CopyObjectInput>,
    ) -> S3Result<CopyObjectOutput> {
        let context = RequestContext::of(&request.extensions);
        let (if_match, if_none_match) = conditions_of_write(&request.headers)?;
        let input = request.input;
        let replaces_metadata = {
            let directive = input.metadata_directive.as_ref().map(MetadataDirective::as_str);
            replaces(&context, "metadata", directive)?
        };
        let replaces_tags = {
            let directive = input.tagging_directive.as_ref().map(TaggingDirective::as_str);
            replaces(&context, "tagging", directive)?
        };
        let algorithm = algorithm_of(input.checksum_algorithm.as_ref())?;
        let bucket = self.bucket(&input.bucket)?;
        let conditions = Conditions {
            if_match: input.copy_source_if_match,
            if_none_match: input.copy_source_if_none_match,
            if_modified_since: input.copy_source_if_modified_since,
            if_unmodified_since: input.copy_source_if_unmodified_since,
        };
        let (place, source) = self.source(&context, &input.copy_source, &conditions)?;
        let is_change = replaces_metadata
            || input.storage_class.is_some()
            || input.server_side_encryption.is_some()
            || input.website_redirect_location.is_some();
        if place == (&*input.bucket, &*input.key) && !is_change {
            let text = "This copy request is illegal because it is trying to copy an object to itself without changing the \
                        object's metadata, storage class, website redirect location or encryption attributes.";
            return Err(s3_error!(InvalidRequest, "{text}"));
        }
        check_size(source.size())?;
        let check = |before: Option<&Object>| {
            check_write(&context, before, if_match.as_ref(), if_none_match.as_ref())
        };
        // Checked before the bytes are copied, and again under the lock when the object is stored.
        check(bucket.object(&input.key).as_deref())?;
        let tags = if replaces_tags {
            tags::of_header(&context, input.tagging.as_deref())?
        } else {
            source.tags.clone()
        };
        let mut attributes = source.attributes.clone();
        if replaces_metadata {
            move_fields!(input => attributes; metadata cache_control content_disposition content_encoding
                content_language content_type);
            attributes.remove_chunks();
        }
        // Never those of the source.
        move_fields!(input => attributes; storage_class server_side_encryption ssekms_key_id);
        let copied = copy_data(&source, &bucket).await.map_err(refused)?;
        let algorithm = algorithm.or(source.checksum.as_ref().map(|checksum| checksum.algorithm));
        let has_hashes = source.checksum.as_ref().map(|checksum| checksum.algorithm) == algorithm;
        let (etag, checksum) = if source.multipart || !has_hashes {
            // The `ETag` and the checksum of a copy are those of an object that is not made of parts.
            let (md5, checksum) = Hashes::of(&source, algorithm).await.map_err(refused)?;
            (hex(md5), checksum)
        } else {
            (source.etag.clone(), source.checksum.clone())
        };
        let object = Object {
            key: input.key,
            etag,
            modified: self.now(),
            attributes,
            tags,
            checksum,
            segments: copied,
            multipart: false,
        };
        let object = self.store(&context, &bucket, object, None, check, COPY)?;
        let checksum = StoredChecksum::fields(object.checksum.as_ref());
        let mut result = CopyObjectResult {
            e_tag: Some(ETag::Strong(object.etag.clone())),
            last_modified: Some(timestamp(object.modified)),
            checksum_type: checksum.checksum_type,
            ..CopyObjectResult::default()
        };
        move_fields!(checksum => result; checksums);
        Ok(CopyObjectOutput {
            copy_object_result: Some(result),
            server_side_encryption: object.attributes.server_side_encryption.clone(),
            ssekms_key_id: object.attributes.ssekms_key_id.clone(),
            ..CopyObjectOutput::default()
        })
    }

    pub(crate) async fn upload_part_copy(
        &self,
        request: S3Request<UploadPartCopyInput>,
    ) -> S3Result<UploadPartCopyOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        check_part_number(input.part_number)?;
        let bucket = self.bucket(&input.bucket)?;
        let algorithm = bucket.upload(&input.upload_id, &input.key, |upload| upload.algorithm)?;
        let conditions = Conditions {
            if_match: input.copy_source_if_match,
            if_none_match: input.copy_source_if_none_match,
            if_modified_since: input.copy_source_if_modified_since,
            if_unmodified_since: input.copy_source_if_unmodified_since,
        };
        let (_, source) = self.source(&context, &input.copy_source, &conditions)?;
        let span = match input.copy_source_range.as_deref() {
            Some(range) => selected(&context, range, source.size())?,
            None => 0..source.size(),
        };
        check_size(span.end - span.start)?;
        let written = copy_range(&source, span, Hashes::new(algorithm), &bucket).await.map_err(refused)?;
        let part = Part { written, modified: self.now() };
        let checksum = StoredChecksum::fields(part.written.checksum.as_ref());
        let mut result = CopyPartResult {
            e_tag: Some(ETag::Strong(hex(part.written.md5))),
            last_modified: Some(timestamp(part.modified)),
            ..CopyPartResult::default()
        };
        move_fields!(checksum => result; checksums);
        bucket.add_part(&input.upload_id, input.part_number, part)?;
        Ok(UploadPartCopyOutput { copy_part_result: Some(result), ..UploadPartCopyOutput::default() })
    }

    /// The source of a copy with its bucket and key, if the conditions hold.
    fn source<'s>(
        &self,
        context: &RequestContext,
        source: &'s CopySource,
        conditions: &Conditions,
    ) -> S3Result<((&'s str, &'s str), Arc<Object>)> {
        let CopySource::Bucket { bucket, key, version_id } = source else {
            let text = "This server has no access points; a copy source has the form sourcebucket/sourcekey.";
            return Err(s3_error!(NotImplemented, "{text}"));
        };
        // Objects without versions have this id.
        if let Some(version) = version_id.as_deref().filter(|version| *version != "null") {
            context.add_error_element("ArgumentName", "versionId");
            context.add_error_element("ArgumentValue", version);
            return Err(s3_error!(InvalidArgument, "Invalid version id specified"));
        }
        let object = self.object(bucket, key)?;
        if let Some(condition) = conditions.unmet(&object) {
            return Err(failed(context, &format!("{SOURCE}-{}", condition.header())));
        }
        Ok(((&**bucket, &**key), object))
    }
}

/// Checks the form of the header `x-amz-copy-source`, whose errors s3s reports in words of its own.
pub(crate) fn check_source(context: &RequestContext, headers: &HeaderMap) -> S3Result<()> {
    let Some(header) = headers.get(SOURCE) else { return Ok(()) };
    let parsed =
        header.to_str().map_err(|_| ParseCopySourceError::InvalidEncoding).and_then(CopySource::parse);
    let text = match parsed {
        Ok(CopySource::Bucket { key, .. }) if key.is_empty() => INCOMPLETE_SOURCE,
        Ok(_) => return Ok(()),
        Err(ParseCopySourceError::InvalidBucketName) => "Invalid copy source bucket name",
        Err(ParseCopySourceError::InvalidEncoding) => "Invalid copy source encoding.",
        Err(ParseCopySourceError::InvalidKey) => return Err(key_too_long()),
        Err(_) => INCOMPLETE_SOURCE,
    };
    context.add_error_element("ArgumentName", SOURCE);
    context.add_error_element("ArgumentValue", &String::from_utf8_lossy(header.as_bytes()));
    Err(s3_error!(InvalidArgument, "{text}"))
}

const INCOMPLETE_SOURCE: &str = "Copy Source must mention the source bucket and key: sourcebucket/sourcekey";

/// The conditions on the object that a copy replaces, which the input of s3s lacks.
fn conditions_of_write(headers: &HeaderMap) -> S3Result<(Option<ETagCondition>, Option<ETagCondition>)> {
    let condition = |name| {
        let parsed = headers.get(&name).map(|value| ETagCondition::parse_http_header(value.as_bytes()));
        parsed.transpose().map_err(|_| s3_error!(InvalidArgument, "{name} is neither * nor an ETag"))
    };
    Ok((condition(IF_MATCH)?, condition(IF_NONE_MATCH)?))
}

/// Whether a directive, `x-amz-metadata-directive` or `x-amz-tagging-directive`, replaces what the source has.
fn replaces(context: &RequestContext, subject: &str, directive: Option<&str>) -> S3Result<bool> {
    match directive {
        None | Some("COPY") => Ok(false),
        Some("REPLACE") => Ok(true),
        Some(other) => {
            context.add_error_element("ArgumentName", &format!("x-amz-{subject}-directive"));
            context.add_error_element("ArgumentValue", other);
            Err(s3_error!(InvalidArgument, "Unknown {subject} directive."))
        }
    }
}

fn check_size(bytes: u64) -> S3Result<()> {
    if bytes <= MAX_SOURCE {
        return Ok(());
    }
    Err(s3_error!(
        InvalidRequest,
        "The specified copy source is larger than the maximum allowable size for a copy source: {MAX_SOURCE}"
    ))
}

/// The bytes that the header `x-amz-copy-source-range` selects.
fn selected(context: &RequestContext, range: &str, size: u64) -> S3Result<ops::Range<u64>> {
    let invalid = |text: String| -> S3Error {
        context.add_error_element("ArgumentName", RANGE);
        context.add_error_element("ArgumentValue", range);
        s3_error!(InvalidArgument, "{text}")
    };
    match Range::parse(range) {
        Ok(Range::Int { first, last: Some(last) }) if last < size => Ok(first..last + 1),
        Ok(Range::Int { last: Some(_), .. }) => {
            Err(invalid(format!("Range specified is not valid for source object of size: {size}")))
        }
        _ => Err(invalid(format!(
            "The {RANGE} value must be of the form bytes=first-last where first and last are the zero-based offsets of \
             the first and last bytes to copy"
        ))),
    }
}

/// Copies the data files of an object for a bucket, on a thread that may block.
///
/// # Cancel safety
/// If the future is dropped, the copies are removed.
async fn copy_data(source: &Arc<Object>, bucket: &Bucket) -> io::Result<Vec<Segment>> {
    let (source, directory) = (Arc::clone(source), bucket.data_directory());
    let copy = move || source.segments.iter().map(|segment| segment.copy_to(&directory)).collect();
    tokio::task::spawn_blocking(copy).await.map_err(io::Error::other)?
}

/// Copies a range of an object into a data file of a bucket.
///
/// # Cancel safety
/// If the future is dropped, the file is removed.
async fn copy_range(
    source: &Object,
    span: ops::Range<u64>,
    mut hashes: Hashes,
    bucket: &Bucket,
) -> io::Result<Written> {
    let mut writer = bucket.data_writer()?;
    let mut chunks = std::pin::pin!(read(source, span));
    while let Some(chunk) = chunks.try_next().await? {
        hashes.update(&chunk);
        writer.write(&chunk).await?;
    }
    writer.finish(hashes).await
}
