//! The `LocalStack` path that shows messages in the format of `ReceiveMessage`, without receiving them.
//!
//! ```text
//! curl 'http://localhost:9324/_aws/sqs/messages?QueueUrl=http://localhost:9324/000000000000/orders&ShowInvisible=true'
//! aws --endpoint-url http://localhost:9324/_aws/sqs/messages sqs receive-message --queue-url ..
//! ```
//! The parameters are in the URL, in a form, or in AWS JSON. All other parameters of `ReceiveMessage` are ignored. The
//! response is that of `ReceiveMessage` in the protocol of the request: XML, or JSON if the request accepts it.
//!
//! Source: <https://docs.localstack.cloud/aws/services/sqs/>

use serde::Deserialize;
use sqs_client::operation::receive_message::ReceiveMessage;
use sqs_client::wire::protocol::{Detected, Form, Protocol};

use super::answer::{Answered, Refusal};
use super::ask::{Ask, truth};
use crate::http::form_text;
use crate::service::caller::Caller;
use crate::sqs::front::{self as respond, Style};
use crate::sqs::ops::Kinds;

/// The parameters in AWS JSON.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Asked {
    queue_url: Option<String>,
    show_invisible: bool,
    show_delayed: bool,
}

/// `GET` and `POST /_aws/sqs/messages`.
pub(super) fn messages(ask: &Ask<'_>) -> Answered {
    let detected = Detected::from_headers(&ask.head.headers);
    let style = Style::of(&detected, ask.head);
    let asked = match style.protocol {
        Protocol::AwsJson => ask.content()?,
        Protocol::Query => from_form(ask)?,
    };
    let service = ask.services.sqs.service();
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
