//! Health and reset of the whole server.

use serde_json::{Value, json};

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::commits::Commits;

/// `GET /health`; status 503 while changes cannot be stored. Unknown parameters are accepted: some load balancers add their own.
pub(super) fn health(ask: &Ask<'_>) -> Answered {
    let service = ask.services.sqs.service();
    service.check_store().map_err(|error| Refusal::not_stored(&error))?;
    let mut health = json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") });
    if let Some(commits) = service.commits() {
        health["data"] = data(commits);
    }
    json(&health)
}

/// `GET /_localstack/health`.
pub(super) fn localstack_health(ask: &Ask<'_>) -> Answered {
    let services = ask.services;
    if !services.is_localstack {
        return Err(Refusal::not_found("this path needs --compat localstack; GET /health has no condition"));
    }
    let state = |runs| if runs { "running" } else { "disabled" };
    let with_topics = state(cfg!(feature = "sns"));
    let states =
        json!({ "sqs": "running", "sns": with_topics, "sts": with_topics, "s3": state(services.has_s3()) });
    json(&json!({ "services": states, "edition": "community", "version": env!("CARGO_PKG_VERSION") }))
}

/// The state of the data directory. The mean duration of commits is `null` before the first.
fn data(commits: &Commits) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "a mean with a few digits")]
    let mean = commits.durations().map(|durations| durations.sum / durations.count as f64);
    json!({
        "durability": commits.durability(),
        "bytes": commits.stored_bytes(),
        "mean_commit_seconds": mean,
    })
}

/// `POST /_mock/reset`.
pub(super) fn reset(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    ask.services.reset();
    json(&json!({ "reset": true }))
}
