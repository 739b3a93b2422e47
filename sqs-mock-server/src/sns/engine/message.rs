//! Messages of publishers, and batches of them.
//!
//! Rules for message attributes.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html>

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::message_size;
use sqs_client::wire::validate::message::token;

use crate::control::arn::TopicArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::query::QueryError;
use crate::sns::engine::subscription::Protocol;
use crate::sns::engine::topic::Receipt;
use crate::sns::engine::{SubscriptionArn, invalid, invalid_value};
use crate::sns::signing::{certificate_url, sign};

const MAX_SUBJECT: usize = 100;

pub(crate) const MAX_ENTRIES: usize = 10;

const MAX_ENTRY_ID: usize = 80;

/// A message of a request, before it is validated.
#[derive(Debug, Default)]
pub(crate) struct Draft<'a> {
    pub(crate) text: &'a str,
    pub(crate) subject: Option<&'a str>,
    /// `MessageStructure`.
    pub(crate) structure: Option<&'a str>,
    pub(crate) attributes: HashMap<String, MessageAttributeValue>,
    pub(crate) group: Option<&'a str>,
    pub(crate) deduplication_id: Option<&'a str>,
}

/// A valid message.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// For protocols without their own.
    pub(crate) text: String,
    /// The texts of protocols that have their own.
    by_protocol: BTreeMap<String, String>,
    /// The JSON that has the texts of all protocols, if the message has such a structure.
    document: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) attributes: HashMap<String, MessageAttributeValue>,
    pub(crate) group: Option<String>,
    pub(crate) deduplication_id: Option<String>,
    /// In bytes, as SNS counts it.
    pub(crate) size: usize,
}

impl Message {
    /// Validates a message by the rules that do not depend on the topic.
    ///
    /// # Errors
    /// `InvalidParameter`, and `ParameterValueInvalid` for an attribute.
    pub(crate) fn new(draft: Draft<'_>) -> Result<Self, QueryError> {
        let Draft { text, subject, structure, attributes, group, deduplication_id } = draft;
        if text.is_empty() {
            return Err(invalid("Empty message"));
        }
        if subject.is_some_and(|subject| !is_subject(subject)) {
            return Err(invalid("Subject"));
        }
        validate(&attributes)?;
        for (parameter, id) in [("MessageGroupId", group), ("MessageDeduplicationId", deduplication_id)] {
            let checked = token(parameter, id);
            checked.map_err(|error| {
                invalid(format_args!("{parameter} Reason: {}", error.message.unwrap_or_default()))
            })?;
        }
        let size = message_size(text, Some(&attributes));
        let document = structure.map(|_| text.to_owned());
        let (text, by_protocol) = texts(text, structure)?;
        Ok(Self {
            text,
            by_protocol,
            document,
            subject: subject.map(str::to_owned),
            attributes,
            group: group.map(str::to_owned),
            deduplication_id: deduplication_id.map(str::to_owned),
            size,
        })
    }

    /// The text for subscribers with this protocol.
    pub(crate) fn text(&self, protocol: Protocol) -> &str {
        self.by_protocol.get(protocol.into_str()).unwrap_or(&self.text)
    }

    /// The whole text as published, which content-based deduplication compares.
    pub(crate) fn content(&self) -> &str {
        self.document.as_deref().unwrap_or(&self.text)
    }
}

/// UTF-8 text without line breaks and control characters, less than 100 characters.
fn is_subject(subject: &str) -> bool {
    let is_illegal = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    (1..MAX_SUBJECT).contains(&subject.chars().count()) && !subject.contains(is_illegal)
}

