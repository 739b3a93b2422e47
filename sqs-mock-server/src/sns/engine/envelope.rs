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

/// A signature of a text, with the URL of its certificate.
#[derive(Clone, Debug)]
pub(crate) struct Signed {
    pub(crate) signature: String,
    pub(crate) certificate_url: String,
}

/// Signs the texts for subscribers.
pub(crate) trait Signer {
    /// Signs `name\nvalue\n` of the signed fields, with the hash of a signature version: SHA-1 for `1`, SHA-256 for
    /// `2`. `base_url` is the URL of this server.
    fn sign(&self, text: &str, version: &str, base_url: &str) -> Signed;
}

/// What all texts about one message have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'a, S> {
    pub(crate) topic: &'a TopicArn,
    pub(crate) time: Timestamp,
    /// The URL of this server, for links.
    pub(crate) base_url: &'a str,
    pub(crate) signature_version: &'a str,
    pub(crate) signer: &'a S,
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

impl<S: Signer> Envelope<'_, S> {
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
        let signed = || {
            let mut fields = vec![("Message", text), ("MessageId", &*id)];
            fields.extend(subject.map(|subject| ("Subject", subject)));
            fields.extend([("Timestamp", &*time), ("TopicArn", &*topic), ("Type", "Notification")]);
            self.sign(&fields)
        };
        let signed = (!self.topic.is_fifo()).then(signed);
        if let Some(signed) = &signed {
            fields.extend(self.signature(signed));
        }
        Notification {
            base_url: self.base_url.to_owned(),
            head: fields.iter().map(line).collect(),
            attributes: attributes(message),
        }
    }

    /// The request to confirm a subscription.
    pub(crate) fn confirmation(&self, id: Uuid, token: &str) -> String {
        let (id, topic, time) = (id.to_string(), self.topic.to_string(), self.time.to_string());
        let url = self.confirmation_url(token);
        let text = format!(
            "You have chosen to subscribe to the topic {topic}.\nTo confirm the subscription, visit the SubscribeURL \
             included in this message."
        );
        let kind = ("Type", "SubscriptionConfirmation");
        let signed = self.sign(&[
            ("Message", &*text),
            ("MessageId", &id),
            ("SubscribeURL", &url),
            ("Timestamp", &time),
            ("Token", token),
            ("TopicArn", &topic),
            kind,
        ]);
        let mut fields = vec![kind, ("MessageId", &*id), ("Token", token), ("TopicArn", &topic)];
        fields.extend([("Message", &*text), ("SubscribeURL", &url), ("Timestamp", &time)]);
        fields.extend(self.signature(&signed));
        let lines: Vec<_> = fields.iter().map(line).collect();
        object(lines.iter().map(String::as_str))
    }

    /// The link that confirms a subscription.
    pub(crate) fn confirmation_url(&self, token: &str) -> String {
        format!("{}/?Action=ConfirmSubscription&TopicArn={}&Token={token}", self.base_url, self.topic)
    }

    fn sign(&self, fields: &[Field<'_>]) -> Signed {
        let mut text = String::new();
        for (name, value) in fields {
            text.extend([name, "\n", value, "\n"]);
        }
        self.signer.sign(&text, self.signature_version, self.base_url)
    }

    fn signature<'s>(&'s self, signed: &'s Signed) -> [Field<'s>; 3] {
        [
            ("SignatureVersion", self.signature_version),
            ("Signature", &signed.signature),
            ("SigningCertURL", &signed.certificate_url),
        ]
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
