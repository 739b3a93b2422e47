//! Replaces bodies of messages by pointers.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};
use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::types::{Message, MessageAttributeValue};
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes, message_size};
use sqs_client::wire::limits::MAX_MESSAGE_ATTRIBUTES;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::{
    Compat, ExtendedHandle, HASH_LABEL, MAX_PAYLOAD_BYTES, Pointer, RESERVED_ATTRIBUTES, RawPointer,
};
use crate::format::sizes::Sizes;

/// The attributes of a message.
pub(crate) type Attributes = HashMap<String, MessageAttributeValue>;

/// Bytes of a UUID as text.
const UUID_BYTES: usize = 36;

/// Hex digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// Writes pointers into messages.
#[derive(Debug)]
pub(crate) struct Envelope {
    bucket: String,
    key_prefix: String,
    compat: Compat,
    /// The size of a pointer as body, plus the name and type of its attribute.
    bytes: usize,
}

fn is_pointer(body: &str, attributes: Option<&Attributes>) -> bool {
    let is_marked =
        attributes.is_some_and(|set| RESERVED_ATTRIBUTES.iter().any(|name| set.contains_key(*name)));
    is_marked && Pointer::from_body(body).is_ok()
}

impl Envelope {
    pub(crate) fn new(bucket: &str, key_prefix: &str, compat: Compat) -> Self {
        let sample = Pointer::new(bucket, format!("{key_prefix}{}", "0".repeat(UUID_BYTES)));
        let body = sample.to_body(compat.class());
        let hash = "0".repeat(HASH_DIGITS);
        let attributes = HashMap::from([(compat.attribute().to_owned(), attribute(0, Some(&hash)))]);
        let bytes = message_size(&body, Some(&attributes)) - 1;
        Self { bucket: bucket.to_owned(), key_prefix: key_prefix.to_owned(), compat, bytes }
    }

    /// The size of a message, and its size with a pointer.
    pub(crate) fn sizes(&self, body: &str, attributes: Option<&Attributes>) -> Sizes {
        let inline = message_size(body, attributes);
        let digits = body.len().checked_ilog10().map_or(1, |digits| digits as usize + 1);
        // An entry that was prepared has its pointer already.
        let is_stored = body.is_empty() || is_pointer(body, attributes);
        let offloaded = (!is_stored).then_some(inline - body.len() + self.bytes + digits);
        let is_feasible = attributes.is_none_or(|attributes| self.check(0, Some(attributes)).is_ok());
        Sizes { inline, offloaded, is_feasible }
    }

    /// The location of a new payload; `name` is a UUID.
    pub(crate) fn address(&self, name: &str) -> Pointer {
        Pointer::new(&self.bucket, format!("{}{name}", self.key_prefix))
    }

    /// Checks that a payload of this size can be stored, and that there is room for the attribute of its pointer.
    pub(crate) fn check(&self, bytes: u64, attributes: Option<&Attributes>) -> Result<(), Error> {
        if bytes > MAX_PAYLOAD_BYTES {
            let text = format!("the payload has {bytes} bytes; at most {MAX_PAYLOAD_BYTES} are allowed");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let Some(attributes) = attributes else { return Ok(()) };
        if let Some(name) = RESERVED_ATTRIBUTES.iter().find(|name| attributes.contains_key(**name)) {
            let text = format!(
                "the attribute name {name:?} is not allowed for a message with a stored payload; reserved are \
                 {RESERVED_ATTRIBUTES:?}"
            );
            return Err(Error::new(ErrorKind::ReservedAttribute, text));
        }
        let most = MAX_MESSAGE_ATTRIBUTES - 1;
        if attributes.len() > most {
            let text = format!(
                "a message with a stored payload may have at most {most} attributes, because {} is added; this one has {}",
                self.compat.attribute(),
                attributes.len()
            );
            return Err(Error::new(ErrorKind::TooManyAttributes, text));
        }
        Ok(())
    }

    /// Adds the attribute for a payload of this length and hash. Returns the body with the pointer.
    pub(crate) fn seal(
        &self,
        pointer: &Pointer,
        bytes: u64,
        sha256: Option<&str>,
        attributes: &mut Option<Attributes>,
    ) -> String {
        let name = self.compat.attribute().to_owned();
        attributes.get_or_insert_default().insert(name, attribute(bytes, sha256));
        self.body(pointer)
    }

    /// The body with a pointer.
    pub(crate) fn body(&self, pointer: &Pointer) -> String {
        pointer.to_body(self.compat.class())
    }
}

fn attribute(bytes: u64, sha256: Option<&str>) -> MessageAttributeValue {
    let mut attribute = MessageAttributeValue::number(bytes);
    if let Some(sha256) = sha256 {
        attribute.data_type = format!("{HASH_LABEL}{sha256}");
    }
    attribute
}

/// A payload in a store.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct PayloadRef {
    pointer: Pointer,
    length: u64,
    sha256: Option<String>,
    is_in_notification: bool,
}