/// The default text, and those of protocols that have their own.
fn texts(text: &str, structure: Option<&str>) -> Result<(String, BTreeMap<String, String>), QueryError> {
    match structure {
        None => return Ok((text.to_owned(), BTreeMap::new())),
        Some("json") => {}
        Some(_) => return Err(invalid("MessageStructure")),
    }
    let parsed = serde_json::from_str(text);
    let Ok(Value::Object(members)) = parsed else {
        return Err(invalid("Message Structure - JSON message body failed to parse"));
    };
    let strings = members.into_iter().filter_map(|(key, value)| match value {
        Value::String(text) => Some((key, text)),
        _ => None,
    });
    let mut strings: BTreeMap<_, _> = strings.collect();
    let default = strings.remove("default");
    let default =
        default.ok_or_else(|| invalid("Message Structure - No default entry in JSON message body"))?;
    Ok((default, strings))
}

/// Validates the ids of a batch. A fault of one entry fails the whole request.
///
/// # Errors
/// `EmptyBatchRequest`, `TooManyEntriesInBatchRequest`, `BatchEntryIdsNotDistinct` or `InvalidBatchEntryId`.
pub(crate) fn check_batch_ids(ids: &[&str]) -> Result<(), QueryError> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let distinct: HashSet<_> = ids.iter().collect();
    let (code, text) = if ids.is_empty() {
        ("EmptyBatchRequest", "The batch request doesn't contain any entries.".to_owned())
    } else if ids.len() > MAX_ENTRIES {
        let text = "The batch request contains more entries than permissible.";
        ("TooManyEntriesInBatchRequest", text.to_owned())
    } else if distinct.len() < ids.len() {
        let text = "Two or more batch entries in the request have the same Id.";
        ("BatchEntryIdsNotDistinct", text.to_owned())
    } else if let Some(id) = ids.iter().find(|id| id.is_empty() || !id.bytes().all(is_legal)) {
        let text = "The Id of a batch entry in the batch request contains an impermissible character:";
        ("InvalidBatchEntryId", format!("{text} {id}"))
    } else if let Some(id) = ids.iter().find(|id| id.len() > MAX_ENTRY_ID) {
        ("InvalidBatchEntryId", format!("The Id of a batch entry in the batch request is too long: {id}"))
    } else {
        return Ok(());
    };
    Err(QueryError::new(400, code, text))
}

const MAX_NAME: usize = 256;

/// Validates all attributes of a message. Of several faults, that of the first name in byte order is reported.
///
/// # Errors
/// `ParameterValueInvalid`.
pub(crate) fn validate(attributes: &HashMap<String, MessageAttributeValue>) -> Result<(), QueryError> {
    let faults = attributes.iter().filter_map(|(name, attribute)| {
        let checked = check_name(name).and_then(|()| check_value(name, attribute));
        checked.err().map(|fault| (name, fault))
    });
    let first = faults.min_by_key(|(name, _)| *name);
    first.map_or(Ok(()), |(_, fault)| Err(invalid_value(fault)))
}

fn check_name(name: &str) -> Result<(), String> {
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let text = if name.len() > MAX_NAME {
        "Length of message attribute name must be less than 256 bytes."
    } else if let Some(illegal) = name.chars().find(|letter| !is_legal(*letter)) {
        return Err(format!(
            "Invalid non-alphanumeric character '#x{:X}' was found in the message attribute name. Can only include \
             alphanumeric characters, hyphens, underscores, or dots.",
            u32::from(illegal)
        ));
    } else if name.starts_with('.') {
        "Invalid message attribute name starting with character '.' was found."
    } else if name.ends_with('.') {
        "Invalid message attribute name ending with character '.' was found."
    } else if name.contains("..") {
        "Message attribute name can not have successive '.' character."
    } else {
        return Ok(());
    };
    Err(text.to_owned())
}

