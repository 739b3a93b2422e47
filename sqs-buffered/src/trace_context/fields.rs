//! The fields of a propagator as attributes of a message.

use std::collections::HashMap;

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use sqs_client::types::{
    Message, MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::message_size;
use sqs_client::wire::limits::{MAX_MESSAGE_ATTRIBUTES, MAX_MESSAGE_BYTES};
use sqs_client::wire::validate::attribute;

/// The field of the propagator for AWS X-Ray, which SQS has a system attribute for.
const XRAY: &str = "x-amzn-trace-id";

/// The fields that a propagator reads.
pub(crate) struct Fields<'m>(Vec<(&'m str, &'m str)>);

impl<'m> Fields<'m> {
    pub(crate) fn of_message(message: &'m Message) -> Self {
        let header =
            message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::AwsTraceHeader));
        let attributes = message.message_attributes().into_iter().flatten();
        let texts = attributes.filter_map(|(name, value)| Some((name.as_str(), value.string_value()?)));
        Self::new(header.map(String::as_str), texts)
    }

    /// `header` is the system attribute `AWSTraceHeader`.
    pub(crate) fn new(header: Option<&'m str>, texts: impl Iterator<Item = (&'m str, &'m str)>) -> Self {
        Self(header.map(|header| (XRAY, header)).into_iter().chain(texts).collect())
    }
}

impl Extractor for Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| *value)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }
}

/// The fields that a propagator writes.
#[derive(Default)]
struct Injected {
    header: Option<String>,
    attributes: HashMap<String, MessageAttributeValue>,
}

impl Injector for Injected {
    fn set(&mut self, key: &str, value: String) {
        if value.is_empty() {
            // For example a `tracestate` without members, which SQS would refuse.
        } else if key.eq_ignore_ascii_case(XRAY) {
            self.header = Some(value);
        } else {
            self.attributes.insert(key.to_owned(), MessageAttributeValue::string(value));
        }
    }
}

/// Injects a context into a message of at most this many bytes.
pub(super) fn inject(
    propagator: &dyn TextMapPropagator,
    context: &Context,
    message: &mut SendMessageBatchRequestEntry,
    max_bytes: usize,
) {
    let mut injected = Injected::default();
    propagator.inject_context(context, &mut injected);
    if let Some(header) = injected.header {
        let mut value = MessageSystemAttributeValue::default();
        value.data_type.push_str("String");
        value.string_value = Some(header);
        let system = message.message_system_attributes.get_or_insert_default();
        system.entry(MessageSystemAttributeNameForSends::AwsTraceHeader).or_insert(value);
    }
    if injected.attributes.is_empty() {
        return;
    }
    if let Some(reason) = obstacle(propagator, message, &injected.attributes, max_bytes) {
        return tracing::debug!(reason, "a message is sent without trace context");
    }
    message.message_attributes.get_or_insert_default().extend(injected.attributes);
}

/// Why a message cannot have these additional attributes.
fn obstacle(
    propagator: &dyn TextMapPropagator,
    message: &SendMessageBatchRequestEntry,
    injected: &HashMap<String, MessageAttributeValue>,
    max_bytes: usize,
) -> Option<&'static str> {
    let own = message.message_attributes.as_ref();
    let has = |field: &str| own.is_some_and(|own| own.keys().any(|name| name.eq_ignore_ascii_case(field)));
    // If bodies are stored elsewhere, the client below adds an attribute.
    let reserved = usize::from(max_bytes > MAX_MESSAGE_BYTES);
    let attributes = own.map_or(0, HashMap::len) + injected.len();
    let size = message_size(&message.message_body, own) + message_size("", Some(injected));
    if propagator.fields().any(has) || injected.keys().any(|name| has(name)) {
        Some("it has some already")
    } else if attributes + reserved > MAX_MESSAGE_ATTRIBUTES {
        Some("it would have too many attributes")
    } else if size > max_bytes {
        Some("it would be too large")
    } else if attribute::message_attributes(injected).is_err() {
        Some("SQS would refuse an attribute")
    } else {
        None
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
