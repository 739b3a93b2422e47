//! Finds the pointer in a message: pure.

use std::collections::BTreeSet;

use sqs_client::types::Message;

use crate::config::RESERVED_ATTRIBUTES;
use crate::error::{Error, ErrorKind};
use crate::handle::ExtendedHandle;
use crate::pointer::Pointer;

/// Where a payload lies, and how long it is.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct PayloadRef {
    pointer: Pointer,
    length: u64,
}

impl PayloadRef {
    pub(crate) fn new(pointer: Pointer, length: u64) -> Self {
        Self { pointer, length }
    }

    /// The object.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }

    /// Its length in bytes, as the message says.
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// What a message carries.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// Its own body.
    Inline,
    /// A pointer that may be followed.
    Pointer(PayloadRef),
    /// A pointer that may not be followed, or something that is none.
    Unusable(Error),
}

/// Whether a message says that it carries a pointer.
pub(crate) fn carries_pointer(message: &Message) -> bool {
    size(message).is_some()
}

fn size(message: &Message) -> Option<(&'static str, &str)> {
    let attributes = message.message_attributes()?;
    let found = |name: &&'static str| {
        let value = attributes.get(*name)?;
        Some((*name, value.string_value().unwrap_or_default()))
    };
    RESERVED_ATTRIBUTES.iter().find_map(found)
}

/// Reads a message. A body without one of the attributes is never taken for a pointer.
pub(crate) fn find(message: &Message, allowed_buckets: &BTreeSet<String>) -> Found {
    let Some((name, size)) = size(message) else { return Found::Inline };
    match pointer(message, name, size, allowed_buckets) {
        Ok(payload) => Found::Pointer(payload),
        Err(error) => Found::Unusable(error),
    }
}

fn pointer(
    message: &Message,
    name: &str,
    size: &str,
    allowed_buckets: &BTreeSet<String>,
) -> Result<PayloadRef, Error> {
    let pointer = Pointer::from_body(message.body().unwrap_or_default()).map_err(Error::unreadable)?;
    let Ok(length) = size.parse() else {
        let text = format!("the attribute {name} is a number of bytes, and not {size:?}");
        return Err(Error::about(ErrorKind::BadPointer, &pointer, text));
    };
    if !allowed_buckets.contains(pointer.bucket()) {
        let text = format!(
            "the pointer leads to the bucket {:?}; allowed are {allowed_buckets:?} (allow_bucket(..) adds others)",
            pointer.bucket()
        );
        return Err(Error::about(ErrorKind::ForeignBucket, &pointer, text));
    }
    // Such a handle would name another object, or another message.
    if pointer.key().is_empty() || !ExtendedHandle::new(pointer.clone(), "").is_readable() {
        let text = format!("a receipt handle cannot carry the key {:?}", pointer.key());
        return Err(Error::about(ErrorKind::BadPointer, &pointer, text));
    }
    Ok(PayloadRef::new(pointer, length))
}

#[cfg(test)]
mod tests {
    use sqs_client::types::MessageAttributeValue;

    use super::*;
    use crate::pointer::PointerClass;

    fn message(body: &str, attribute: Option<(&str, &str)>) -> Message {
        let attributes = attribute.map(|(name, value)| {
            let mut number = MessageAttributeValue::number(0);
            number.string_value = Some(value.to_owned());
            [(name.to_owned(), number)].into()
        });
        Message::builder().body(body).set_message_attributes(attributes).build()
    }

    fn found(body: &str, attribute: Option<(&str, &str)>) -> Found {
        find(&message(body, attribute), &BTreeSet::from(["own".to_owned(), "other".to_owned()]))
    }

    fn body(bucket: &str, key: &str) -> String {
        Pointer::new(bucket, key).to_body(PointerClass::Modern)
    }

    #[test]
    fn a_body_without_the_attribute_is_never_a_pointer() {
        assert!(matches!(found(&body("own", "k"), None), Found::Inline));
        assert!(matches!(found(&body("own", "k"), Some(("color", "5"))), Found::Inline));
    }

    #[test]
    fn both_names_make_a_pointer() {
        for name in RESERVED_ATTRIBUTES {
            for bucket in ["own", "other"] {
                let Found::Pointer(payload) = found(&body(bucket, "k"), Some((name, "17"))) else {
                    panic!("{name}")
                };
                assert_eq!(payload, PayloadRef { pointer: Pointer::new(bucket, "k"), length: 17 });
            }
        }
    }

    #[test]
    fn what_cannot_be_followed_says_why() {
        let table = [
            ("hello".to_owned(), "5", ErrorKind::BadPointer, "not a pointer"),
            (String::new(), "0", ErrorKind::BadPointer, "not a pointer"),
            (r#"["x.Y",{"s3BucketName":"own","s3Key":"k"}]"#.to_owned(), "5", ErrorKind::BadPointer, "x.Y"),
            (body("own", "k"), "-1", ErrorKind::BadPointer, "number of bytes"),
            (body("own", "k"), "many", ErrorKind::BadPointer, "number of bytes"),
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
