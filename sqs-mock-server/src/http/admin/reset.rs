//! Starting anew, over HTTP.

use serde_json::json;

use super::answer::{Answered, json};
use super::ask::Ask;

/// `POST /_mock/reset`.
pub(super) fn reset(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    ask.endpoint.reset();
    json(&json!({ "reset": true }))
}
