//! `GetObject` and `HeadObject`.

use std::ops;

use s3s::dto::{
    ChecksumMode, ETag, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, Range,
    StreamingBlob, Timestamp,
};
use s3s::{S3ErrorCode, S3Request, S3Result, s3_error};

use super::objects::{failed, is_met};
use super::{Operations, move_fields, timestamp};
use crate::s3::store::{Object, StoredChecksum, read};

/// The bytes of an object that a request selects: a range, a part, or all.
fn selected(object: &Object, range: Option<Range>, part: Option<i32>) -> S3Result<ops::Range<u64>> {
    match (range, part) {
        (Some(_), Some(_)) => {
            let text = "Cannot specify both Range header and partNumber query parameter";
            Err(s3_error!(InvalidRequest, "{text}"))
        }
        (Some(range), None) => {
            let unsatisfiable = |_| s3_error!(InvalidRange, "The requested range is not satisfiable");
            range.check(object.size()).map_err(unsatisfiable)
        }
        (None, Some(wanted)) => {
            let mut start = 0;
            for (number, segment) in (1..).zip(&object.segments) {
                if number == wanted {
                    return Ok(start..start + segment.size);
                }
                start += segment.size;
            }
            Err(s3_error!(InvalidRange, "The requested partnumber is not satisfiable"))
        }
        (None, None) => Ok(0..object.size()),
    }
}

/// Checks the conditions of a read in the order of RFC 9110, section 13.2.2.
fn check_read(object: &Object, input: &GetObjectInput) -> S3Result<()> {
    // HTTP dates have a resolution of one second.
    let modified = timestamp(object.modified / 1000 * 1000);
    let is_after = |time: &Timestamp| modified > *time;
    match (&input.if_match, &input.if_unmodified_since) {
        (Some(wanted), _) if !is_met(wanted, object) => return Err(failed()),
        (None, Some(time)) if is_after(time) => return Err(failed()),
        _ => {}
    }
    match (&input.if_none_match, &input.if_modified_since) {
        (Some(unwanted), _) if is_met(unwanted, object) => Err(S3ErrorCode::NotModified.into()),
        (None, Some(time)) if !is_after(time) => Err(S3ErrorCode::NotModified.into()),
        _ => Ok(()),
    }
}

impl Operations {
    pub(super) fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<GetObjectOutput> {
        let input = request.input;
        let object = self.object(&input.bucket, &input.key)?;
        check_read(&object, &input)?;
        let span = selected(&object, input.range, input.part_number)?;
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
            ..GetObjectOutput::default()
        };
        move_fields!(attributes => output; attributes);
        move_fields!(checksum => output; checksums);
        output.content_type.get_or_insert_with(|| "binary/octet-stream".to_owned());
        Ok(output)
    }

    /// Answers like `GetObject`, without the body.
    pub(super) fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<HeadObjectOutput> {
        let request = request.map_input(|head| {
            let mut get = GetObjectInput::default();
            move_fields!(head => get; bucket key range part_number checksum_mode if_match if_none_match
                if_modified_since if_unmodified_since);
            get
        });
        let (found, mut output) = (self.get_object(request)?, HeadObjectOutput::default());
        move_fields!(found => output; accept_ranges checksum_type content_length content_range e_tag last_modified
            parts_count);
        move_fields!(found => output; attributes);
        move_fields!(found => output; checksums);
        Ok(output)
    }
}
