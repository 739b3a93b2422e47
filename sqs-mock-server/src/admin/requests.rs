//! Recorded requests over HTTP.

use std::sync::Arc;

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::journal::Record;
use crate::service::operation::{Operation, ServiceName};
use crate::service::resource::Resource;
use crate::sqs::journal::RecordedRequest;

/// `GET /_mock/requests`. Pages count back from the latest request. Each page lists its oldest request first.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
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
    let mut records = ask.services.journal.records();
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
    json(&page.part("requests", records.len(), page.latest(&records).map(show)))
}

/// `GET /_mock/requests/{name}`. `answer` is `null` without a complete response, and for S3.
pub(super) fn one(ask: &Ask<'_>) -> Answered {
    let records = ask.services.journal.records();
    let found = records.iter().find(|record| record.number.to_string() == ask.name);
    let unknown =
        || Refusal::not_found(format!("no request {} is kept; GET /_mock/requests lists all", ask.name));
    let record = found.ok_or_else(unknown)?;
    let mut shown = show(record);
    shown["answer"] = json!(record.answer.as_ref().map(|answer| String::from_utf8_lossy(answer)));
    json(&shown)
}

/// `DELETE /_mock/requests`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    json(&json!({ "forgotten": ask.services.journal.clear() }))
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

fn show(record: &Arc<Record>) -> Value {
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
        Some(ServiceName::S3) if !ask.services.has_s3() => {
            Err(Refusal::not_found("this server has no S3; --with-s3 DIR starts it"))
        }
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
