//! `GetObject` and `HeadObject`.

use std::ops::Range as Span;
use std::sync::Arc;

use s3s::dto::{
    ChecksumMode, ETag, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, Range,
    StreamingBlob,
};
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::attributes::set_attributes;
use super::conditions::ReadConditions;
use super::{Operations, set_checksum, timestamp};
use crate::s3::store::{Object, Pieces, Record};

/// The bytes of an object that a request selects.
#[derive(Debug)]
struct Selection {
    span: Span<u64>,
    /// The size of the object, if the request selects only some of its bytes.
    of: Option<u64>,
    /// The number of parts of the object, if the request has a part number.
    parts: Option<i32>,
}

impl Selection {
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

    /// The `Content-Range` header.
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

/// Finds the object, checks the conditions and selects the bytes. The two inputs use the same field names.
macro_rules! find {
    ($operations:expr, $input:ident) => {{
        let object = $operations.object(&$input.bucket, &$input.key)?;
        let conditions = ReadConditions {
            matches: $input.if_match,
            none_match: $input.if_none_match,
            modified_since: $input.if_modified_since,
            unmodified_since: $input.if_unmodified_since,
        };
        conditions.check(&object.record)?;
        let selection = Selection::of(&object.record, $input.range, $input.part_number)?;
        (object, selection)
    }};
}

/// Sets the fields that both outputs have.
macro_rules! set_object {
    ($output:ident, $object:expr, $selection:expr, $mode:expr) => {
        let (object, selection): (&Arc<Object>, &Selection) = (&$object, &$selection);
        set_attributes!($output, object.record.attributes.clone());
        $output.accept_ranges = Some("bytes".to_owned());
        $output.content_length = selection.length();
        $output.content_range = selection.content_range();
        $output.parts_count = selection.parts;
        $output.e_tag = Some(ETag::Strong(object.record.etag.clone()));
        $output.last_modified = Some(timestamp(object.record.modified));
        // The checksum covers the whole object.
        if selection.of.is_none() && $mode.is_some_and(|mode: ChecksumMode| mode.as_str() == ChecksumMode::ENABLED) {
            set_checksum!($output, object.record.checksum.as_ref(), with type);
        }
    };
}

impl Operations {
    pub(super) fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<GetObjectOutput> {
        let input = request.input;
        let (object, selection) = find!(self, input);
        let pieces = Pieces::of(&object, selection.span.start, selection.span.end);
        let mut output = GetObjectOutput {
            body: Some(StreamingBlob::wrap(pieces.stream())),
            ..GetObjectOutput::default()
        };
        set_object!(output, object, selection, input.checksum_mode);
        Ok(output)
    }

    pub(super) fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<HeadObjectOutput> {
        let input = request.input;
        let (object, selection) = find!(self, input);
        let mut output = HeadObjectOutput::default();
        set_object!(output, object, selection, input.checksum_mode);
        Ok(output)
    }
}
