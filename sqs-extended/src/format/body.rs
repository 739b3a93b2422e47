//! Pointers as bodies of messages.

use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

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
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Modern => MODERN_CLASS,
            Self::Legacy => LEGACY_CLASS,
        }
    }
}

impl Pointer {
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

#[cfg(test)]
mod tests {
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
