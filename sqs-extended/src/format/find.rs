//! Finds the pointer in a message. Pure.

use std::collections::BTreeSet;

use sqs_client::types::Message;

use super::compat::HASH_LABEL;
use super::handle::ExtendedHandle;
use super::raw_pointer::RawPointer;
use super::sns::Notification;
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

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
    /// [`Payload::without_hash`](crate::Payload::without_hash).
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

#[cfg(test)]
mod tests {
    use sqs_client::types::MessageAttributeValue;

    use super::*;
    use crate::format::PointerClass;
    use crate::format::compat::RESERVED_ATTRIBUTES;

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
