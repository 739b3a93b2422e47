//! Descriptions of objects and uploads.

use crate::service::clock::Timestamp;

use super::store::{Object, Upload};

/// An object without its body.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Object {
    /// The key.
    pub key: String,
    /// The size in bytes.
    pub size: u64,
    /// The `ETag` without quotes.
    pub etag: String,
    /// When the object was stored, by the clock of the server.
    pub last_modified: Timestamp,
    /// User metadata; the names have no `x-amz-meta-` prefix.
    pub metadata: std::collections::BTreeMap<String, String>,
    /// The `Content-Type` of the request.
    pub content_type: Option<String>,
    /// The `Content-Encoding` of the request without `aws-chunked`.
    pub content_encoding: Option<String>,
}

/// A multipart upload in progress.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Upload {
    /// The key of the future object.
    pub key: String,
    /// The upload id.
    pub id: String,
    /// The number of parts that were uploaded.
    pub parts: usize,
    /// When the upload began, by the clock of the server.
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
            key: upload.key.clone(),
            id: upload.id.clone(),
            parts: upload.parts.len(),
            initiated: Timestamp::from_millis(upload.initiated),
        }
    }
}
