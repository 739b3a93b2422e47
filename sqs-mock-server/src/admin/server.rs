//! Health and reset of the whole server.

use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;

/// `GET /health`; status 503 while changes cannot be stored. Unknown parameters are accepted: some load balancers add their own.
pub(super) fn health(ask: &Ask<'_>) -> Answered {
    ask.services.sqs.service().check_store().map_err(|error| Refusal::not_stored(&error))?;
    json(&json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// `POST /_mock/reset`.
pub(super) fn reset(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    ask.services.reset();
    json(&json!({ "reset": true }))
}
