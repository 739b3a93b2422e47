//! What is in the S3 beside SQS, in the hand of a test.

use std::sync::Arc;
use std::{fmt, io};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Method, Uri};
use s3s::dto::{PutObjectInput, StreamingBlob};

use super::ops::Operations;
use super::server::MockS3;
use super::setup::S3;
use super::shown::{S3Object, S3Upload};
use super::store::{Bucket, Pieces};

/// What is in it. There is nothing in a bucket that there is not.
impl MockS3 {
    fn found(&self, bucket: &str) -> Option<Arc<Bucket>> {
        self.content.store.bucket(bucket)
    }

    /// Names of all buckets, in order.
    pub fn buckets(&self) -> Vec<String> {
        self.content.store.buckets().iter().map(|bucket| bucket.name().to_owned()).collect()
    }

    /// All objects of a bucket, by key.
    pub fn objects(&self, bucket: &str) -> Vec<S3Object> {
        let found = self.found(bucket);
        found
            .map(|bucket| {
                bucket.objects(|all| all.values().map(|object| S3Object::from(&**object)).collect())
            })
            .unwrap_or_default()
    }

    /// How many objects a bucket has.
    pub fn count(&self, bucket: &str) -> usize {
        self.found(bucket).map_or(0, |bucket| bucket.objects(std::collections::BTreeMap::len))
    }

    /// One object; `None` when there is none.
    pub fn object(&self, bucket: &str, key: &str) -> Option<S3Object> {
        self.found(bucket)?.object(key).map(|object| S3Object::from(&*object))
    }

    /// The uploads in parts that are under way, by id.
    pub fn uploads(&self, bucket: &str) -> Vec<S3Upload> {
        let all = self.found(bucket).map(|bucket| bucket.uploads()).unwrap_or_default();
        all.iter().map(S3Upload::from).collect()
    }

    /// The bytes of an object, all of them in memory.
    ///
    /// # Errors
    /// There is none, or its file cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    pub async fn bytes(&self, bucket: &str, key: &str) -> io::Result<Vec<u8>> {
        let object =
            self.found(bucket).and_then(|bucket| bucket.object(key)).ok_or_else(|| absent(bucket, key))?;
        let mut pieces = Pieces::of(&object, 0, object.record.size());
        let mut bytes = Vec::new();
        while let Some(chunk) = pieces.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Puts an object there, as `PutObject` does, without attributes.
    ///
    /// # Errors
    /// There is no such bucket, or a file cannot be written.
    ///
    /// # Cancel safety
    /// Dropped before its end, nothing is changed.
    pub async fn put(&self, bucket: &str, key: &str, bytes: impl Into<Bytes>) -> io::Result<()> {
        let bytes = bytes.into();
        let body = stream::once(std::future::ready(Ok::<_, io::Error>(bytes)));
        let input = PutObjectInput {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            body: Some(StreamingBlob::wrap(body)),
            ..PutObjectInput::default()
        };
        let operations = Operations::new(Arc::clone(&self.content.store), self.content.clock.clone());
        s3s::S3::put_object(&operations, request(input)).await.map(drop).map_err(other)
    }

    /// Deletes an object; `false` when there was none.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub fn delete(&self, bucket: &str, key: &str) -> io::Result<bool> {
        self.found(bucket).map_or(Ok(false), |bucket| bucket.delete(key, |_| Ok::<_, io::Error>(())))
    }

    /// Creates a bucket; `false` when there was one of this name.
    ///
    /// # Errors
    /// No bucket can have this name, or its directory cannot be made.
    pub fn create_bucket(&self, name: &str) -> io::Result<bool> {
        S3::temporary().bucket(name).check()?;
        self.content.store.create(name, self.content.clock.now().as_millis())
    }
}

/// A request that comes without HTTP.
pub(super) fn request<T>(input: T) -> s3s::S3Request<T> {
    s3s::S3Request {
        input,
        method: Method::default(),
        uri: Uri::default(),
        headers: HeaderMap::new(),
        extensions: http::Extensions::new(),
        credentials: None,
        region: None,
        service: None,
        trailing_headers: None,
    }
}

fn absent(bucket: &str, key: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no object {key:?} in a bucket {bucket:?}"))
}

fn other(error: impl fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}