impl PayloadRef {
    pub(crate) fn new(pointer: Pointer, length: u64, sha256: Option<String>) -> Self {
        Self { pointer, length, sha256, is_in_notification: false }
    }

    /// The object.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }

    /// The length in bytes, according to the message.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The SHA-256 of the content in hex, if the message has it: see
    /// [`Payload::without_hash`](crate::payload::upload::Payload::without_hash).
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// Whether the pointer is in an SNS notification. Other queues may have the same pointer.
    pub(crate) fn is_in_notification(&self) -> bool {
        self.is_in_notification
    }
}

/// The pointer in a message, if any.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// No pointer: the body is the payload.
    Inline,
    /// A valid pointer.
    Pointer(PayloadRef),
    /// An invalid pointer, or one to a bucket that is not allowed.
    Unusable(Error),
}

/// Which pointers are followed.
#[derive(Clone, Debug)]
pub(crate) struct PointerRules {
    /// Including the bucket of the store.
    pub(crate) allowed_buckets: BTreeSet<String>,
    /// Whether to search SNS notifications for pointers.
    pub(crate) notifications: bool,
}

impl PointerRules {
    /// Whether a message has a pointer, which may be invalid.
    pub(crate) fn has_pointer(&self, message: &Message) -> bool {
        RawPointer::of(message).is_some() || self.notification(message).is_some()
    }

    /// Parses a message. Without the attribute, no body is a pointer.
    pub(crate) fn find(&self, message: &Message) -> Found {
        let found = if let Some(raw) = RawPointer::of(message) {
            self.parse(raw)
        } else if let Some(notification) = self.notification(message) {
            let payload = self.parse(notification.raw_pointer());
            payload.map(|payload| PayloadRef { is_in_notification: true, ..payload })
        } else {
            return Found::Inline;
        };
        found.map_or_else(Found::Unusable, Found::Pointer)
    }

    fn notification(&self, message: &Message) -> Option<Notification> {
        let body = message.body().filter(|_| self.notifications)?;
        Notification::parse(body)
    }

    fn parse(&self, raw: RawPointer<'_>) -> Result<PayloadRef, Error> {
        let RawPointer { body, name, size, data_type } = raw;
        let pointer = Pointer::from_body(body)?;
        let error = |kind, text: String| Err(Error::new(kind, text).at(&pointer));
        let Ok(length) = size.parse() else {
            let text = format!("the attribute {name} is {size:?}, not a number of bytes");
            return error(ErrorKind::BadPointer, text);
        };
        if !self.allowed_buckets.contains(pointer.bucket()) {
            let (bucket, allowed) = (pointer.bucket(), &self.allowed_buckets);
            let text =
                format!("bucket {bucket:?} is not allowed; allowed are {allowed:?} (see allow_bucket)");
            return error(ErrorKind::ForeignBucket, text);
        }
        // Otherwise the receipt handle would be parsed as that of another object or message.
        if pointer.key().is_empty() || !ExtendedHandle::new(pointer.clone(), "").is_readable() {
            let text = format!("key {:?} does not fit into a receipt handle", pointer.key());
            return error(ErrorKind::BadPointer, text);
        }
        Ok(PayloadRef::new(pointer, length, hash_of(data_type)))
    }
}

