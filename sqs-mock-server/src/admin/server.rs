//! The whole server: its health, its reset, and the findings.
//!
//! The clock over HTTP.
//!
//! ```text
//! POST /_mock/clock {"advance": 90}                    seconds, may be fractional
//! POST /_mock/clock {"advance": "14days"}              also "90s", "1h 30m", in the syntax of the crate humantime
//! POST /_mock/clock {"now": "2030-01-01T00:00:00Z"}    or milliseconds since the epoch; not back in time
//! POST /_mock/clock {"frozen": true}                   false resumes it
//! ```
//! Several fields apply in this order: freeze, set, advance, resume. The response is that of the GET.
//!
//! Faults over HTTP.
//!
//! ```text
//! POST   /_mock/faults {"effect": "fail_entries", "code": "InternalFailure", "probability": 0.05}
//! GET    /_mock/faults          each with its id and hits
//! DELETE /_mock/faults/3        or all, without the number
//! ```
//! The `FromStr` of [`Fault`] documents the fields.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use strum::VariantArray as _;

use crate::admin::Ask;
use crate::admin::{Answered, Refusal, answer_json};
use crate::config::units;
use crate::control::arn::{Resource, TopicArn};
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::faults::InjectedFault;
use crate::control::faults::fault::Fault;
use crate::control::journal::Record;
use crate::control::operation::{Operation, ServiceName};
use crate::control::schedule::{DEFAULT_RATE, Disturbance, Schedule, SchedulePlan, Source, refuse_kills};
use crate::outgoing::log::OutgoingKind;
use crate::services::S3_IS_OFF;
use crate::sqs::journal::RecordedRequest;
use crate::triggers::NotAdded;

/// `GET /health`; status 503 while changes cannot be stored. Unknown parameters are accepted: some load balancers add their own.
pub(crate) fn health(ask: &Ask<'_>) -> Answered {
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
    answer_json(&health)
}

/// # Errors
/// The server does not stand in for `LocalStack`.
fn check_localstack(ask: &Ask<'_>, instead: &str) -> Result<(), Refusal> {
    let text = || format!("this path needs --compat localstack; {instead} always works");
    if ask.services.is_localstack { Ok(()) } else { Err(Refusal::not_found(text())) }
}

/// `GET /_localstack/health`.
pub(crate) fn localstack_health(ask: &Ask<'_>) -> Answered {
    check_localstack(ask, "GET /health")?;
    let services = ask.services;
    let s3 = if services.has_s3() { "running" } else { "disabled" };
    let states = json!({ "sqs": "running", "sns": "running", "sts": "running", "s3": s3 });
    answer_json(&json!({ "services": states, "edition": "community", "version": env!("CARGO_PKG_VERSION") }))
}

/// `GET /_localstack/info`, with the members that make sense here.
pub(crate) fn localstack_info(ask: &Ask<'_>) -> Answered {
    check_localstack(ask, "GET /_mock")?;
    answer_json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "edition": "community",
        "is_license_activated": false,
        "system": std::env::consts::OS,
        "server_time_utc": ask.sqs().clock().now().to_string(),
    }))
}

/// `GET /_localstack/init` and `GET /_localstack/init/{stage}`: there are no scripts, so all are done. The config file creates queues.
pub(crate) fn localstack_init(ask: &Ask<'_>) -> Answered {
    check_localstack(ask, "GET /health")?;
    let stages = ["BOOT", "START", "READY", "SHUTDOWN"];
    if ask.name.is_empty() {
        let completed = stages.map(|stage| (stage.to_owned(), Value::from(stage != "SHUTDOWN")));
        let completed: serde_json::Map<_, _> = completed.into_iter().collect();
        return answer_json(&json!({ "completed": completed, "scripts": [] }));
    }
    let stage = ask.name.to_ascii_uppercase();
    if !stages.contains(&stage.as_str()) {
        return Err(Refusal::not_found(format!(
            "no stage {:?}; there are boot, start, ready and shutdown",
            ask.name
        )));
    }
    answer_json(&json!({ "completed": stage != "SHUTDOWN", "scripts": [] }))
}

