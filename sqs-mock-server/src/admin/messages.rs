//! Messages over HTTP, without receiving them.
//!
//! `LocalStack` has a path that shows them in the format of `ReceiveMessage`:
//! ```text
//! curl 'http://localhost:9324/_aws/sqs/messages?QueueUrl=http://localhost:9324/000000000000/orders&ShowInvisible=true'
//! aws --endpoint-url http://localhost:9324/_aws/sqs/messages sqs receive-message --queue-url ..
//! ```
//! The parameters are in the URL, in a form, or in AWS JSON. All other parameters of `ReceiveMessage` are ignored. The
//! response is that of `ReceiveMessage` in the protocol of the request: XML, or JSON if the request accepts it.
//!
//! Source: <https://docs.localstack.cloud/aws/services/sqs/>

use serde::Deserialize;
use serde_json::{Value, json};
use sqs_client::operation::receive_message::ReceiveMessage;
use sqs_client::wire::protocol::{Detected, Form, Protocol};

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, truth};
use super::queues::{queue_in_parameters, unknown};
use crate::http::form_text;
use crate::service::caller::Caller;
use crate::sqs::front::{self as respond, Style};
use crate::sqs::ops::{Kinds, PeekedMessage, Visibility, fitting};

/// `GET /_mock/messages`.
pub(super) fn peek(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let kinds = kinds(ask.parameters.get("state"))?;
    let arn = queue_in_parameters(ask)?;
    let total = kinds.count(ask.sqs().counts(&arn).ok_or_else(|| unknown(&arn))?);
    let peeked = ask.sqs().peek_at(&arn, (page.skip, page.limit), |visibility| kinds.include(visibility));
    let peeked = peeked.ok_or_else(|| unknown(&arn))?;
    let fitting = fitting(&peeked);
    let mut part = page.part("messages", total, peeked.iter().take(fitting).map(message));
    if fitting < peeked.len() {
        part["next"] = json!(page.skip + fitting);
    }
    part["queue"] = json!(arn);
    json(&part)
}

/// `DELETE /_mock/messages/{name}`.
pub(super) fn remove(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_parameters(ask)?;
    let id = ask.name.parse().map_err(|_| Refusal::bad(format!("{:?} is not a message id", ask.name)))?;
    match ask.sqs().discard(&arn, id) {
        Some(true) => json(&json!({ "deleted": true })),
        Some(false) => Err(Refusal::not_found(format!("{arn} has no message {id}"))),
        None => Err(unknown(&arn)),
    }
}

/// The messages of one of the three counts, or all.
fn kinds(state: Option<&str>) -> Result<Kinds, Refusal> {
    match state {
        None => Ok(Kinds { available: true, in_flight: true, delayed: true }),
        Some("available") => Ok(Kinds { available: true, ..Kinds::default() }),
        Some("in_flight") => Ok(Kinds { in_flight: true, ..Kinds::default() }),
        Some("delayed") => Ok(Kinds { delayed: true, ..Kinds::default() }),
        Some(other) => {
            Err(Refusal::bad(format!("state must be available, in_flight or delayed, not {other:?}")))
        }
    }
}

/// Fields that only some messages have are absent in the others.
fn message(peeked: &PeekedMessage) -> Value {
    let (state, until, by) = match peeked.visibility {
        Visibility::Visible => ("visible", None, None),
        Visibility::BeyondWindow => ("beyond_window", None, None),
        Visibility::DelayedUntil(until) => ("delayed", Some(until), None),
        Visibility::InFlightUntil(until) => ("in_flight", Some(until), None),
        Visibility::GroupLockedBy { id, until } => ("group_locked", Some(until), Some(id)),
    };
    let mut shown = json!({
        "id": peeked.id,
        "body": peeked.body(),
        "attributes": peeked.payload.attributes(),
        "state": state,
        "until": until,
        "by": by,
        "receive_count": peeked.receive_count,
        "sent": peeked.sent,
        "sender": &*peeked.payload.sender,
        "group": peeked.group.as_deref(),
        "deduplication_id": peeked.deduplication_id.as_deref(),
        "sequence_number": peeked.sequence_number,
        "dead_letter_source": peeked.dead_letter_source.as_deref(),
    });
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shown["first_received"] = json!(peeked.first_received);
    shown
}

/// The parameters of `/_aws/sqs/messages`, as in AWS JSON.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Asked {
    queue_url: Option<String>,
    show_invisible: bool,
    show_delayed: bool,
}

/// `GET` and `POST /_aws/sqs/messages`.
pub(super) fn as_received(ask: &Ask<'_>) -> Answered {
    let detected = Detected::from_headers(&ask.head.headers);
    let style = Style::of(&detected, ask.head);
    let asked = match style.protocol {
        Protocol::AwsJson => ask.content()?,
        Protocol::Query => from_form(ask)?,
    };
    let service = ask.sqs();
    let context = ask.services.sqs.context(ask.head, Caller::of(ask.head), style.protocol);
    let kinds = Kinds { available: true, in_flight: asked.show_invisible, delayed: asked.show_delayed };
    let url = asked.queue_url.filter(|url| !url.is_empty());
    let url = url.ok_or_else(|| Refusal::bad("QueueUrl is missing"))?;
    let request_id = service.request_id();
    let encoded = service
        .peek_as_received(&context, Some(url), kinds)
        .and_then(|output| style.output::<ReceiveMessage>(&output, &request_id));
    Ok(match encoded {
        Ok(encoded) => respond::answer(encoded),
        Err(error) => respond::refuse(style, &error, &request_id),
    })
}

fn from_form(ask: &Ask<'_>) -> Result<Asked, Refusal> {
    let text = form_text(ask.head, ask.body);
    let form = Form::parse(&text).map_err(|error| Refusal::bad(error.to_string()))?;
    let flag = |name: &str| form.get(name).map_or(Ok(false), |text| truth(name, text));
    Ok(Asked {
        queue_url: form.get("QueueUrl").map(str::to_owned),
        show_invisible: flag("ShowInvisible")?,
        show_delayed: flag("ShowDelayed")?,
    })
}