fn check_value(name: &str, attribute: &MessageAttributeValue) -> Result<(), String> {
    let data_type = attribute.data_type();
    let text = attribute.string_value().unwrap_or_default();
    let has_bytes = attribute.binary_value().is_some_and(|bytes| !bytes.as_ref().is_empty());
    let wrong_field = |field: &str| {
        format!("The message attribute '{name}' with type '{data_type}' must use field '{field}'.")
    };
    Err(match family(data_type) {
        None => format!(
            "The message attribute '{name}' has an invalid message attribute type, the set of supported type prefixes \
             is Binary, Number, and String."
        ),
        Some("Binary") if !text.is_empty() => wrong_field("Binary"),
        Some("String" | "Number") if has_bytes => wrong_field("String"),
        Some(_) if text.is_empty() && !has_bytes => format!(
            "The message attribute '{name}' must contain non-empty message attribute value for message attribute \
             type '{data_type}'."
        ),
        Some("Number") if !is_number(text) => {
            format!("Could not cast message attribute '{name}' value to number.")
        }
        Some(_) if data_type == "String.Array" && !is_array(text) => {
            format!("The message attribute '{name}' with type 'String.Array' must be a JSON array.")
        }
        Some(_) => return Ok(()),
    })
}

/// The data type without its label. A label has at least one character.
fn family(data_type: &str) -> Option<&str> {
    let (family, label) =
        data_type.split_once('.').map_or((data_type, None), |(family, label)| (family, Some(label)));
    (matches!(family, "String" | "Number" | "Binary") && label != Some("")).then_some(family)
}

fn is_number(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(legal) && text.parse::<f64>().is_ok()
}

