//! The body of a message whose payload lies in S3.

use std::fmt;

use serde::{Deserialize, Serialize};

const MODERN_CLASS: &str = "software.amazon.payloadoffloading.PayloadS3Pointer";
const LEGACY_CLASS: &str = "com.amazon.sqs.javamessaging.MessageS3Pointer";

/// Where a payload lies.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Pointer {
    #[serde(rename = "s3BucketName")]
    bucket: String,
    #[serde(rename = "s3Key")]
    key: String,
}

/// As the AWS CLI writes it: `s3://bucket/key`.
impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
    }
}

/// The name of a Java class, which the format carries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PointerClass {
    /// Of the libraries since 2.0 for Java, and that for Python.
    #[default]
    Modern,
    /// Of the library 1.x for Java.
    Legacy,
}

impl PointerClass {
    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Modern => MODERN_CLASS,
            Self::Legacy => LEGACY_CLASS,
        }
    }
}

/// A body is not a pointer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadPointer {
    /// It is not a JSON array of a class name and an object with bucket and key.
    Malformed(String),
    /// The class is none of those that the libraries write.
    UnknownClass(String),
}

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(cause) => write!(
                f,
                "the body is not a pointer to a payload, [\"class\", {{\"s3BucketName\": .., \"s3Key\": ..}}]: {cause}"
            ),
            Self::UnknownClass(class) => {
                write!(f, "{class:?} is not a class of pointers; {MODERN_CLASS} and {LEGACY_CLASS} are")
            }
        }
    }
}

impl std::error::Error for BadPointer {}

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

    /// The body, byte for byte as the Java library writes it; special characters are escaped as JSON asks.
    pub fn to_body(&self, class: PointerClass) -> String {
        // Two strings in an object cannot fail to become JSON.
        let object = serde_json::to_string(self).unwrap_or_default();
        format!("[\"{}\",{object}]", class.as_str())
    }

    /// Reads a body of any of the libraries: white space and order of members do not matter.
    ///
    /// # Errors
    /// See [`BadPointer`].
    pub fn from_body(body: &str) -> Result<Self, BadPointer> {
        let (class, pointer): (String, Self) =
            serde_json::from_str(body).map_err(|error| BadPointer::Malformed(error.to_string()))?;
        if class == MODERN_CLASS || class == LEGACY_CLASS {
            Ok(pointer)
        } else {
            Err(BadPointer::UnknownClass(class))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_python_library_writes_spaces() {
        let body =
            r#"["com.amazon.sqs.javamessaging.MessageS3Pointer", {"s3Key": "k", "s3BucketName": "b"}]"#;
        assert_eq!(Pointer::from_body(body), Ok(Pointer::new("b", "k")));
    }

    #[test]
    fn what_is_not_a_pointer_says_why() {
        for body in
            ["", "hello", "[]", r#"["x"]"#, r#"{"s3BucketName":"b","s3Key":"k"}"#, r#"["x",{"s3Key":"k"}]"#]
        {
            assert!(matches!(Pointer::from_body(body), Err(BadPointer::Malformed(_))), "{body}");
        }
        let foreign = r#"["java.lang.Object",{"s3BucketName":"b","s3Key":"k"}]"#;
        assert_eq!(Pointer::from_body(foreign), Err(BadPointer::UnknownClass("java.lang.Object".into())));
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(bucket in ".*", key in ".*") {
            let pointer = Pointer::new(bucket, key);
            for class in [PointerClass::Modern, PointerClass::Legacy] {
                prop_assert_eq!(Pointer::from_body(&pointer.to_body(class)), Ok(pointer.clone()));
            }
        }
    }
}
