//! The texts that subscribers get: notifications and requests for confirmation.

use std::fmt::Write as _;

use serde_json::Value;

use super::arn::SubscriptionArn;
use super::fifo::Receipt;
use super::message::Message;
use super::protocol::Protocol;
use crate::service::arn::TopicArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sns::signing::{certificate_url, sign};

/// What all texts about one message have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) topic: &'a TopicArn,
    pub(crate) time: Timestamp,
    /// The URL of this server, for links.
    pub(crate) base_url: &'a str,
    pub(crate) signature_version: &'a str,
}

/// A notification, except for the link to unsubscribe. All subscribers share its signature, which takes longer than the
/// rest of a delivery.
#[derive(Clone, Debug)]
pub(crate) struct Notification {
    base_url: String,
    /// The lines before the link.
    head: Vec<String>,
    attributes: Option<String>,
}

impl Notification {
    /// The text for a subscriber.
    pub(crate) fn text(&self, subscription: &SubscriptionArn) -> String {
        let url = format!("{}/?Action=Unsubscribe&SubscriptionArn={subscription}", self.base_url);
        let link = line(&("UnsubscribeURL", &url));
        let lines = self.head.iter().chain([&link]).chain(&self.attributes);
        object(lines.map(String::as_str))
    }
}

/// A field with its value.
type Field<'a> = (&'static str, &'a str);

impl Envelope<'_> {
    /// The notification for the subscribers of one protocol. FIFO topics do not sign.
    pub(crate) fn notification(
        &self,
        protocol: Protocol,
        receipt: Receipt,
        message: &Message,
    ) -> Notification {
        let (id, topic, time) = (receipt.id.to_string(), self.topic.to_string(), self.time.to_string());
        let (text, subject) = (message.text(protocol), message.subject.as_deref());
        let sequence_number = receipt.sequence_number.map(|number| number.to_string());
        let mut fields = vec![("Type", "Notification"), ("MessageId", &*id)];
        fields.extend(sequence_number.as_deref().map(|number| ("SequenceNumber", number)));
        fields.push(("TopicArn", &topic));
        fields.extend(subject.map(|subject| ("Subject", subject)));
        fields.extend([("Message", text), ("Timestamp", &*time)]);
        let mut head: Vec<_> = fields.iter().map(line).collect();
        if !self.topic.is_fifo() {
            head.extend(self.signature(fields));
        }
        Notification { base_url: self.base_url.to_owned(), head, attributes: attributes(message) }
    }

    /// The request to confirm a subscription.
    pub(crate) fn confirmation(&self, id: Uuid, token: &str) -> String {
        let (id, topic, time) = (id.to_string(), self.topic.to_string(), self.time.to_string());
        let url = self.confirmation_url(token);
        let text = format!(
            "You have chosen to subscribe to the topic {topic}.\nTo confirm the subscription, visit the SubscribeURL \
             included in this message."
        );
        let fields = vec![
            ("Type", "SubscriptionConfirmation"),
            ("MessageId", &*id),
            ("Token", token),
            ("TopicArn", &topic),
            ("Message", &text),
            ("SubscribeURL", &url),
            ("Timestamp", &time),
        ];
        let lines: Vec<_> = fields.iter().map(line).chain(self.signature(fields.clone())).collect();
        object(lines.iter().map(String::as_str))
    }

    /// The link that confirms a subscription.
    pub(crate) fn confirmation_url(&self, token: &str) -> String {
        format!("{}/?Action=ConfirmSubscription&TopicArn={}&Token={token}", self.base_url, self.topic)
    }

    /// The lines with the signature of these fields, which covers them in the order of their names.
    fn signature(&self, mut fields: Vec<Field<'_>>) -> [String; 3] {
        fields.sort_unstable();
        let text: String = fields.iter().flat_map(|(name, value)| [name, "\n", value, "\n"]).collect();
        let (signature, url) = (sign(&text, self.signature_version), certificate_url(self.base_url));
        let version = ("SignatureVersion", self.signature_version);
        [version, ("Signature", &signature), ("SigningCertURL", &url)].map(|field| line(&field))
    }
}

/// Writes a field like AWS: indented by two, with a space on both sides of the colon.
fn line((name, value): &Field<'_>) -> String {
    format!("  \"{name}\" : {}", quoted(value))
}

fn object<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let lines: Vec<_> = lines.collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// The attributes, sorted by name; `None` without any.
fn attributes(message: &Message) -> Option<String> {
    let mut sorted: Vec<_> = message.attributes.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let mut text = String::new();
    for (name, value) in sorted {
        let encoded =
            value.binary_value().map(|bytes| base64_simd::STANDARD.encode_to_string(bytes.as_ref()));
        let shown = encoded.as_deref().or(value.string_value()).unwrap_or_default();
        let comma = if text.is_empty() { "" } else { ",\n" };
        let (name, data_type, shown) = (quoted(name), quoted(value.data_type()), quoted(shown));
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{comma}    {name} : {{\"Type\":{data_type},\"Value\":{shown}}}");
    }
    (!text.is_empty()).then(|| format!("  \"MessageAttributes\" : {{\n{text}\n  }}"))
}

/// A JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;
