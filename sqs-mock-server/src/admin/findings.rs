//! The findings of strict mode over HTTP.

use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;

/// `GET /_mock/findings`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let (findings, omitted) = ask.services.sqs.service().all_findings().ok_or_else(off)?;
    let findings: Vec<_> = findings.iter().map(|finding| &**finding).collect();
    json(&json!({ "findings": findings, "omitted": omitted }))
}

/// `DELETE /_mock/findings`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let service = ask.services.sqs.service();
    let (kept, omitted) = service.all_findings().ok_or_else(off)?;
    service.forget_findings();
    json(&json!({ "forgotten": kept.len() + omitted }))
}

fn off() -> Refusal {
    Refusal::not_found("strict mode is off; start the server with --strict")
}
