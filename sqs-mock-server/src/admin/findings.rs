//! The findings of strict mode over HTTP.

use serde::Serialize;
use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::sqs::findings::Finding;

#[derive(Serialize)]
struct Shown<'f> {
    kind: &'static str,
    queue: String,
    time: String,
    text: &'f str,
}

/// `GET /_mock/findings`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let (findings, omitted) = ask.services.sqs.service().all_findings().ok_or_else(off)?;
    let shown: Vec<_> = findings.iter().map(|finding| show(finding)).collect();
    json(&json!({ "findings": shown, "omitted": omitted }))
}

/// `DELETE /_mock/findings`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let service = ask.services.sqs.service();
    let (kept, omitted) = service.findings().ok_or_else(off)?.all();
    service.forget_findings();
    json(&json!({ "forgotten": kept.len() + omitted }))
}

fn off() -> Refusal {
    Refusal::not_found("strict mode is off; start the server with --strict")
}

fn show(finding: &Finding) -> Shown<'_> {
    let Finding { kind, queue, time, text } = finding;
    Shown { kind: kind.as_str(), queue: queue.to_string(), time: time.to_string(), text }
}
