//! The location of a payload.

use std::fmt;

use serde::{Deserialize, Serialize};

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
}

/// As the AWS CLI writes it: `s3://bucket/key`.
impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
    }
}
