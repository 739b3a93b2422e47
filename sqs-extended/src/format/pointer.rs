//! The location of a payload.

use std::fmt;

use serde::{Deserialize, Serialize};
use sqs_client::types::Message;

use crate::error::{Error, ErrorKind};

/// The location of a payload: bucket and key of an object.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Pointer {
    #[serde(rename = "s3BucketName")]
    bucket: String,
    #[serde(rename = "s3Key")]
    key: String,
}

impl Pointer {
    /// A pointer to an object.
    pub fn new(bucket: impl Into<String>, key: impl Into<String>) -> Self {
        Self { bucket: bucket.into(), key: key.into() }
    }

    /// The bucket.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key within the bucket.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Encodes the pointer as a message body, byte for byte like the Java library.
    pub fn to_body(&self, class: PointerClass) -> String {
        // Two strings always serialise.
        let object = serde_json::to_string(self).unwrap_or_default();
        format!("[\"{}\",{object}]", class.as_str())
    }

    /// Parses a body. White space and the order of members do not matter.
    ///
    /// # Errors
    /// [`ErrorKind::BadPointer`].
    pub fn from_body(body: &str) -> Result<Self, Error> {
        let (class, pointer): (String, Self) = serde_json::from_str(body).map_err(|error| {
            let expected = r#"["class", {"s3BucketName": .., "s3Key": ..}]"#;
            Error::new(ErrorKind::BadPointer, format!("the body is not a pointer, {expected}: {error}"))
        })?;
        if class == MODERN_CLASS || class == LEGACY_CLASS {
            return Ok(pointer);
        }
        let text =
            format!("pointer class {class:?} is unknown; allowed are {MODERN_CLASS} and {LEGACY_CLASS}");
        Err(Error::new(ErrorKind::BadPointer, text))
    }
}

/// As the AWS CLI writes it: `s3://bucket/key`.
impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
    }
}

const MODERN_CLASS: &str = "software.amazon.payloadoffloading.PayloadS3Pointer";

const LEGACY_CLASS: &str = "com.amazon.sqs.javamessaging.MessageS3Pointer";

/// The Java class name in a pointer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PointerClass {
    /// The class of the Java library since 2.0 and of the Python library.
    #[default]
    Modern,
    /// The class of the Java library 1.x.
    Legacy,
}

impl PointerClass {
    /// The full class name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Modern => MODERN_CLASS,
            Self::Legacy => LEGACY_CLASS,
        }
    }
}

/// The attribute of a message with a pointer: its value is the length of the payload.
const SIZE_ATTRIBUTE: &str = "ExtendedPayloadSize";

/// Its name in older libraries.
const LEGACY_SIZE_ATTRIBUTE: &str = "SQSLargePayloadSize";

/// The data type of the attribute, without the SHA-256 of the payload in hex that follows. SQS allows any label, and
/// the other libraries ignore it.
pub(crate) const HASH_LABEL: &str = "Number.sha256.";

/// The largest payload in bytes: 2,147,483,647, the maximum length of a Java array, so that the other libraries can read it.
pub const MAX_PAYLOAD_BYTES: u64 = (1 << 31) - 1;

/// Both names. A message with either one has a pointer.
pub(crate) const RESERVED_ATTRIBUTES: [&str; 2] = [SIZE_ATTRIBUTE, LEGACY_SIZE_ATTRIBUTE];

/// How pointers are written. All forms are read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Compat {
    /// The current class and the attribute `ExtendedPayloadSize`: the Java library (2.x) and the Python library both read this with
    /// their default settings.
    #[default]
    Modern,
    /// What the Java library 2.x writes by default: the current class, but the attribute `SQSLargePayloadSize`.
    JavaDefault,
    /// What the Java library 1.x writes and needs: the old class and the attribute `SQSLargePayloadSize`.
    Legacy10,
}

impl Compat {
    /// The class in the pointer.
    pub(crate) const fn class(self) -> PointerClass {
        match self {
            Self::Modern | Self::JavaDefault => PointerClass::Modern,
            Self::Legacy10 => PointerClass::Legacy,
        }
    }

    /// The name of the attribute.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Modern => SIZE_ATTRIBUTE,
            Self::JavaDefault | Self::Legacy10 => LEGACY_SIZE_ATTRIBUTE,
        }
    }
}

/// Whether a key ends in a UUID, like those of this crate and of the Java and Python libraries. Other objects are never deleted,
/// whatever a pointer says.
pub(crate) fn ends_with_uuid(key: &str) -> bool {
    let Some(start) = key.len().checked_sub(36) else { return false };
    let Some(name) = key.get(start..) else { return false };
    name.bytes().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// An unparsed pointer in a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPointer<'m> {
    pub(crate) body: &'m str,
    /// The name of the attribute.
    pub(crate) name: &'m str,
    /// The value of the attribute.
    pub(crate) size: &'m str,
    pub(crate) data_type: &'m str,
}

impl<'m> RawPointer<'m> {
    /// The unparsed pointer; `None` if the message lacks the attribute of a pointer.
    pub(crate) fn of(message: &'m Message) -> Option<Self> {
        let attributes = message.message_attributes()?;
        let found = RESERVED_ATTRIBUTES.iter().find_map(|name| Some((*name, attributes.get(*name)?)));
        let (name, attribute) = found?;
        let (body, size) = (message.body().unwrap_or_default(), attribute.string_value().unwrap_or_default());
        Some(Self { body, name, size, data_type: &attribute.data_type })
    }
}

