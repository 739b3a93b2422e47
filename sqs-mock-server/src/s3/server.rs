//! The S3 beside SQS in the hand of a test: its address, what is in it, what it was asked.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::{fmt, io};

use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use http::{HeaderMap, Method, Uri};
use s3s::dto::{PutObjectInput, StreamingBlob};
use tokio::net::TcpListener;

use super::front::{Front, Parts};
use super::journal::{Journal, S3Request};
use super::ops::Operations;
use super::setup::S3;
use super::store::{Bucket, Object, Pieces, Store};
use crate::clock::{Clock, Timestamp};
use crate::faults::Faults;
use crate::http::{Keys, Limits, Server};
use crate::seed::Seed;

/// The S3 beside SQS, as [`MockSqs::s3`](crate::MockSqs::s3) gives it.
///
/// What it shows is not asked for over HTTP: it strikes no fault, and is no request.
#[derive(Debug)]
pub struct MockS3 {
    url: String,
    content: Arc<Content>,
    server: Option<Server>,
}

/// What a reset makes anew.
#[derive(Debug)]
pub(crate) struct Content {
    settings: S3,
    store: Arc<Store>,
    clock: Clock,
    journal: Arc<Journal>,
}

/// What S3 needs of the server that it is beside.
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    pub(crate) keys: Option<Keys>,
    pub(crate) account: String,
    pub(crate) journal: usize,
}

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

impl MockS3 {
    /// Opens the directory, creates buckets, and serves connections of `listener`.
    pub(crate) fn start(settings: S3, listener: TcpListener, url: String, host: Host) -> io::Result<Self> {
        let (directory, is_temporary) = settings.directory()?;
        let shown = directory.display().to_string();
        let opened = Store::open(directory, is_temporary, host.seed);
        let explain = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot keep objects in {shown}: {error}"))
        };
        let store = Arc::new(opened.map_err(explain)?);
        let journal = Arc::new(Journal::new(host.journal));
        let front = Front::new(Parts {
            store: Arc::clone(&store),
            clock: host.clock.clone(),
            faults: host.faults,
            journal: Arc::clone(&journal),
            limits: host.limits,
            keys: host.keys,
            account: host.account,
            ids: host.seed.generator("request ids of S3"),
        });
        let content = Content { settings, store, clock: host.clock, journal };
        content.furnish().map_err(explain)?;
        let server = Some(Server::start(listener, front, host.limits));
        Ok(Self { url, content: Arc::new(content), server })
    }

    /// For whoever resets the server. It is gone with this.
    pub(crate) fn content(&self) -> Weak<Content> {
        Arc::downgrade(&self.content)
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }

    fn found(&self, bucket: &str) -> Option<Arc<Bucket>> {
        self.content.store.bucket(bucket)
    }
}

impl Content {
    fn furnish(&self) -> io::Result<()> {
        let now = self.clock.now().as_millis();
        self.settings.buckets().into_iter().try_for_each(|name| self.store.create(name, now).map(drop))
    }

    /// Forgets requests, and what is in a temporary directory.
    pub(crate) fn reset(&self) {
        self.journal.clear();
        if let Err(error) = self.store.clear_temporary().and_then(|()| self.furnish()) {
            tracing::error!(%error, "the buckets of the start cannot be made again");
        }
    }
}

/// Where it is, and what it was asked.
impl MockS3 {
    /// Base URL, such as `http://127.0.0.1:41235`, without a slash at its end.
    pub fn endpoint_url(&self) -> &str {
        &self.url
    }

    /// Where objects are kept.
    pub fn directory(&self) -> &Path {
        self.content.store.root()
    }

    /// The first of the buckets that are there from the start.
    pub fn default_bucket(&self) -> &str {
        self.content.settings.buckets().first().copied().unwrap_or_default()
    }

    /// The latest requests, from the oldest on: as many as [`journal`](crate::MockSqsBuilder::journal) says.
    pub fn requests(&self) -> Vec<S3Request> {
        self.content.journal.all()
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.content.journal.connections()
    }
}

/// What is in it. There is nothing in a bucket that there is not.
impl MockS3 {
    /// Names of all buckets, in order.
    pub fn buckets(&self) -> Vec<String> {
        self.content.store.buckets().iter().map(|bucket| bucket.name().to_owned()).collect()
    }

    /// All objects of a bucket, by key.
    pub fn objects(&self, bucket: &str) -> Vec<S3Object> {
        let found = self.found(bucket);
        found.map(|bucket| bucket.objects(|all| all.values().map(shown).collect())).unwrap_or_default()
    }

    /// How many objects a bucket has.
    pub fn count(&self, bucket: &str) -> usize {
        self.found(bucket).map_or(0, |bucket| bucket.objects(std::collections::BTreeMap::len))
    }

    /// One object; `None` when there is none.
    pub fn object(&self, bucket: &str, key: &str) -> Option<S3Object> {
        self.found(bucket)?.object(key).as_ref().map(shown)
    }

    /// The uploads in parts that are under way, by id.
    pub fn uploads(&self, bucket: &str) -> Vec<S3Upload> {
        let all = self.found(bucket).map(|bucket| bucket.uploads()).unwrap_or_default();
        let shown = |upload: super::store::Upload| S3Upload {
            key: upload.head.key.clone(),
            id: upload.head.id.clone(),
            parts: upload.parts.len(),
            initiated: Timestamp::from_millis(upload.head.initiated),
        };
        all.into_iter().map(shown).collect()
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
        let request = s3s::S3Request {
            input,
            method: Method::PUT,
            uri: Uri::default(),
            headers: HeaderMap::new(),
            extensions: http::Extensions::new(),
            credentials: None,
            region: None,
            service: None,
            trailing_headers: None,
        };
        let operations = Operations::new(Arc::clone(&self.content.store), self.content.clock.clone());
        let put = s3s::S3::put_object(&operations, request).map(|put| put.map(drop).map_err(other));
        put.await
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

fn absent(bucket: &str, key: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no object {key:?} in a bucket {bucket:?}"))
}

fn other(error: impl fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

fn shown(object: &Arc<Object>) -> S3Object {
    let record = &object.record;
    S3Object {
        key: record.key.clone(),
        size: record.size(),
        etag: record.etag.clone(),
        last_modified: Timestamp::from_millis(record.modified),
        metadata: record.attributes.metadata.clone(),
        content_type: record.attributes.content_type.clone(),
        content_encoding: record.attributes.content_encoding.clone(),
    }
}