/// `POST /_localstack/state/reset`.
pub(crate) fn localstack_reset(ask: &Ask<'_>) -> Answered {
    check_localstack(ask, "POST /_mock/reset")?;
    reset(ask)
}

/// `POST /_mock/reset`.
pub(crate) fn reset(ask: &Ask<'_>) -> Answered {
    let failed = |error: String| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error);
    ask.services.reset().map_err(failed)?;
    answer_json(&json!({ "reset": true }))
}

/// `GET /_mock/findings`.
pub(crate) fn findings(ask: &Ask<'_>) -> Answered {
    let (findings, omitted) = ask.sqs().all_findings();
    let findings: Vec<_> = findings.iter().map(|finding| &**finding).collect();
    answer_json(&json!({ "findings": findings, "omitted": omitted.values().sum::<usize>() }))
}

/// `DELETE /_mock/findings`.
pub(crate) fn forget_findings(ask: &Ask<'_>) -> Answered {
    let (kept, omitted) = ask.sqs().all_findings();
    ask.sqs().forget_findings();
    answer_json(&json!({ "forgotten": kept.len() + omitted.values().sum::<usize>() }))
}

/// `GET /_mock/tls-root`.
#[cfg(feature = "tls")]
pub(crate) fn tls_root(ask: &Ask<'_>) -> Answered {
    let root = ask.services.tls_root.get();
    let root = root.ok_or_else(|| Refusal::not_found("this server has no TLS; --tls starts it"))?;
    let mut response = http::Response::new(bytes::Bytes::from(root.to_string()));
    let kind = http::HeaderValue::from_static("application/x-pem-file");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    Ok(response)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    advance: Option<Value>,
    now: Option<Value>,
    frozen: Option<bool>,
}

/// `GET /_mock/clock`.
pub(crate) fn show_clock(ask: &Ask<'_>) -> Answered {
    answer_json(&state(ask.sqs().clock()))
}

/// `POST /_mock/clock`.
pub(crate) fn turn(ask: &Ask<'_>) -> Answered {
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
    answer_json(&state(clock))
}

