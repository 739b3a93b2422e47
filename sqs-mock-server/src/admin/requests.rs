//! Recorded requests over HTTP.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, Parameters};
use super::page::{LIMIT, Page, SKIP};
use crate::service::clock::Timestamp;
use crate::service::journal::Record;
use crate::service::operation::{Operation, ServiceName};
use crate::service::resource::Resource;
use crate::sqs::journal::RecordedRequest;

#[derive(Serialize)]
struct Shown<'r> {
    number: u64,
    service: ServiceName,
    id: &'r str,
    time: Timestamp,
    action: Option<&'r str>,
    status: Option<u16>,
    warnings: &'r [String],
    elapsed_us: u128,
    #[serde(flatten)]
    details: Details<'r>,
}

/// The fields that depend on the service.
#[derive(Serialize)]
#[serde(untagged)]
enum Details<'r> {
    /// A request in AWS JSON or the Query protocol.
    Sqs {
        protocol: &'static str,
        queue: Option<String>,
        account: Option<&'r str>,
        region: Option<&'r str>,
        error: Option<&'r str>,
        content: String,
    },
    S3 {
        bucket: Option<&'r str>,
        key: Option<&'r str>,
    },
    /// A request in the Query protocol to SNS or STS.
    Form {
        topic: Option<&'r str>,
        account: Option<&'r str>,
        region: Option<&'r str>,
        error: Option<&'r str>,
        content: String,
    },
}

/// A request with its response.
#[derive(Serialize)]
struct One<'r> {
    #[serde(flatten)]
    request: Shown<'r>,
    /// `None` without a complete response, and for S3.
    answer: Option<Cow<'r, str>>,
}

/// Only requests with a greater number.
const AFTER: &str = "after";

/// Only requests with this text in one of their names.
const MATCHING: &str = "matching";

/// `GET /_mock/requests`. Pages count back from the latest request. Each page lists its oldest request first.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let parameters = ask.parameters(&[
        "service", "action", "queue", "bucket", "topic", MATCHING, "status", AFTER, SKIP, LIMIT,
    ])?;
    let page = Page::read(&parameters)?;
    let mut records = ask.services.journal.records();
    if parameters.get(AFTER).is_some() {
        let after = u64::try_from(parameters.number(AFTER, 0..=usize::MAX, 0)?).unwrap_or(u64::MAX);
        records.retain(|record| record.number > after);
    }
    narrow(ask, &parameters, &mut records)?;
    json(&page.part("requests", records.len(), page.latest(&records).map(|record| show(record))))
}

/// `GET /_mock/requests/{name}`.
pub(super) fn one(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let records = ask.services.journal.records();
    let found = records.iter().find(|record| record.number.to_string() == ask.name);
    let unknown =
        || Refusal::not_found(format!("no request {} is kept; GET /_mock/requests lists all", ask.name));
    let record = found.ok_or_else(unknown)?;
    let answer = record.answer.as_ref().map(|answer| String::from_utf8_lossy(answer));
    json(&One { request: show(record), answer })
}

/// `DELETE /_mock/requests`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    json(&json!({ "forgotten": ask.services.journal.clear() }))
}

fn narrow(ask: &Ask<'_>, parameters: &Parameters<'_>, records: &mut Vec<Arc<Record>>) -> Result<(), Refusal> {
    let service = parameters.get("service").map(|name| service(ask, name)).transpose()?;
    if let Some(service) = service {
        records.retain(|record| record.service == service);
    }
    if let Some(name) = parameters.get("action") {
        let action = Operation::find(service, name).map_err(Refusal::bad)?;
        records.retain(|record| {
            record.service == action.service && record.operation.as_deref() == Some(action.name)
        });
    }
    if let Some(queue) = parameters.get("queue") {
        records.retain(|record| RecordedRequest::of(record).is_some_and(|request| request.is_on(queue)));
    }
    if let Some(bucket) = parameters.get("bucket") {
        records.retain(|record| record.resource.as_ref().and_then(Resource::bucket) == Some(bucket));
    }
    if let Some(topic) = parameters.get("topic") {
        records.retain(|record| record.resource.as_ref().and_then(Resource::topic) == Some(topic));
    }
    if let Some(text) = parameters.get(MATCHING) {
        let text = text.to_lowercase();
        records.retain(|record| matches(record, &text));
    }
    if let Some(text) = parameters.get("status") {
        let status = status(text)?;
        records.retain(|record| record.ending.status() == status);
    }
    Ok(())
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

fn show(record: &Arc<Record>) -> Shown<'_> {
    let details = details(record);
    Shown {
        number: record.number,
        service: record.service,
        id: &record.request_id,
        time: record.time,
        action: record.operation.as_deref(),
        status: record.ending.status(),
        warnings: &record.warnings,
        elapsed_us: record.elapsed.as_micros(),
        details,
    }
}

fn details(record: &Arc<Record>) -> Details<'_> {
    let account = record.caller.as_ref().map(|caller| &*caller.account);
    let region = record.caller.as_ref().map(|caller| &*caller.region);
    let error = record.ending.error_code().map(ErrorCode::shape);
    let content = || String::from_utf8_lossy(record.content()).into_owned();
    if let Some(request) = RecordedRequest::of(record) {
        return Details::Sqs {
            protocol: match request.protocol() {
                Protocol::AwsJson => "json",
                Protocol::Query => "query",
            },
            queue: request.queue().map(|queue| queue.name.into()),
            account,
            region,
            error,
            content: content(),
        };
    }
    let resource = record.resource.as_ref();
    if record.service == ServiceName::S3 {
        return Details::S3 {
            bucket: resource.and_then(Resource::bucket),
            key: resource.and_then(Resource::key),
        };
    }
    Details::Form { topic: resource.and_then(Resource::topic), account, region, error, content: content() }
}

/// Parses the name of a service that this server runs.
fn service(ask: &Ask<'_>, name: &str) -> Result<ServiceName, Refusal> {
    match ServiceName::ALL.into_iter().find(|service| service.as_str() == name) {
        Some(ServiceName::S3) if !ask.services.has_s3() => {
            Err(Refusal::not_found("this server has no S3; --with-s3 DIR starts it"))
        }
        Some(ServiceName::Sns | ServiceName::Sts) if !cfg!(feature = "sns") => {
            Err(Refusal::not_found(format!("this build has no {name}; it requires the cargo feature `sns`")))
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