/// The hash in the label of a data type.
fn hash_of(data_type: &str) -> Option<String> {
    let hash = data_type.strip_prefix(HASH_LABEL)?;
    (hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| hash.to_owned())
}

/// Sets the body and checksums of the message as it was sent, and removes the attribute of the pointer.
pub(crate) fn restore(message: &mut Message, body: String, md5_of_body: Md5Hex) {
    message.body = Some(body);
    message.md5_of_body = Some(md5_of_body.into());
    if let Some(attributes) = &mut message.message_attributes {
        attributes.retain(|name, _| !RESERVED_ATTRIBUTES.contains(&name.as_str()));
    }
    message.message_attributes.take_if(|attributes| attributes.is_empty());
    let sum = md5_of_attributes(message.message_attributes.iter().flatten());
    message.md5_of_message_attributes = sum.map(Into::into);
}

/// Adds both names, unless they are already requested.
pub(crate) fn request_attributes(input: &mut ReceiveMessageInput) {
    let missing = |names: &[String], reserved: &str| !names.iter().any(|name| covers(name, reserved));
    for reserved in RESERVED_ATTRIBUTES {
        if missing(input.message_attribute_names(), reserved) {
            input.message_attribute_names.get_or_insert_default().push(reserved.to_owned());
        }
    }
}

/// Whether a requested name covers an attribute: `All`, `.*`, `prefix.*`, or the attribute.
fn covers(name: &str, attribute: &str) -> bool {
    let by_prefix = || name.strip_suffix(".*").is_some_and(|prefix| attribute.starts_with(prefix));
    name == "All" || name == attribute || by_prefix()
}

#[cfg(test)]
mod envelope_tests {
    use super::*;

    const UUID: &str = "01234567-89ab-4cde-8f01-23456789abcd";

    #[test]
    fn planned_size_is_the_size_that_is_sent() {
        for compat in [Compat::Modern, Compat::JavaDefault, Compat::Legacy10] {
            let envelope = Envelope::new("bucket", "pre/fix-", compat);
            for length in [1, 9, 10, 99, 100, 262_144, 262_145] {
                let body = "x".repeat(length);
                let own = HashMap::from([("k".to_owned(), MessageAttributeValue::string("v"))]);
                for attributes in [None, Some(own)] {
                    let planned = envelope.sizes(&body, attributes.as_ref());
                    assert_eq!(planned.inline, message_size(&body, attributes.as_ref()));
                    let mut attributes = attributes;
                    let pointer = envelope.address(UUID);
                    let hash = "e3".repeat(32);
                    let sent = envelope.seal(&pointer, length as u64, Some(&hash), &mut attributes);
                    assert_eq!(planned.offloaded, Some(message_size(&sent, attributes.as_ref())));
                }
            }
        }
    }