/// The time and how it runs. `offset_ms` is the difference to the system time.
pub(crate) fn state(clock: &Clock) -> Value {
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
        Value::String(text) => units::period(text),
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
pub(crate) fn list_faults(ask: &Ask<'_>) -> Answered {
    answer_json(&ask.sqs().faults().list().iter().map(shown).collect::<Value>())
}

/// `POST /_mock/faults`.
pub(crate) fn inject(ask: &Ask<'_>) -> Answered {
    let text = std::str::from_utf8(ask.body).map_err(|_| Refusal::bad("the body is not UTF-8"))?;
    let fault: Fault = text.parse().map_err(|error| Refusal::bad(format!("the body: {error}")))?;
    let faults = ask.sqs().faults();
    faults.forget_spent(AT_MOST);
    if faults.list().len() >= AT_MOST {
        return Err(Refusal::bad(format!("there are already {AT_MOST} faults; DELETE some first")));
    }
    answer_json(&shown(&faults.inject(fault)))
}

/// `DELETE /_mock/faults`.
pub(crate) fn clear_faults(ask: &Ask<'_>) -> Answered {
    let faults = ask.sqs().faults();
    let removed = faults.list().len();
    faults.clear();
    answer_json(&json!({ "removed": removed }))
}

/// `DELETE /_mock/faults/{name}`.
pub(crate) fn remove_fault(ask: &Ask<'_>) -> Answered {
    let all = ask.sqs().faults().list();
    let found = all.iter().find(|injected| injected.id().to_string() == ask.name);
    let unknown =
        || Refusal::not_found(format!("there is no fault {}; GET /_mock/faults lists them", ask.name));
    found.ok_or_else(unknown)?.remove();
    answer_json(&json!({ "removed": 1 }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSchedule {
    seed: Option<u64>,
    rate: Option<f64>,
    kinds: Option<Vec<Disturbance>>,
    plan: Option<SchedulePlan>,
    #[serde(default)]
    undisturbed: Vec<String>,
}

/// `POST /_mock/schedule`. Calls count from 1 again.
pub(crate) fn set_schedule(ask: &Ask<'_>) -> Answered {
    let NewSchedule { seed, rate, kinds, plan, undisturbed } = ask.content()?;
    refuse_kills(kinds.iter().flatten(), plan.as_ref()).map_err(Refusal::bad)?;
    let source = match (seed, plan) {
        (Some(_), Some(_)) => return Err(Refusal::bad("seed and plan cannot be combined")),
        (None, None) => return Err(Refusal::bad("no schedule; set seed, or plan")),
        (None, Some(_)) if rate.is_some() || kinds.is_some() => {
            return Err(Refusal::bad("rate and kinds require seed"));
        }
        (None, Some(plan)) => Source::plan(&plan),
        (Some(seed), None) => {
            let rate = rate.unwrap_or(DEFAULT_RATE);
            if !(0.0..=1.0).contains(&rate) {
                return Err(Refusal::bad(format!("rate must be a number from 0 to 1, not {rate}")));
            }
            Source::seed(seed, rate, &kinds.unwrap_or_else(|| Disturbance::VARIANTS.to_vec()))
        }
    };
    let schedule = Schedule::new(source).undisturbed(undisturbed);
    ask.sqs().faults().set_schedule(Some(Arc::new(schedule)));
    show_schedule(ask)
}

/// `GET /_mock/schedule`.
pub(crate) fn show_schedule(ask: &Ask<'_>) -> Answered {
    let schedule = ask.sqs().faults().schedule();
    let made = schedule.as_ref().map(|schedule| schedule.made()).unwrap_or_default();
    let calls = schedule.as_ref().map(|schedule| schedule.calls());
    answer_json(&json!({ "active": schedule.is_some(), "calls": calls.unwrap_or(0), "decisions": made }))
}

/// `DELETE /_mock/schedule`.
pub(crate) fn end_schedule(ask: &Ask<'_>) -> Answered {
    ask.sqs().faults().set_schedule(None);
    show_schedule(ask)
}

/// `GET /_mock/deliveries`. Pages count back from the latest request. Each page lists its oldest request first.
pub(crate) fn deliveries(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let given = |name: &str| ask.parameters.get(name);
    let after = ask.parameters.number("after", 0..=usize::MAX)?;
    let after = after.map(|after| u64::try_from(after).unwrap_or(u64::MAX));
    let kind = given("kind").map(kind_of_delivery).transpose()?;
    let mut all = ask.services.outgoing.log.all();
    all.retain(|request| {
        after.is_none_or(|after| request.number > after)
            && kind.is_none_or(|kind| request.kind == kind)
            && given("source").is_none_or(|source| request.source.contains(source))
    });
    answer_json(&page.part("deliveries", all.len(), page.latest(&all).map(|request| &**request)))
}

fn kind_of_delivery(text: &str) -> Result<OutgoingKind, Refusal> {
    let unknown = || {
        let all: Vec<_> = OutgoingKind::ALL.iter().map(|kind| kind.as_str()).collect();
        Refusal::bad(format!("kind must be one of {}, not {text:?}", all.join(", ")))
    };
    OutgoingKind::of(text).ok_or_else(unknown)
}

/// `GET /_mock/triggers`.
pub(crate) fn list_triggers(ask: &Ask<'_>) -> Answered {
    answer_json(&json!({ "triggers": ask.services.triggers.describe() }))
}

/// `POST /_mock/triggers`.
pub(crate) fn add_trigger(ask: &Ask<'_>) -> Answered {
    let added = ask.services.triggers.add(ask.services, ask.content()?);
    answer_json(&added.map_err(|NotAdded(why)| Refusal::bad(why))?)
}

/// `DELETE /_mock/triggers/{name}`.
pub(crate) fn remove_trigger(ask: &Ask<'_>) -> Answered {
    let unknown =
        || Refusal::not_found(format!("there is no trigger {}; GET /_mock/triggers lists them", ask.name));
    if !ask.services.triggers.remove(ask.name) {
        return Err(unknown());
    }
    answer_json(&json!({ "removed": 1 }))
}

/// `GET /_mock/requests`. Pages count back from the latest request. Each page lists its oldest request first.
pub(crate) fn list_requests(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let given = |name: &str| ask.parameters.get(name);
    let after = ask.parameters.number("after", 0..=usize::MAX)?;
    let after = after.map(|after| u64::try_from(after).unwrap_or(u64::MAX));
    let service = given("service").map(|name| service(ask, name)).transpose()?;
    let action = given("action").map(|name| Operation::find(service, name)).transpose();
    let action = action.map_err(Refusal::bad)?;
    let text = given("matching").map(str::to_lowercase);
    let status = given("status").map(status).transpose()?;
    let is_on = |record: &Arc<Record>, queue: &str| {
        RecordedRequest::of(record).is_some_and(|request| request.is_on(queue))
    };
    let mut records = ask.services.front.journal.records();
    records.retain(|record| {
        let resource = record.resource.as_ref();
        after.is_none_or(|after| record.number > after)
            && service.is_none_or(|service| record.service == service)
            && action.is_none_or(|action| {
                record.service == action.service && record.operation.as_deref() == Some(action.name)
            })
            && given("queue").is_none_or(|queue| is_on(record, queue))
            && given("bucket").is_none_or(|bucket| resource.and_then(Resource::bucket) == Some(bucket))
            && given("topic").is_none_or(|topic| resource.and_then(Resource::topic) == Some(topic))
            && text.as_ref().is_none_or(|text| matches(record, text))
            && status.is_none_or(|status| record.ending.status() == status)
    });
    answer_json(&page.part("requests", records.len(), page.latest(&records).map(show_request)))
}

/// `GET /_mock/requests/{name}`. `answer` is `null` without a complete response, and for S3.
pub(crate) fn one(ask: &Ask<'_>) -> Answered {
    let records = ask.services.front.journal.records();
    let found = records.iter().find(|record| record.number.to_string() == ask.name);
    let unknown =
        || Refusal::not_found(format!("no request {} is kept; GET /_mock/requests lists all", ask.name));
    let record = found.ok_or_else(unknown)?;
    let mut shown = show_request(record);
    shown["answer"] = json!(record.answer.as_ref().map(|answer| String::from_utf8_lossy(answer)));
    answer_json(&shown)
}

/// `DELETE /_mock/requests`.
pub(crate) fn clear_requests(ask: &Ask<'_>) -> Answered {
    answer_json(&json!({ "forgotten": ask.services.front.journal.clear() }))
}

/// Whether the action, the resource or the key contains a text in lower case.
fn matches(record: &Arc<Record>, text: &str) -> bool {
    let queue = RecordedRequest::of(record).and_then(|request| request.queue());
    let resource = record.resource.as_ref();
    let names = [
        record.operation.as_deref(),
        queue.as_ref().map(|queue| &*queue.name),
        resource.and_then(Resource::topic),
        resource.and_then(Resource::bucket),
        resource.and_then(Resource::key),
    ];
    names.into_iter().flatten().any(|name| name.to_lowercase().contains(text))
}

fn show_request(record: &Arc<Record>) -> Value {
    let mut shown = json!({
        "number": record.number,
        "service": record.service,
        "id": record.request_id,
        "time": record.time,
        "action": record.operation,
        "status": record.ending.status(),
        "warnings": record.warnings,
        "elapsed_us": u64::try_from(record.elapsed.as_micros()).unwrap_or(u64::MAX),
    });
    let resource = record.resource.as_ref();
    if record.service == ServiceName::S3 {
        shown["bucket"] = json!(resource.and_then(Resource::bucket));
        shown["key"] = json!(resource.and_then(Resource::key));
        return shown;
    }
    shown["account"] = json!(record.caller.as_ref().map(|caller| &caller.account));
    shown["region"] = json!(record.caller.as_ref().map(|caller| &caller.region));
    shown["error"] = json!(record.ending.error_code().map(ErrorCode::shape));
    shown["content"] = json!(String::from_utf8_lossy(record.content()));
    if let Some(request) = RecordedRequest::of(record) {
        shown["protocol"] = json!(match request.protocol() {
            Protocol::AwsJson => "json",
            Protocol::Query => "query",
        });
        shown["queue"] = json!(request.queue().map(|queue| queue.name));
    } else {
        shown["topic"] = json!(resource.and_then(Resource::topic));
    }
    shown
}

/// Parses the name of a service that this server runs.
fn service(ask: &Ask<'_>, name: &str) -> Result<ServiceName, Refusal> {
    match ServiceName::ALL.into_iter().find(|service| service.as_str() == name) {
        Some(ServiceName::S3) if !ask.services.has_s3() => Err(Refusal::not_found(S3_IS_OFF)),
        Some(service) => Ok(service),
        None => {
            let all = ServiceName::ALL.map(ServiceName::as_str).join(", ");
            Err(Refusal::bad(format!("unknown service {name:?}; there are {all}")))
        }
    }
}

/// A status, or `none` for requests without a complete response.
fn status(text: &str) -> Result<Option<u16>, Refusal> {
    if text == "none" {
        return Ok(None);
    }
    let status = text.parse().ok().filter(|status| (100..=999).contains(status));
    let wrong = || Refusal::bad(format!("status must be a number from 100 to 999, or none, not {text:?}"));
    status.map(Some).ok_or_else(wrong)
}

/// `GET /_mock/topics`.
pub(crate) fn list_topics(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let arns = ask.services.sns.actions.topics();
    let topics = page.of(&arns).filter_map(|arn| topic(ask, arn));
    answer_json(&page.part("topics", arns.len(), topics))
}

/// `GET /_mock/topics/{name}`.
pub(crate) fn show_topic(ask: &Ask<'_>) -> Answered {
    let arn = asked_topic(ask);
    answer_json(&topic(ask, &arn).ok_or_else(|| no_topic(&arn))?)
}

/// `GET /_mock/topics/{name}/published`. Pages count back from the latest message. Each page lists its oldest first. The
/// latest message is on a page even if it alone has too many bytes.
pub(crate) fn published(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let after = ask.parameters.number("after", 0..=usize::MAX)?.unwrap_or(0);
    let most = ask.parameters.number("bytes", 1..=usize::MAX)?.unwrap_or(usize::MAX);
    let arn = asked_topic(ask);
    let sns = &ask.services.sns.actions;
    if !sns.has(&arn) {
        return Err(no_topic(&arn));
    }
    let mut all = sns.published_to(&arn);
    let latest = all.last().map_or(0, |message| message.number);
    all.retain(|message| usize::try_from(message.number).is_ok_and(|number| number > after));
    let messages: Vec<_> = page.latest(&all).collect();
    let mut bytes = 0_usize;
    let fitting = messages.iter().rev().take_while(|message| {
        let is_first = bytes == 0;
        bytes += message.bytes();
        is_first || bytes <= most
    });
    let omitted = messages.len() - fitting.count();
    let mut part = page.part("messages", all.len(), messages[omitted..].iter().map(|message| &***message));
    part["latest"] = latest.into();
    answer_json(&part)
}

fn asked_topic(ask: &Ask<'_>) -> TopicArn {
    let (region, account) = ask.home();
    TopicArn::new(region, account, ask.name)
}

fn no_topic(arn: &TopicArn) -> Refusal {
    Refusal::not_found(format!("there is no topic {arn}; GET /_mock/topics lists all topics"))
}

/// `None` if the topic was deleted in the meantime.
fn topic(ask: &Ask<'_>, arn: &TopicArn) -> Option<Value> {
    let sns = &ask.services.sns.actions;
    let (attributes, tags) = sns.settings_of(arn)?;
    Some(json!({
        "name": arn.name,
        "arn": arn,
        "fifo": arn.is_fifo(),
        "subscriptions": sns.subscriptions_of(arn),
        // How many of its latest messages are kept.
        "published": sns.published_to(arn).len(),
        "attributes": attributes,
        "tags": tags,
    }))
}
