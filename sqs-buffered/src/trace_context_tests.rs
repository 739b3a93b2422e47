use opentelemetry::propagation::text_map_propagator::FieldIter;

use sqs_client::wire::limits::MAX_MESSAGE_BYTES;

use super::*;

/// Writes fixed fields.
#[derive(Debug)]
struct Fixed {
    names: Vec<String>,
    values: Vec<&'static str>,
}

impl Fixed {
    fn new(fields: &[(&str, &'static str)]) -> Self {
        let names = fields.iter().map(|(name, _)| (*name).to_owned()).collect();
        Self { names, values: fields.iter().map(|(_, value)| *value).collect() }
    }
}

impl TextMapPropagator for Fixed {
    fn inject_context(&self, _: &Context, injector: &mut dyn Injector) {
        for (name, value) in self.names.iter().zip(&self.values) {
            injector.set(name, (*value).to_owned());
        }
    }

    fn extract_with_context(&self, context: &Context, _: &dyn Extractor) -> Context {
        context.clone()
    }

    fn fields(&self) -> FieldIter<'_> {
        FieldIter::new(&self.names)
    }
}

fn message(body: &str, attributes: &[&str]) -> SendMessageBatchRequestEntry {
    let mut message = SendMessageBatchRequestEntry::default();
    message.message_body = body.to_owned();
    let own = |name: &&str| ((*name).to_owned(), MessageAttributeValue::string("own"));
    message.message_attributes = (!attributes.is_empty()).then(|| attributes.iter().map(own).collect());
    message
}

/// The attributes of a message after the injection, with their values.
fn injected(
    fields: &[(&str, &'static str)],
    mut message: SendMessageBatchRequestEntry,
    max_bytes: usize,
) -> Vec<(String, String)> {
    inject_context(&Fixed::new(fields), &Context::new(), &mut message, max_bytes);
    let attributes = message.message_attributes.unwrap_or_default();
    let mut attributes: Vec<_> =
        attributes.into_iter().map(|(name, value)| (name, value.string_value.unwrap())).collect();
    attributes.sort();
    attributes
}

const W3C: &[(&str, &str)] = &[("traceparent", "00-1-2-01"), ("tracestate", "a=b")];
/// 11 + 6 + 9 and 10 + 6 + 3 bytes.
const W3C_BYTES: usize = 45;
const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

#[test]
fn fields_become_attributes_of_type_string_and_empty_ones_are_left_out() {
    let mut message = message("tea", &["own"]);
    let fields = Fixed::new(&[("traceparent", "00-1-2-01"), ("tracestate", "")]);
    inject_context(&fields, &Context::new(), &mut message, MAX_MESSAGE_BYTES);
    let attributes = message.message_attributes.unwrap();
    assert_eq!(attributes["traceparent"], MessageAttributeValue::string("00-1-2-01"));
    assert_eq!(attributes.len(), 2);
}

#[test]
fn all_fields_are_injected_or_none_when_attributes_run_out() {
    for (own, expected) in [(7, 9), (8, 8), (9, 9), (10, 10)] {
        let attributes = injected(W3C, message("tea", &NAMES[..own]), MAX_MESSAGE_BYTES);
        assert_eq!(attributes.len(), expected, "{own} own attributes");
    }
}

#[test]
fn message_that_would_become_too_large_stays_unchanged() {
    assert_eq!(injected(W3C, message("tea", &[]), 3 + W3C_BYTES).len(), 2);
    assert_eq!(injected(W3C, message("tea", &[]), 2 + W3C_BYTES), []);
}

#[test]
fn fields_of_a_message_are_kept_and_not_mixed_with_others() {
    for own in ["traceparent", "TraceState"] {
        let attributes = injected(W3C, message("tea", &[own]), MAX_MESSAGE_BYTES);
        assert_eq!(attributes, [(own.to_owned(), "own".to_owned())]);
    }
    let only_parent = &[("traceparent", "00-1-2-01"), ("tracestate", "")];
    assert_eq!(injected(only_parent, message("tea", &["tracestate"]), MAX_MESSAGE_BYTES).len(), 1);
}

#[test]
fn fields_that_sqs_would_refuse_are_not_injected() {
    for field in [("aws.trace", "1"), ("b 3", "1"), ("b3", "\u{1}")] {
        assert_eq!(injected(&[field], message("tea", &[]), MAX_MESSAGE_BYTES), [], "{field:?}");
    }
}

#[test]
fn xray_field_becomes_the_system_attribute_unless_there_is_one() {
    let mut full = message("tea", &NAMES);
    let fields = Fixed::new(&[("X-Amzn-Trace-Id", "Root=1-a-b;Sampled=1")]);
    inject_context(&fields, &Context::new(), &mut full, 3);
    let header = |message: &SendMessageBatchRequestEntry| {
        let system = message.message_system_attributes.clone().unwrap();
        system[&MessageSystemAttributeNameForSends::AwsTraceHeader].clone()
    };
    assert_eq!(header(&full).string_value.as_deref(), Some("Root=1-a-b;Sampled=1"));
    assert_eq!((&*header(&full).data_type, full.message_attributes.as_ref().unwrap().len()), ("String", 10));
    inject_context(&Fixed::new(&[(XRAY, "Root=other")]), &Context::new(), &mut full, 3);
    assert_eq!(header(&full).string_value.as_deref(), Some("Root=1-a-b;Sampled=1"), "the first stays");
}

#[test]
fn fields_are_read_whatever_their_case_and_the_header_by_its_field() {
    let mut received = Message::default();
    received.attributes =
        Some(HashMap::from([(MessageSystemAttributeName::AwsTraceHeader, "Root=1".to_owned())]));
    let attribute = |name: &str, value| (name.to_owned(), value);
    received.message_attributes = Some(HashMap::from([
        attribute("TraceParent", MessageAttributeValue::string("00-1-2-01")),
        attribute("baggage", MessageAttributeValue::binary([1])),
    ]));
    let fields = Fields::of_message(&received);
    assert_eq!(fields.get("traceparent"), Some("00-1-2-01"));
    assert_eq!((fields.get("x-amzn-trace-id"), fields.get("baggage")), (Some("Root=1"), None));
    assert_eq!(fields.keys().len(), 2);
}
