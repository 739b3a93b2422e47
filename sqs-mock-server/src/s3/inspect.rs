//! Direct access to buckets and objects for tests.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use s3s::Body;
use s3s::dto::{PutObjectInput, StreamingBlob};
use sqs_client::wire::service_error::ErrorCode;

use crate::control::arn::Resource;
use crate::control::clock::Timestamp;
use crate::control::journal::Record;
use crate::s3::body::ExpectedChecksum;
use crate::s3::notifications::PUT;
use crate::s3::store::bucket::Bucket;
use crate::s3::store::object::{Object, Upload, read_all};
use crate::s3::{MockS3, problem_of_bucket_name};

/// Buckets and objects, read and changed without HTTP. An unknown bucket counts as empty. Changes cause events like those
/// of requests.
impl MockS3 {
    fn found(&self, bucket: &str) -> Option<Arc<Bucket>> {
        self.content.operations.store.bucket(bucket)
    }

    /// The names of all buckets, sorted.
    pub fn buckets(&self) -> Vec<String> {
        self.content.operations.store.buckets().iter().map(|bucket| bucket.name.clone()).collect()
    }

    /// All objects of a bucket, sorted by key.
    pub fn objects(&self, bucket: &str) -> Vec<S3Object> {
        let Some(bucket) = self.found(bucket) else { return Vec::new() };
        bucket.objects(|all| all.values().map(|object| S3Object::from(&**object)).collect())
    }

    /// The number of objects in a bucket.
    pub fn count(&self, bucket: &str) -> usize {
        self.found(bucket).map_or(0, |bucket| bucket.objects(BTreeMap::len))
    }

    /// The object with this key; `None` if it does not exist.
    pub fn object(&self, bucket: &str, key: &str) -> Option<S3Object> {
        self.found(bucket)?.object(key).map(|object| S3Object::from(&*object))
    }

    /// The multipart uploads in progress, sorted by id.
    pub fn uploads(&self, bucket: &str) -> Vec<S3Upload> {
        let all = self.found(bucket).map(|bucket| bucket.uploads()).unwrap_or_default();
        all.iter().map(S3Upload::from).collect()
    }

    /// Reads the whole body of an object into memory.
    ///
    /// # Errors
    /// The object does not exist, or its file cannot be read.
    ///
    /// # Cancel safety
    /// Safe: the call changes nothing.
    pub async fn bytes(&self, bucket: &str, key: &str) -> io::Result<Vec<u8>> {
        let object =
            self.found(bucket).and_then(|bucket| bucket.object(key)).ok_or_else(|| absent(bucket, key))?;
        read_all(&object, 0..object.size()).await
    }

    /// Stores an object as `PutObject` does, without metadata.
    ///
    /// # Errors
    /// The bucket does not exist, the key is longer than 1,024 bytes, or a file cannot be written.
    ///
    /// # Cancel safety
    /// A call that is dropped before it completes changes nothing.
    pub async fn put(&self, bucket: &str, key: &str, bytes: impl Into<Bytes>) -> io::Result<()> {
        let input = PutObjectInput {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            body: Some(StreamingBlob::from(Body::from(bytes.into()))),
            ..PutObjectInput::default()
        };
        let operations = &self.content.operations;
        let unanswered = operations.outbox.begin(String::new(), None);
        let stored = operations.put(&unanswered.context, input, ExpectedChecksum::default(), PUT).await;
        stored.map(drop).map_err(|error| io::Error::other(error.to_string()))
    }

    /// Deletes an object; `false` if it does not exist.
    ///
    /// # Errors
    /// The file of the object cannot be removed.
    pub fn delete(&self, bucket: &str, key: &str) -> io::Result<bool> {
        let Some(bucket) = self.found(bucket) else { return Ok(false) };
        let unanswered = self.content.operations.outbox.begin(String::new(), None);
        self.content.operations.delete(&unanswered.context, &bucket, key, None)
    }

    /// Creates a bucket; `false` if it exists.
    ///
    /// # Errors
    /// The name is not a valid bucket name, or the directory cannot be created.
    pub fn create_bucket(&self, name: &str) -> io::Result<bool> {
        if let Some(text) = problem_of_bucket_name(name) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.content.operations.store.create(name, None, self.content.host.clock.now().as_millis())
    }
}

fn absent(bucket: &str, key: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("bucket {bucket:?} has no object {key:?}"))
}

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
    /// The error code, if the request failed; `InjectedStatus` if a fault answered with a status.
    pub error: Option<String>,
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
            error: record.ending.error_code().map(ErrorCode::shape).map(str::to_owned),
        }
    }
}
