//! Faults over HTTP.
//!
//! ```text
//! POST   /_mock/faults {"effect": "fail_entries", "code": "InternalFailure", "probability": 0.05}
//! GET    /_mock/faults          each with its id and hits
//! DELETE /_mock/faults/3        or all, without the number
//! ```
//! The `FromStr` of [`Fault`] documents the fields.

use serde_json::{Value, json};

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::faults::{Fault, InjectedFault};

/// The maximum number of faults, since each request checks all of them.
const AT_MOST: usize = 1000;

fn shown(injected: &InjectedFault) -> Value {
    json!({
        "id": injected.id(),
        "hits": injected.hits(),
        "spent": injected.is_spent(),
        "fault": injected.fault(),
    })
}

/// `GET /_mock/faults`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    json(&ask.sqs().faults().list().iter().map(shown).collect::<Value>())
}

/// `POST /_mock/faults`.
pub(super) fn inject(ask: &Ask<'_>) -> Answered {
    let text = std::str::from_utf8(ask.body).map_err(|_| Refusal::bad("the body is not UTF-8"))?;
    let fault: Fault = text.parse().map_err(|error| Refusal::bad(format!("the body: {error}")))?;
    let faults = ask.sqs().faults();
    faults.forget_spent(AT_MOST);
    if faults.list().len() >= AT_MOST {
        return Err(Refusal::bad(format!("there are already {AT_MOST} faults; DELETE some first")));
    }
    json(&shown(&faults.inject(fault)))
}

/// `DELETE /_mock/faults`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    let faults = ask.sqs().faults();
    let removed = faults.list().len();
    faults.clear();
    json(&json!({ "removed": removed }))
}

/// `DELETE /_mock/faults/{name}`.
pub(super) fn remove(ask: &Ask<'_>) -> Answered {
    let all = ask.sqs().faults().list();
    let found = all.iter().find(|injected| injected.id().to_string() == ask.name);
    let unknown =
        || Refusal::not_found(format!("there is no fault {}; GET /_mock/faults lists them", ask.name));
    found.ok_or_else(unknown)?.remove();
    json(&json!({ "removed": 1 }))
}
