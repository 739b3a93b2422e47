//! Descriptions of objects, uploads and requests.

use crate::service::clock::Timestamp;
use crate::service::journal::Record;
use crate::service::resource::Resource;

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

/// A request to S3 that was answered or aborted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Request {
    /// Counts from 1 in the order of the responses, over all services. A reset does not restart it.
    pub number: u64,
    /// The name that AWS uses, such as `GetObject`; empty if the request was rejected before the operation was known.
    pub operation: String,
    /// The bucket, if the request names one.
    pub bucket: Option<String>,
    /// The key, if the request names one.
    pub key: Option<String>,
    /// The status of the response; `None` if the connection broke or the caller disconnected.
    pub status: Option<u16>,
}

impl From<&Object> for S3Object {
    fn from(object: &Object) -> Self {
        let attributes = &object.attributes;
        Self {
            key: object.key.clone(),
            size: object.size(),
            etag: object.etag.clone(),
            last_modified: Timestamp::from_millis(object.modified),
            metadata: attributes.metadata.clone().into_iter().flatten().collect(),
            content_type: attributes.content_type.clone(),
            content_encoding: attributes.content_encoding.clone(),
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

impl From<&Record> for S3Request {
    fn from(record: &Record) -> Self {
        let resource = record.resource.as_ref();
        Self {
            number: record.number,
            operation: record.operation.as_deref().unwrap_or_default().to_owned(),
            bucket: resource.and_then(Resource::bucket).map(str::to_owned),
            key: resource.and_then(Resource::key).map(str::to_owned),
            status: record.ending.status(),
        }
    }
}
