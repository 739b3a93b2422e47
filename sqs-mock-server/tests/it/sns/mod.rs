//! SNS and STS over real HTTP. Quotes and numbers of sections are of the contract with SNS.

mod config_file;
mod delivery;
mod faults;
mod fifo;
mod filters;
mod handles;
mod hooks;
mod identity;
mod lists;
mod metrics;
mod policies;
mod publish;
mod requests;
mod retries;
mod sdk;
mod signing;
mod subscriptions;
mod topics;
mod wire;

use std::collections::BTreeMap;

use sqs_client::operation::receive_message::builders::ReceiveMessageFluentBuilder;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use sqs_mock_server::{MockSqs, MockSqsBuilder};

use crate::wire::{Answer, FORM, Wire};

const ACCOUNT: &str = "000000000000";

pub(crate) const RAW: (&str, &str) = ("RawMessageDelivery", "true");

/// The header of a request that is signed for a service in a region; signatures are not checked.
pub(crate) fn scope(service: &str, region: &str) -> String {
    format!(
        "authorization: AWS4-HMAC-SHA256 Credential=test/20261123/{region}/{service}/aws4_request, \
         SignedHeaders=host, Signature=0\r\n"
    )
}

/// A form of parameters.
pub(crate) fn form(parameters: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish()
}

/// The parameters of a map of attributes.
fn attributes<'a>(pairs: &[(&'a str, &'a str)]) -> Vec<(String, &'a str)> {
    let numbered = (1..).zip(pairs);
    numbered
        .flat_map(|(number, (key, value))| {
            [
                (format!("Attributes.entry.{number}.key"), *key),
                (format!("Attributes.entry.{number}.value"), *value),
            ]
        })
        .collect()
}

/// A server and a connection to it.
pub(crate) struct Sns {
    pub(crate) server: MockSqs,
    pub(crate) wire: Wire,
    region: &'static str,
}

impl Sns {
    async fn start() -> Self {
        Self::with(MockSqs::builder()).await
    }

    pub(crate) async fn with(builder: MockSqsBuilder) -> Self {
        let server = builder.start().await.expect("a loopback port");
        let wire = Wire::connect(&server).await;
        Self { server, wire, region: "us-east-1" }
    }

    async fn call(&mut self, action: &str, parameters: &[(&str, &str)]) -> Answer {
        let common = [("Action", action), ("Version", "2010-03-31")];
        let body = form(&[&common, parameters].concat());
        let headers = format!("{FORM}{}", scope("sns", self.region));
        self.wire.exchange("POST /", &headers, body.as_bytes()).await
    }

    /// Calls an action that succeeds.
    pub(crate) async fn ask(&mut self, action: &str, parameters: &[(&str, &str)]) -> Answer {
        let answer = self.call(action, parameters).await;
        assert_eq!(answer.status, 200, "{action}: {}", answer.text());
        answer
    }

    /// Calls an action that fails, and returns status, code and text.
    pub(crate) async fn refusal(
        &mut self,
        action: &str,
        parameters: &[(&str, &str)],
    ) -> (u16, String, String) {
        let answer = self.call(action, parameters).await;
        (answer.status, answer.value("Code"), answer.value("Message"))
    }

    pub(crate) async fn topic(&mut self, name: &str, pairs: &[(&str, &str)]) -> String {
        let attributes = attributes(pairs);
        let mut parameters = vec![("Name", name)];
        parameters.extend(attributes.iter().map(|(name, value)| (name.as_str(), *value)));
        self.ask("CreateTopic", &parameters).await.value("TopicArn")
    }

    pub(crate) async fn fifo_topic(&mut self, name: &str) -> String {
        self.topic(name, &[("FifoTopic", "true"), ("ContentBasedDeduplication", "true")]).await
    }

    pub(crate) async fn subscribe(
        &mut self,
        topic: &str,
        (protocol, endpoint): (&str, &str),
        pairs: &[(&str, &str)],
    ) -> String {
        let attributes = attributes(pairs);
        let mut parameters = vec![("TopicArn", topic), ("Protocol", protocol), ("Endpoint", endpoint)];
        parameters.extend(attributes.iter().map(|(name, value)| (name.as_str(), *value)));
        self.ask("Subscribe", &parameters).await.value("SubscriptionArn")
    }

