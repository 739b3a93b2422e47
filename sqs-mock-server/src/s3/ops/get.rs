//! `GetObject` and `HeadObject`.

use std::ops::Range as Span;
use std::sync::Arc;

use s3s::dto::{
    ChecksumMode, ETag, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, Range,
    StreamingBlob,
};
use s3s::{S3Error, S3ErrorCode, S3Request, S3Result, s3_error};

use super::attributes::set_attributes;
use super::conditions::{self, ReadConditions, Unread};
use super::{Operations, set_sum, timestamp};
use crate::s3::store::{Object, Pieces, Record};

/// Which bytes of an object are asked for.
#[derive(Debug)]
struct Part {
    span: Span<u64>,
    /// Of how many bytes, when it is not all of them.
    of: Option<u64>,
    /// How many parts the object was uploaded in, when one of them is asked for.
    parts: Option<i32>,
}

impl Part {
    fn of(record: &Record, range: Option<Range>, number: Option<i32>) -> S3Result<Self> {
        let size = record.size();
        match (range, number) {
            (Some(_), Some(_)) => Err(s3_error!(
                InvalidRequest,
                "Cannot specify both Range header and partNumber query parameter"
            )),
            (Some(range), None) => {
                let span = range.check(size).map_err(|_| unsatisfiable())?;
                Ok(Self { span, of: Some(size), parts: None })
            }
            (None, Some(number)) => Self::numbered(record, number),
            (None, None) => Ok(Self { span: 0..size, of: None, parts: None }),
        }
    }

    fn numbered(record: &Record, number: i32) -> S3Result<Self> {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = at.and_then(|at| Some((at, record.segments.get(at)?)));
        let (at, segment) =
            found.ok_or_else(|| s3_error!(InvalidRange, "The requested partnumber is not satisfiable"))?;
        let start = record.segments.iter().take(at).map(|segment| segment.size).sum();
        let parts = record.multipart.then(|| i32::try_from(record.segments.len()).unwrap_or(i32::MAX));
        Ok(Self { span: start..start + segment.size, of: Some(record.size()), parts })
    }

    /// As in the header of that name.
    fn content_range(&self) -> Option<String> {
        let of = self.of?;
        Some(format!("bytes {}-{}/{of}", self.span.start, self.span.end.saturating_sub(1)))
    }

    fn length(&self) -> Option<i64> {
        i64::try_from(self.span.end - self.span.start).ok()
    }
}

fn unsatisfiable() -> S3Error {
    s3_error!(InvalidRange, "The requested range is not satisfiable")
}

fn unread(why: Unread) -> S3Error {
    match why {
        Unread::Failed => conditions::failed(),
        Unread::NotModified => S3Error::new(S3ErrorCode::NotModified),
    }
}

/// The object that either asks for, if its conditions hold, and which bytes of it.
macro_rules! find {
    ($operations:expr, $input:ident) => {{
        let object = $operations.object(&$input.bucket, &$input.key)?;
        let conditions = ReadConditions {
            matches: $input.if_match,
            none_match: $input.if_none_match,
            modified_since: $input.if_modified_since,
            unmodified_since: $input.if_unmodified_since,
        };
        conditions.check(&object.record).map_err(unread)?;
        let part = Part::of(&object.record, $input.range, $input.part_number)?;
        (object, part)
    }};
}

/// Sets what the answers to both have.
macro_rules! set_object {
    ($output:ident, $object:expr, $part:expr, $mode:expr) => {
        let (object, part): (&Arc<Object>, &Part) = (&$object, &$part);
        set_attributes!($output, object.record.attributes.clone());
        $output.accept_ranges = Some("bytes".to_owned());
        $output.content_length = part.length();
        $output.content_range = part.content_range();
        $output.parts_count = part.parts;
        $output.e_tag = Some(ETag::Strong(object.record.etag.clone()));
        $output.last_modified = Some(timestamp(object.record.modified));
        // That of the whole says nothing about a part.
        if part.of.is_none() && $mode.is_some_and(|mode: ChecksumMode| mode.as_str() == ChecksumMode::ENABLED) {
            set_sum!($output, object.record.sum.as_ref(), with its type);
        }
    };
}

impl Operations {
    pub(super) fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<GetObjectOutput> {
        let input = request.input;
        let (object, part) = find!(self, input);
        let pieces = Pieces::of(&object, part.span.start, part.span.end);
        let mut output = GetObjectOutput {
            body: Some(StreamingBlob::wrap(pieces.stream())),
            ..GetObjectOutput::default()
        };
        set_object!(output, object, part, input.checksum_mode);
        Ok(output)
    }

    pub(super) fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<HeadObjectOutput> {
        let input = request.input;
        let (object, part) = find!(self, input);
        let mut output = HeadObjectOutput::default();
        set_object!(output, object, part, input.checksum_mode);
        Ok(output)
    }
}
