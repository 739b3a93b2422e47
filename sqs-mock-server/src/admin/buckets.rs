//! Buckets and objects of S3 over HTTP.

use std::sync::Arc;

use http::StatusCode;
use serde_json::json;

use crate::admin::Ask;
use crate::admin::{Answered, Refusal, answer_json};
use crate::s3::Content;
use crate::services::S3_IS_OFF;

/// The most bytes of an object that are shown.
const MAX_SHOWN: u64 = 256 << 10;

fn s3(ask: &Ask<'_>) -> Result<Arc<Content>, Refusal> {
    let off = || Refusal::not_found(S3_IS_OFF);
    ask.services.s3().ok_or_else(off)
}

/// `GET /_mock/buckets`.
pub(crate) fn list(ask: &Ask<'_>) -> Answered {
    answer_json(&json!({ "buckets": s3(ask)?.describe_buckets() }))
}

/// `GET /_mock/objects`.
pub(crate) fn objects(ask: &Ask<'_>) -> Answered {
    let parameters = &ask.parameters;
    let bucket = parameters.required("bucket", "")?;
    let (prefix, after) = (parameters.get("prefix").unwrap_or_default(), parameters.get("after"));
    let page = s3(ask)?.describe_objects(bucket, prefix, after, parameters.page()?.limit);
    let unknown = || format!("there is no bucket {bucket:?}; GET /_mock/buckets lists all buckets");
    answer_json(&page.ok_or_else(|| Refusal::not_found(unknown()))?)
}

/// `GET /_mock/objects/content`.
pub(crate) async fn content(ask: &Ask<'_>) -> Answered {
    let (bucket, key) = (ask.parameters.required("bucket", "")?, ask.parameters.required("key", "")?);
    let read = s3(ask)?.beginning(bucket, key, MAX_SHOWN).await;
    let failed =
        |error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot read the object: {error}"));
    let absent = || Refusal::not_found(format!("bucket {bucket:?} has no object {key:?}"));
    let (length, bytes) = read.map_err(failed)?.ok_or_else(absent)?;
    let whole = length == u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    answer_json(&json!({ "length": length, "text": text(bytes, whole) }))
}

/// UTF-8 text; the last character may be cut off if there is more.
fn text(bytes: Vec<u8>, is_whole: bool) -> Option<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let error_at = error.utf8_error();
            let mut bytes = error.into_bytes();
            bytes.truncate(error_at.valid_up_to());
            (!is_whole && error_at.error_len().is_none()).then(|| String::from_utf8(bytes).ok())?
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_of_a_text_may_end_within_a_character() {
        assert_eq!(text("tea \u{fc}".into(), true).as_deref(), Some("tea \u{fc}"));
        assert_eq!(text(b"tea \xc3".to_vec(), false).as_deref(), Some("tea "));
        assert_eq!(text(b"tea \xc3".to_vec(), true), None);
        assert_eq!(text(b"\xff tea".to_vec(), false), None);
    }
}
