//! The clock over HTTP.
//!
//! ```text
//! POST /_mock/clock {"advance": 90}                    seconds, may be fractional
//! POST /_mock/clock {"advance": "14days"}              also "90s", "1h 30m", in the syntax of the crate humantime
//! POST /_mock/clock {"now": "2030-01-01T00:00:00Z"}    or milliseconds since the epoch; not back in time
//! POST /_mock/clock {"frozen": true}                   false resumes it
//! ```
//! Several fields apply in this order: freeze, set, advance, resume. The response is that of the GET.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::clock::{Clock, Timestamp};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    advance: Option<Value>,
    now: Option<Value>,
    frozen: Option<bool>,
}

/// `GET /_mock/clock`.
pub(super) fn show(ask: &Ask<'_>) -> Answered {
    json(&state(ask.sqs().clock()))
}

/// `POST /_mock/clock`.
pub(super) fn turn(ask: &Ask<'_>) -> Answered {
    let Turn { advance, now, frozen } = ask.content()?;
    if advance.is_none() && now.is_none() && frozen.is_none() {
        return Err(Refusal::bad("no change; set advance, now or frozen"));
    }
    let clock = ask.sqs().clock();
    // All fields are validated before the clock is changed.
    let advance = advance.map(|advance| duration(&advance)).transpose()?.unwrap_or_default();
    let now = now.map(|now| moment(&now)).transpose()?;
    let start = clock.now();
    if let Some(now) = now.filter(|now| *now < start) {
        return Err(Refusal::bad(format!("the clock cannot go back: it shows {start}, later than {now}")));
    }
    if now.unwrap_or(start) + advance > Timestamp::END_OF_9999 {
        return Err(Refusal::bad("the clock cannot pass the year 9999"));
    }
    if frozen == Some(true) {
        clock.freeze();
    }
    if let Some(now) = now {
        clock.advance_to(now);
    }
    if !advance.is_zero() {
        clock.advance(advance);
    }
    if frozen == Some(false) {
        clock.resume();
    }
    json(&state(clock))
}

/// The time and how it runs. `offset_ms` is the difference to the system time.
pub(super) fn state(clock: &Clock) -> Value {
    let now = clock.now();
    json!({
        "now": now,
        "now_ms": now.as_millis(),
        "frozen": clock.is_frozen(),
        "offset_ms": clock.offset_millis(),
    })
}

fn duration(value: &Value) -> Result<Duration, Refusal> {
    let read = match value {
        Value::Number(seconds) => {
            seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        }
        Value::String(text) => humantime::parse_duration(text).ok(),
        _ => None,
    };
    read.ok_or_else(|| {
        Refusal::bad(format!(
            "advance must be seconds, not negative, or text like \"90s\", \"1h 30m\" or \"14days\", not {value}"
        ))
    })
}

fn moment(value: &Value) -> Result<Timestamp, Refusal> {
    let read = match value {
        Value::Number(millis) => millis.as_u64().map(Timestamp::from_millis),
        Value::String(text) => humantime::parse_rfc3339(text).ok().map(Timestamp::from),
        _ => None,
    };
    read.ok_or_else(|| {
        Refusal::bad(format!(
            "now must be milliseconds since the epoch or text like \"2030-01-01T00:00:00Z\", not {value}"
        ))
    })
}
