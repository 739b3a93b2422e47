//! Health and reset of the whole server.

use serde_json::json;

use super::answer::{Answered, json};
use super::ask::Ask;

/// `GET /health`. Unknown parameters are accepted: some load balancers add their own.
pub(super) fn health(_: &Ask<'_>) -> Answered {
    json(&json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// `POST /_mock/reset`.
pub(super) fn reset(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    ask.services.reset();
    json(&json!({ "reset": true }))
}
