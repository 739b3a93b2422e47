//! Objects and uploads as tests see them.

use crate::clock::Timestamp;

use super::store::{Object, Upload};

/// An object, but for its bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Object {
    /// Its key.
    pub key: String,
    /// In bytes.
    pub size: u64,
    /// Without quotes.
    pub etag: String,
    /// When it was put there, by the server's clock.
    pub last_modified: Timestamp,
    /// Metadata by name, without `x-amz-meta-`.
    pub metadata: std::collections::BTreeMap<String, String>,
    /// As the caller said it.
    pub content_type: Option<String>,
    /// As the caller said it, without `aws-chunked`.
    pub content_encoding: Option<String>,
}

/// An upload in parts that was neither completed nor aborted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Upload {
    /// The key of the object that it is to become.
    pub key: String,
    /// Its id.
    pub id: String,
    /// How many parts are there.
    pub parts: usize,
    /// When it began, by the server's clock.
    pub initiated: Timestamp,
}

impl From<&Object> for S3Object {
    fn from(object: &Object) -> Self {
        let record = &object.record;
        Self {
            key: record.key.clone(),
            size: record.size(),
            etag: record.etag.clone(),
            last_modified: Timestamp::from_millis(record.modified),
            metadata: record.attributes.metadata.clone(),
            content_type: record.attributes.content_type.clone(),
            content_encoding: record.attributes.content_encoding.clone(),
        }
    }
}

impl From<&Upload> for S3Upload {
    fn from(upload: &Upload) -> Self {
        Self {
            key: upload.head.key.clone(),
            id: upload.head.id.clone(),
            parts: upload.parts.len(),
            initiated: Timestamp::from_millis(upload.head.initiated),
        }
    }
}
