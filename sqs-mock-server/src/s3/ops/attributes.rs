//! What callers say about objects beside their bytes, in and out.

use std::time::{Duration, SystemTime};

use s3s::dto::Timestamp;
use s3s::{S3Result, s3_error};

/// The attributes in an input. Those that have any have them under the same names.
macro_rules! attributes {
    ($input:ident) => {
        crate::s3::store::Attributes {
            metadata: $input.metadata.take().unwrap_or_default().into_iter().collect(),
            cache_control: $input.cache_control.take(),
            content_disposition: $input.content_disposition.take(),
            content_encoding: $crate::s3::ops::attributes::without_chunks($input.content_encoding.take()),
            content_language: $input.content_language.take(),
            content_type: $input.content_type.take(),
            expires: $input.expires.take().as_ref().map($crate::s3::ops::attributes::seconds),
            website_redirect_location: $input.website_redirect_location.take(),
            storage_class: $input.storage_class.take().map(|class| class.as_str().to_owned()),
            server_side_encryption: $input.server_side_encryption.take().map(|kind| kind.as_str().to_owned()),
            kms_key_id: $input.ssekms_key_id.take(),
            tags: $crate::s3::ops::attributes::tags($input.tagging.as_deref())?,
        }
    };
}

/// Sets the fields of an answer that hold attributes.
macro_rules! set_attributes {
    ($output:ident, $attributes:expr) => {
        let attributes: crate::s3::store::Attributes = $attributes;
        $output.metadata = Some(attributes.metadata.into_iter().collect());
        $output.cache_control = attributes.cache_control;
        $output.content_disposition = attributes.content_disposition;
        $output.content_encoding = attributes.content_encoding;
        $output.content_language = attributes.content_language;
        $output.content_type = attributes.content_type.or_else(|| Some("binary/octet-stream".to_owned()));
        $output.expires = attributes.expires.map($crate::s3::ops::attributes::timestamp_of_seconds);
        $output.website_redirect_location = attributes.website_redirect_location;
        $output.storage_class = attributes.storage_class.map(Into::into);
        $output.server_side_encryption = attributes.server_side_encryption.map(Into::into);
        $output.ssekms_key_id = attributes.kms_key_id;
    };
}
pub(super) use {attributes, set_attributes};

/// Most tags of an object: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html>.
const MAX_TAGS: usize = 10;

/// The encoding of the object without that of the request.
pub(super) fn without_chunks(encoding: Option<String>) -> Option<String> {
    let encoding = encoding?;
    let kept: Vec<_> = encoding.split(',').map(str::trim).filter(|part| *part != "aws-chunked").collect();
    Some(kept.join(",")).filter(|kept| !kept.is_empty())
}

pub(super) fn seconds(expires: &Timestamp) -> i64 {
    time_of(expires)
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |passed| i64::try_from(passed.as_secs()).unwrap_or(i64::MAX))
}

pub(super) fn timestamp_of_seconds(seconds: i64) -> Timestamp {
    let passed = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    (SystemTime::UNIX_EPOCH + passed).into()
}

/// As the system has it.
pub(super) fn time_of(timestamp: &Timestamp) -> SystemTime {
    let mut text = Vec::new();
    let formatted = timestamp.format(s3s::dto::TimestampFormat::EpochSeconds, &mut text);
    let seconds = formatted.ok().and_then(|()| std::str::from_utf8(&text).ok()?.parse::<f64>().ok());
    let passed = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    SystemTime::UNIX_EPOCH + passed.unwrap_or_default()
}

/// Tags as they come in a header: like the query of a URL.
pub(super) fn tags(header: Option<&str>) -> S3Result<Vec<(String, String)>> {
    let pairs = form_urlencoded::parse(header.unwrap_or_default().as_bytes());
    checked_tags(pairs.into_owned().collect())
}

/// Tags that an object can have.
pub(super) fn checked_tags(tags: Vec<(String, String)>) -> S3Result<Vec<(String, String)>> {
    if tags.len() > MAX_TAGS {
        return Err(s3_error!(InvalidTag, "Object tags cannot be greater than 10"));
    }
    for (at, (key, value)) in tags.iter().enumerate() {
        if key.is_empty() || key.chars().count() > 128 || value.chars().count() > 256 {
            return Err(s3_error!(InvalidTag, "The tag provided was not a valid tag: {key:?}"));
        }
        if tags.iter().take(at).any(|(other, _)| other == key) {
            return Err(s3_error!(InvalidTag, "Cannot provide multiple Tags with the same key"));
        }
    }
    Ok(tags)
}