#[cfg(test)]
mod body_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pointer_with_spaces_as_in_the_python_library_is_read() {
        let body =
            r#"["com.amazon.sqs.javamessaging.MessageS3Pointer", {"s3Key": "k", "s3BucketName": "b"}]"#;
        assert_eq!(Pointer::from_body(body).unwrap(), Pointer::new("b", "k"));
    }

    #[test]
    fn body_that_is_not_a_pointer_is_rejected_with_the_reason() {
        for body in
            ["", "hello", "[]", r#"["x"]"#, r#"{"s3BucketName":"b","s3Key":"k"}"#, r#"["x",{"s3Key":"k"}]"#]
        {
            let error = Pointer::from_body(body).unwrap_err();
            assert!(error.to_string().contains("not a pointer"), "{error}");
        }
        let foreign = r#"["java.lang.Object",{"s3BucketName":"b","s3Key":"k"}]"#;
        let error = Pointer::from_body(foreign).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadPointer);
        assert!(error.to_string().contains("java.lang.Object"), "{error}");
    }

    proptest! {
        #[test]
        fn written_pointer_can_be_read(bucket in ".*", key in ".*") {
            let pointer = Pointer::new(bucket, key);
            for class in [PointerClass::Modern, PointerClass::Legacy] {
                prop_assert_eq!(Pointer::from_body(&pointer.to_body(class)).unwrap(), pointer.clone());
            }
        }
    }
}

#[cfg(test)]
mod key_tests {
    use super::*;

    #[test]
    fn keys_end_in_a_uuid_whatever_stands_before_it() {
        const UUID: &str = "01234567-89ab-4cde-8f01-23456789ABCD";
        for ours in
            [UUID.to_owned(), format!("orders/{UUID}"), format!("Grüße {UUID}"), format!("{UUID}{UUID}")]
        {
            assert!(ends_with_uuid(&ours), "{ours}");
        }
        let undivided = UUID.replace('-', "0");
        for other in ["", "backups/db.dump", &UUID[1..], &format!("{UUID}x"), &"ü".repeat(36), &undivided] {
            assert!(!ends_with_uuid(other), "{other}");
        }
    }
}

const BUCKET: &str = "-..s3BucketName..-";

const KEY: &str = "-..s3Key..-";

/// A receipt handle with a pointer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ExtendedHandle {
    pointer: Pointer,
    original: String,
}

impl ExtendedHandle {
    /// Adds a pointer to a receipt handle of SQS.
    pub fn new(pointer: Pointer, original: impl Into<String>) -> Self {
        Self { pointer, original: original.into() }
    }

    /// Parses a receipt handle. Returns `None` if it has no pointer.
    pub fn parse(handle: &str) -> Option<Self> {
        let (bucket, rest) = handle.strip_prefix(BUCKET)?.split_once(BUCKET)?;
        let (key, original) = rest.strip_prefix(KEY)?.split_once(KEY)?;
        Some(Self::new(Pointer::new(bucket, key), original))
    }

    /// Whether the text of the handle can be parsed. It cannot if the bucket or the key contains a separator.
    pub(crate) fn is_readable(&self) -> bool {
        Self::parse(&self.to_string()).as_ref() == Some(self)
    }

    /// The location of the payload.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }

    /// The receipt handle of SQS.
    pub fn original(&self) -> &str {
        &self.original
    }
}

impl fmt::Display for ExtendedHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, original } = self;
        write!(f, "{BUCKET}{}{BUCKET}{KEY}{}{KEY}{original}", pointer.bucket(), pointer.key())
    }
}

/// The receipt handle of SQS, without a pointer.
pub(crate) fn original_handle(message: &Message) -> Option<String> {
    let mut handle = message.receipt_handle()?.to_owned();
    strip(&mut handle);
    Some(handle)
}

/// Puts a pointer in front of the receipt handle, unless there is one.
pub(crate) fn extend_handle(message: &mut Message, pointer: &Pointer) {
    if let Some(original) = original_handle(message) {
        message.receipt_handle = Some(ExtendedHandle::new(pointer.clone(), original).to_string());
    }
}

/// Removes the pointer from a receipt handle, if there is one.
pub(crate) fn strip(handle: &mut String) -> Option<Pointer> {
    let parsed = ExtendedHandle::parse(handle)?;
    *handle = parsed.original;
    Some(parsed.pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handles_with_a_complete_pointer_are_stripped() {
        let mut handle = "-..s3BucketName..-B-..s3BucketName..--..s3Key..-K-..s3Key..-AQEB".to_owned();
        assert_eq!(strip(&mut handle), Some(Pointer::new("B", "K")));
        assert_eq!(handle, "AQEB");
        assert_eq!(strip(&mut handle), None);
        assert_eq!(handle, "AQEB");
    }

    #[test]
    fn text_is_that_of_the_java_library() {
        let handle = ExtendedHandle::new(Pointer::new("B", "K"), "ORIGINAL");
        let text = "-..s3BucketName..-B-..s3BucketName..--..s3Key..-K-..s3Key..-ORIGINAL";
        assert_eq!(handle.to_string(), text);
        assert_eq!(ExtendedHandle::parse(text), Some(handle));
    }

    #[test]
    fn original_handle_is_kept_verbatim() {
        for original in ["", "AQEB/+=", "a-..s3Key..-b", "-..s3BucketName..-"] {
            let handle = ExtendedHandle::new(Pointer::new("b", "k/1"), original);
            assert_eq!(
                ExtendedHandle::parse(&handle.to_string()).expect("has a pointer").original(),
                original
            );
        }
    }

    #[test]
    fn handle_without_a_complete_pointer_has_none() {
        for plain in
            ["", "AQEB", "-..s3BucketName..-B", "-..s3BucketName..-B-..s3BucketName..-K", "x-..s3Key..-K"]
        {
            assert_eq!(ExtendedHandle::parse(plain), None, "{plain}");
        }
    }
}