    #[test]
    fn attributes_that_leave_no_room_are_rejected_with_name_and_number() {
        let envelope = Envelope::new("bucket", "", Compat::Modern);
        let many = |count: usize| -> Attributes {
            (0..count).map(|index| (format!("a{index}"), MessageAttributeValue::number(index))).collect()
        };
        assert!(envelope.check(1, None).is_ok());
        assert!(envelope.check(MAX_PAYLOAD_BYTES, None).is_ok());
        assert_eq!(
            envelope.check(MAX_PAYLOAD_BYTES + 1, None).expect_err("too large").kind(),
            ErrorKind::TooLarge
        );
        assert!(envelope.check(1, Some(&many(9))).is_ok());
        let error = envelope.check(1, Some(&many(10))).expect_err("ten");
        assert_eq!(error.kind(), ErrorKind::TooManyAttributes);
        assert!(error.to_string().contains("at most 9") && error.to_string().contains("has 10"), "{error}");
        for name in RESERVED_ATTRIBUTES {
            let own = HashMap::from([(name.to_owned(), MessageAttributeValue::number(1))]);
            let error = envelope.check(1, Some(&own)).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::ReservedAttribute);
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[cfg(test)]
mod find_tests {
    use sqs_client::types::MessageAttributeValue;

    use super::*;
    use crate::format::pointer::{PointerClass, RESERVED_ATTRIBUTES};

    fn message(body: &str, attribute: Option<(&str, &str)>) -> Message {
        let attributes = attribute.map(|(name, value)| {
            let mut number = MessageAttributeValue::number(0);
            number.string_value = Some(value.to_owned());
            [(name.to_owned(), number)].into()
        });
        Message::builder().body(body).set_message_attributes(attributes).build()
    }

    fn found(body: &str, attribute: Option<(&str, &str)>) -> Found {
        let allowed_buckets = BTreeSet::from(["own".to_owned(), "other".to_owned()]);
        PointerRules { allowed_buckets, notifications: false }.find(&message(body, attribute))
    }

    fn body(bucket: &str, key: &str) -> String {
        Pointer::new(bucket, key).to_body(PointerClass::Modern)
    }

    #[test]
    fn body_without_the_attribute_is_never_a_pointer() {
        assert!(matches!(found(&body("own", "k"), None), Found::Inline));
        assert!(matches!(found(&body("own", "k"), Some(("color", "5"))), Found::Inline));
    }

    #[test]
    fn both_attribute_names_are_recognised() {
        for name in RESERVED_ATTRIBUTES {
            for bucket in ["own", "other"] {
                let Found::Pointer(payload) = found(&body(bucket, "k"), Some((name, "17"))) else {
                    panic!("{name}")
                };
                assert_eq!(payload, PayloadRef::new(Pointer::new(bucket, "k"), 17, None));
            }
        }
    }

    #[test]
    fn invalid_pointer_is_rejected_with_the_reason() {
        let table = [
            ("hello".to_owned(), "5", ErrorKind::BadPointer, "not a pointer"),
            (String::new(), "0", ErrorKind::BadPointer, "not a pointer"),
            (r#"["x.Y",{"s3BucketName":"own","s3Key":"k"}]"#.to_owned(), "5", ErrorKind::BadPointer, "x.Y"),
            (body("own", "k"), "-1", ErrorKind::BadPointer, "not a number of bytes"),
            (body("own", "k"), "many", ErrorKind::BadPointer, "not a number of bytes"),
            (body("own", ""), "5", ErrorKind::BadPointer, "key"),
            (body("own", "a-..s3Key..-b"), "5", ErrorKind::BadPointer, "key"),
            (body("foreign", "k"), "5", ErrorKind::ForeignBucket, "foreign"),
        ];
        for (body, size, kind, text) in table {
            let Found::Unusable(error) = found(&body, Some(("ExtendedPayloadSize", size))) else {
                panic!("{body}")
            };
            assert_eq!(error.kind(), kind, "{body}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}

#[cfg(test)]
mod request_attributes_tests {
    use super::*;

    fn requested(names: &[&str]) -> Vec<String> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let input = ReceiveMessageInput::builder().set_message_attribute_names(Some(names));
        let mut input = input.build().expect("complete");
        request_attributes(&mut input);
        input.message_attribute_names.unwrap_or_default()
    }

    #[test]
    fn both_names_are_requested_once() {
        let both = ["ExtendedPayloadSize", "SQSLargePayloadSize"];
        assert_eq!(requested(&[]), both);
        assert_eq!(requested(&["color"]), ["color", both[0], both[1]]);
        assert_eq!(requested(&["SQSLargePayloadSize"]), [both[1], both[0]]);
        assert_eq!(requested(&["All"]), ["All"]);
        assert_eq!(requested(&[".*"]), [".*"]);
        assert_eq!(requested(&["Extended.*"]), ["Extended.*", both[1]]);
        assert_eq!(requested(&["color.*"]), ["color.*", both[0], both[1]]);
    }
}

const MESSAGE: &str = "Message";

const ATTRIBUTES: &str = "MessageAttributes";

/// A notification of SNS whose message is a pointer: without raw message delivery, the body of a message is JSON with the
/// published message inside.
///
/// Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html>
pub(crate) struct Notification(Map<String, Value>);

impl Notification {
    /// `None` unless the body is a notification whose message has the attribute of a pointer.
    pub(crate) fn parse(body: &str) -> Option<Self> {
        // Most bodies are not notifications. This check avoids parsing them.
        let may_be = body.trim_start().starts_with('{')
            && RESERVED_ATTRIBUTES.iter().any(|name| body.contains(name))
            && body.contains("\"Notification\"");
        let members: Map<String, Value> = may_be.then(|| serde_json::from_str(body).ok())??;
        let notification = Self(members);
        let is_one = notification.0.get("Type").and_then(Value::as_str) == Some("Notification");
        (is_one && notification.attribute().is_some() && notification.0.get(MESSAGE)?.is_string())
            .then_some(notification)
    }

    pub(crate) fn raw_pointer(&self) -> RawPointer<'_> {
        let (name, attribute) = self.attribute().unwrap_or_default();
        let text = |member: &str| attribute.and_then(|it| it.get(member)?.as_str()).unwrap_or_default();
        let body = self.0.get(MESSAGE).and_then(Value::as_str).unwrap_or_default();
        RawPointer { body, name, size: text("Value"), data_type: text("Type") }
    }

    /// The notification with this message, without the attribute of the pointer.
    pub(crate) fn with_message(mut self, message: String) -> String {
        self.0.insert(MESSAGE.to_owned(), Value::String(message));
        if let Some(attributes) = self.0.get_mut(ATTRIBUTES).and_then(Value::as_object_mut) {
            for name in RESERVED_ATTRIBUTES {
                attributes.remove(name);
            }
        }
        if self.0.get(ATTRIBUTES).and_then(Value::as_object).is_some_and(Map::is_empty) {
            self.0.remove(ATTRIBUTES);
        }
        Value::Object(self.0).to_string()
    }

    fn attribute(&self) -> Option<(&'static str, Option<&Value>)> {
        let attributes = self.0.get(ATTRIBUTES)?.as_object()?;
        RESERVED_ATTRIBUTES.iter().find_map(|name| Some((*name, Some(attributes.get(*name)?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(attribute: &str) -> String {
        let pointer = r#"[\"software.amazon.payloadoffloading.PayloadS3Pointer\",{\"s3BucketName\":\"b\",\"s3Key\":\"k\"}]"#;
        format!(
            r#"{{
  "Type" : "Notification",
  "MessageId" : "dc1e94d9-56c5-5e96-808d-cc7f68faa162",
  "TopicArn" : "arn:aws:sns:us-east-2:111122223333:scans",
  "Message" : "{pointer}",
  "MessageAttributes" : {{
    "{attribute}" : {{"Type":"Number","Value":"300000"}},
    "color" : {{"Type":"String","Value":"red"}}
  }}
}}"#
        )
    }

    #[test]
    fn notification_with_a_pointer_is_recognised_by_its_attribute() {
        for name in RESERVED_ATTRIBUTES {
            let found = Notification::parse(&notification(name)).expect(name);
            let raw = found.raw_pointer();
            assert_eq!((raw.name, raw.size, raw.data_type), (name, "300000", "Number"));
            assert!(raw.body.contains(r#""s3Key":"k""#), "{}", raw.body);
        }
        for other in [
            notification("size"),
            notification("ExtendedPayloadSize").replace("Notification", "SubscriptionConfirmation"),
            "ExtendedPayloadSize \"Notification\"".to_owned(),
            r#"{"Type":"Notification","MessageAttributes":{"ExtendedPayloadSize":{}},"Message":7}"#
                .to_owned(),
        ] {
            assert!(Notification::parse(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn message_replaces_the_pointer_and_other_members_stay() {
        let with_message = Notification::parse(&notification("ExtendedPayloadSize"))
            .unwrap()
            .with_message("tea \"7\"".into());
        let members: Map<String, Value> = serde_json::from_str(&with_message).unwrap();
        assert_eq!(members["Message"], "tea \"7\"");
        assert_eq!(members["TopicArn"], "arn:aws:sns:us-east-2:111122223333:scans");
        assert_eq!(
            members["MessageAttributes"],
            serde_json::json!({"color": {"Type": "String", "Value": "red"}})
        );
    }
}