    /// Creates a queue, and subscribes it.
    pub(crate) async fn subscribe_queue(
        &mut self,
        topic: &str,
        name: &str,
        pairs: &[(&str, &str)],
    ) -> String {
        self.queue(name).await;
        self.subscribe(topic, ("sqs", &queue_arn(name)), pairs).await
    }

    pub(crate) async fn queue(&self, name: &str) {
        let mut input = self.server.client().create_queue().queue_name(name);
        if name.ends_with(".fifo") {
            input = input.attributes(QueueAttributeName::FifoQueue, "true");
        }
        input.send().await.expect("a queue");
    }

    pub(crate) async fn publish(&mut self, topic: &str, message: &str) -> String {
        self.ask("Publish", &[("TopicArn", topic), ("Message", message)]).await.value("MessageId")
    }

    pub(crate) async fn publish_to_group(
        &mut self,
        topic: &str,
        group: &str,
        message: &str,
    ) -> (String, String) {
        let parameters = [("TopicArn", topic), ("MessageGroupId", group), ("Message", message)];
        let answer = self.ask("Publish", &parameters).await;
        (answer.value("MessageId"), answer.value("SequenceNumber"))
    }

    /// The notes of the latest request of an action.
    async fn notes(&mut self, action: &str) -> Vec<String> {
        let path = format!("/_mock/requests?service=sns&action={action}");
        let records = self.wire.get(&path).await.content(200);
        let latest = records["requests"].as_array().and_then(|records| records.last()).expect("a request");
        let notes = latest["warnings"].as_array().into_iter().flatten();
        notes.filter_map(|note| note.as_str().map(str::to_owned)).collect()
    }

    /// The messages of a queue, with all attributes.
    async fn receive(&self, queue: &str) -> Vec<Message> {
        let receive: ReceiveMessageFluentBuilder = self.server.client().receive_message();
        let receive = receive.queue_url(self.server.queue_url(queue)).max_number_of_messages(10);
        let receive = receive.message_attribute_names("All");
        let receive = receive.message_system_attribute_names(MessageSystemAttributeName::All);
        receive.send().await.expect("messages").messages.unwrap_or_default()
    }

    pub(crate) async fn bodies(&self, queue: &str) -> Vec<String> {
        self.receive(queue).await.into_iter().filter_map(|message| message.body).collect()
    }
}

impl Answer {
    /// The text of all elements with this name.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let parts = self.text().split(&open).skip(1);
        parts.map(|part| unescaped(part.split(&close).next().unwrap_or_default())).collect()
    }

    /// The text of the first element with this name.
    pub(crate) fn value(&self, name: &str) -> String {
        self.values(name).into_iter().next().unwrap_or_else(|| panic!("no {name} in {}", self.text()))
    }

    /// A map.
    pub(crate) fn entries(&self) -> BTreeMap<String, String> {
        let entry = |entry: &str| {
            let (key, value) = entry.split_once("</key>")?;
            let value = value.strip_prefix("<value>").and_then(|value| value.strip_suffix("</value>"));
            Some((unescaped(key.strip_prefix("<key>")?), unescaped(value.unwrap_or_default())))
        };
        let entries = self.text().split("<entry>").skip(1);
        entries.filter_map(|part| entry(part.split("</entry>").next()?)).collect()
    }
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#xD;", "\r").replace("&amp;", "&")
}

pub(crate) fn queue_arn(name: &str) -> String {
    format!("arn:aws:sqs:us-east-1:{ACCOUNT}:{name}")
}

pub(crate) fn topic_arn(name: &str) -> String {
    format!("arn:aws:sns:us-east-1:{ACCOUNT}:{name}")
}

fn refused(text: &str) -> (u16, String, String) {
    (400, "InvalidParameter".to_owned(), format!("Invalid parameter: {text}"))
}

pub(crate) fn not_found(what: &str) -> (u16, String, String) {
    (404, "NotFound".to_owned(), format!("{what} does not exist"))
}
