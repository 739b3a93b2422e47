//! Attributes that are JSON documents.

use serde_json::{Map, Value};

/// Parses an object. The error text begins like that of AWS; what follows, the position, differs between versions of
/// its parser.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("failed to parse JSON. The document must be an object".to_owned()),
        Err(error) => Err(format!("failed to parse JSON. {error}")),
    }
}

/// Whether two attribute values mean the same: equal texts, or equal JSON documents.
pub(super) fn are_equal(one: &str, other: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || (one.starts_with('{') && parsed(one).is_some_and(|one| parsed(other) == Some(one)))
}
