//! The whole server: its health, its reset, and the findings of strict mode.

use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;

/// `GET /health`; status 503 while changes cannot be stored. Unknown parameters are accepted: some load balancers add their own.
pub(super) fn health(ask: &Ask<'_>) -> Answered {
    let service = ask.sqs();
    service.check_store().map_err(Refusal::not_stored)?;
    let mut health = json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") });
    if let Some(commits) = service.commits() {
        #[expect(clippy::cast_precision_loss, reason = "a mean with a few digits")]
        let mean = commits.durations().map(|durations| durations.sum / durations.count as f64);
        health["data"] = json!({
            "durability": commits.durability(),
            "bytes": commits.stored_bytes(),
            // `null` before the first commit.
            "mean_commit_seconds": mean,
        });
    }
    json(&health)
}

/// `GET /_localstack/health`.
pub(super) fn localstack_health(ask: &Ask<'_>) -> Answered {
    let services = ask.services;
    if !services.is_localstack {
        return Err(Refusal::not_found("this path needs --compat localstack; GET /health has no condition"));
    }
    let s3 = if services.has_s3() { "running" } else { "disabled" };
    let states = json!({ "sqs": "running", "sns": "running", "sts": "running", "s3": s3 });
    json(&json!({ "services": states, "edition": "community", "version": env!("CARGO_PKG_VERSION") }))
}

/// `POST /_mock/reset`.
pub(super) fn reset(ask: &Ask<'_>) -> Answered {
    ask.services.reset();
    json(&json!({ "reset": true }))
}

/// `GET /_mock/findings`.
pub(super) fn findings(ask: &Ask<'_>) -> Answered {
    let (findings, omitted) = ask.sqs().all_findings().ok_or_else(not_strict)?;
    let findings: Vec<_> = findings.iter().map(|finding| &**finding).collect();
    json(&json!({ "findings": findings, "omitted": omitted }))
}

/// `DELETE /_mock/findings`.
pub(super) fn forget_findings(ask: &Ask<'_>) -> Answered {
    let (kept, omitted) = ask.sqs().all_findings().ok_or_else(not_strict)?;
    ask.sqs().forget_findings();
    json(&json!({ "forgotten": kept.len() + omitted }))
}

fn not_strict() -> Refusal {
    Refusal::not_found("strict mode is off; start the server with --strict")
}
