//! Replaces bodies of messages by pointers.

use std::collections::HashMap;

use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::message_size;
use sqs_client::wire::limits::MAX_MESSAGE_ATTRIBUTES;

use super::compat::{Compat, HASH_LABEL, MAX_PAYLOAD_BYTES, RESERVED_ATTRIBUTES};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

/// The attributes of a message.
pub(crate) type Attributes = HashMap<String, MessageAttributeValue>;

/// Bytes of a UUID as text.
const UUID_BYTES: usize = 36;
/// Hex digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The sizes of a message in bytes, as SQS counts them: body, and name, type and value of each attribute.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sizes {
    /// Without a pointer.
    pub(crate) inline: usize,
    /// With a pointer instead of the body; `None` if it is one already, or if there is no body, which SQS rejects.
    pub(crate) offloaded: Option<usize>,
    /// Whether there is room for the attribute of the pointer.
    pub(crate) is_feasible: bool,
}

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

#[cfg(test)]
mod tests {
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