/// A JSON array of strings, numbers, booleans and null.
fn is_array(text: &str) -> bool {
    let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
    serde_json::from_str::<Vec<Value>>(text).is_ok_and(|array| array.iter().all(is_scalar))
}

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
        let text = format!(
            "You have chosen to subscribe to the topic {}.\nTo confirm the subscription, visit the SubscribeURL \
             included in this message.",
            self.topic
        );
        self.with_link("SubscriptionConfirmation", id, token, &text)
    }

    /// The message that a subscription was ended.
    pub(crate) fn end(&self, id: Uuid, subscription: &SubscriptionArn, token: &str) -> String {
        let text = format!(
            "You have chosen to deactivate subscription {subscription}.\nTo cancel this operation and restore the \
             subscription, visit the SubscribeURL included in this message."
        );
        self.with_link("UnsubscribeConfirmation", id, token, &text)
    }

    fn with_link(&self, kind: &str, id: Uuid, token: &str, text: &str) -> String {
        let (id, topic, time) = (id.to_string(), self.topic.to_string(), self.time.to_string());
        let url = self.confirmation_url(token);
        let fields = vec![
            ("Type", kind),
            ("MessageId", &*id),
            ("Token", token),
            ("TopicArn", &topic),
            ("Message", text),
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
mod message_tests {
    use super::*;

    /// Contract 2.9.
    #[test]
    fn faults_of_ids_get_the_errors_of_aws() {
        let many: Vec<_> = (0..11).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let long = "a".repeat(81);
        let table: [(&[&str], &str, &str); 5] = [
            (&[], "EmptyBatchRequest", "The batch request doesn't contain any entries."),
            (
                &many,
                "TooManyEntriesInBatchRequest",
                "The batch request contains more entries than permissible.",
            ),
            (
                &["a", "b", "a"],
                "BatchEntryIdsNotDistinct",
                "Two or more batch entries in the request have the same Id.",
            ),
            (
                &["message.id"],
                "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request contains an impermissible character: message.id",
            ),
            (
                &[&long],
                "InvalidBatchEntryId",
                &format!("The Id of a batch entry in the batch request is too long: {long}"),
            ),
        ];
        for (ids, code, text) in table {
            let error = check_batch_ids(ids).unwrap_err();
            assert_eq!((error.status, &*error.code, &*error.message), (400, code, text));
        }
        assert_eq!(check_batch_ids(&["a-b_C1"]), Ok(()));
    }
}

#[cfg(test)]
mod message_attribute_tests {
    //! Contract 2.8.
    use super::*;

    fn of(data_type: &str, text: Option<&str>, bytes: Option<&[u8]>) -> MessageAttributeValue {
        let builder = MessageAttributeValue::builder().data_type(data_type);
        let builder = builder.set_string_value(text.map(str::to_owned));
        builder.set_binary_value(bytes.map(Into::into)).build().unwrap()
    }

    fn fault(name: &str, attribute: MessageAttributeValue) -> Option<String> {
        let checked = validate(&HashMap::from([(name.to_owned(), attribute)]));
        checked.err().map(|error| {
            assert_eq!((error.status, &*error.code), (400, "ParameterValueInvalid"));
            error.message
        })
    }

    #[test]
    fn values_must_be_in_the_field_of_their_type() {
        let text = Some("x");
        let bytes = Some(&b"x"[..]);
        let empty = "must contain non-empty message attribute value for message attribute type";
        let table = [
            ("String", None, None, format!("{empty} 'String'.")),
            ("String", Some(""), None, format!("{empty} 'String'.")),
            ("Binary", None, None, format!("{empty} 'Binary'.")),
            ("String", None, bytes, "with type 'String' must use field 'String'.".to_owned()),
            ("Number", None, bytes, "with type 'Number' must use field 'String'.".to_owned()),
            ("Binary", text, None, "with type 'Binary' must use field 'Binary'.".to_owned()),
        ];
        for (data_type, text, bytes, expected) in table {
            let expected = format!("The message attribute 'attr1' {expected}");
            assert_eq!(fault("attr1", of(data_type, text, bytes)), Some(expected));
        }
        let number = Some("Could not cast message attribute 'price' value to number.".to_owned());
        for text in ["a", "1 2", "inf", "NaN", "0x1"] {
            assert_eq!(fault("price", of("Number", Some(text), None)), number, "{text}");
        }
    }

    #[test]
    fn types_have_one_of_three_prefixes() {
        let expected = "The message attribute 'a' has an invalid message attribute type, the set of supported type \
                    prefixes is Binary, Number, and String.";
        for data_type in ["InvalidType", "String.", "Stringprefixed"] {
            assert_eq!(fault("a", of(data_type, Some("x"), None)).as_deref(), Some(expected), "{data_type}");
        }
        for data_type in ["String", "String.prefixed", "String.  prefixed."] {
            assert_eq!(fault("a", of(data_type, Some("x"), None)), None, "{data_type}");
        }
        assert_eq!(fault("a", of("String.Array", Some(r#"["a",1,true,null]"#), None)), None);
        assert!(fault("a", of("String.Array", Some(r#"[["a"]]"#), None)).is_some());
    }

    #[test]
    fn names_have_letters_digits_and_single_dots() {
        let long = "a".repeat(257);
        let table = [
            (long.as_str(), "Length of message attribute name must be less than 256 bytes."),
            (
                "a^b",
                "Invalid non-alphanumeric character '#x5E' was found in the message attribute name. Can only include \
             alphanumeric characters, hyphens, underscores, or dots.",
            ),
            (".a", "Invalid message attribute name starting with character '.' was found."),
            ("a.", "Invalid message attribute name ending with character '.' was found."),
            ("a..b", "Message attribute name can not have successive '.' character."),
        ];
        for (name, expected) in table {
            assert_eq!(fault(name, of("String", Some("x"), None)).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(fault("a-b_c.d", of("String", Some("x"), None)), None);
    }
}

#[cfg(test)]
mod envelope_tests {
    //! Contract 3.1: the text of notifications.
    use std::collections::HashMap;

    use sqs_client::types::MessageAttributeValue;

    use super::*;
    use crate::control::seed::{Seed, uuid};

    fn envelope(topic: &TopicArn) -> Envelope<'_> {
        Envelope {
            topic,
            time: Timestamp::from_millis(1_613_511_679_978),
            base_url: "http://localhost:9324",
            signature_version: "1",
        }
    }

    fn notification(name: &str, sequence_number: Option<u64>, draft: Draft<'_>) -> (String, String) {
        let topic = TopicArn::new("us-east-1", "000000000000", name);
        let subscription = SubscriptionArn { topic: topic.clone(), id: "s".into() };
        let receipt = Receipt { id: uuid(&mut Seed(1).generator("ids")), sequence_number };
        let message = Message::new(draft).unwrap();
        let text = envelope(&topic).notification(Protocol::Sqs, receipt, &message).text(&subscription);
        (text, receipt.id.to_string())
    }

    #[test]
    fn notification_has_the_fields_and_the_layout_of_aws() {
        let attributes = HashMap::from([
            ("b".to_owned(), MessageAttributeValue::number("99.12")),
            ("a".to_owned(), MessageAttributeValue::string("x")),
            ("c".to_owned(), MessageAttributeValue::binary(*b"\x00\xff")),
        ]);
        let draft = Draft { text: "{\"k\":\n1}", subject: Some("news"), attributes, ..Draft::default() };
        let (text, id) = notification("orders", None, draft);
        let expected = r#"{
  "Type" : "Notification",
  "MessageId" : "ID",
  "TopicArn" : "arn:aws:sns:us-east-1:000000000000:orders",
  "Subject" : "news",
  "Message" : "{\"k\":\n1}",
  "Timestamp" : "2021-02-16T21:41:19.978Z",
  "SignatureVersion" : "1",
  "Signature" : "EXAMPLE",
  "SigningCertURL" : "URL",
  "UnsubscribeURL" : "http://localhost:9324/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:us-east-1:000000000000:orders:s",
  "MessageAttributes" : {
    "a" : {"Type":"String","Value":"x"},
    "b" : {"Type":"Number","Value":"99.12"},
    "c" : {"Type":"Binary","Value":"AP8="}
  }
}"#;
        let parsed: Value = serde_json::from_str(&text).unwrap();
        let signature = parsed["Signature"].as_str().unwrap();
        let expected = expected.replace("ID", &id).replace("EXAMPLE", signature);
        assert_eq!(text, expected.replace("\"URL\"", &quoted(&certificate_url("http://localhost:9324"))));
    }

    #[test]
    fn notification_of_a_fifo_topic_has_a_sequence_number_and_no_signature() {
        let draft = Draft { text: "tea", ..Draft::default() };
        let (text, _) = notification("orders.fifo", Some(10_000_000_000_000_000_001), draft);
        let parsed: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["SequenceNumber"], "10000000000000000001");
        for absent in ["SignatureVersion", "Signature", "SigningCertURL", "Subject", "MessageAttributes"] {
            assert_eq!(parsed.get(absent), None, "{absent}");
        }
    }

    #[test]
    fn signature_covers_the_fields_in_the_order_of_aws() {
        let topic = TopicArn::new("us-east-1", "000000000000", "orders");
        let envelope = Envelope { signature_version: "2", ..envelope(&topic) };
        let id = uuid(&mut Seed(1).generator("ids"));
        let message = Message::new(Draft { text: "tea", subject: Some("news"), ..Draft::default() }).unwrap();
        let notification =
            envelope.notification(Protocol::Sqs, Receipt { id, sequence_number: None }, &message);
        let subscription = SubscriptionArn { topic: topic.clone(), id: "s".into() };
        let parsed: Value = serde_json::from_str(&notification.text(&subscription)).unwrap();
        let signed = format!(
            "Message\ntea\nMessageId\n{id}\nSubject\nnews\nTimestamp\n2021-02-16T21:41:19.978Z\nTopicArn\n{topic}\nType\n\
         Notification\n"
        );
        assert_eq!(parsed["Signature"], sign(&signed, "2"));
        let parsed: Value = serde_json::from_str(&envelope.confirmation(id, "t")).unwrap();
        let url = format!("http://localhost:9324/?Action=ConfirmSubscription&TopicArn={topic}&Token=t");
        assert_eq!(parsed["SubscribeURL"], url);
        let signed = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
            .map(|name| format!("{name}\n{}\n", parsed[name].as_str().unwrap()));
        assert_eq!(parsed["Signature"], sign(&signed.concat(), "2"));
    }
}
