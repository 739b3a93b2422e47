//! Payloads in Amazon S3, and in what speaks its protocol.
//!
//! ```text
//! put: source -> parts -> one part:   PutObject
//!                         more parts: Create -> UploadPart, some at once -> Complete     else Abort, also when dropped
//! get: GetObject (Range, If-Match) -> body
//! ```

mod attempts;
mod chain;
mod error;
mod multipart;
mod object;
mod part;
mod parting;
mod put;
mod read;
mod settings;
mod shown;
mod source;
mod unfinished;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::object::cut;
use super::{Object, ObjectPage, PayloadStore, StoreError, UnfinishedPage, Upload};
use crate::pointer::Pointer;
use error::{Asked, What};
use settings::Settings;

pub use settings::{Encryption, S3StoreBuilder};

/// Payloads in Amazon S3.
///
/// Objects are written once: S3 is asked to refuse keys that are taken. Every request with bytes carries their SHA-256,
/// which S3 compares and keeps. Objects over 8 MiB go up in parts, four at once; an upload that fails or is dropped is aborted
/// in the background. A process that is killed in the middle leaves parts that no listing of objects shows and that cost
/// money: a [sweep](crate::ExtendedClient::sweep) finds them, and a lifecycle rule with `AbortIncompleteMultipartUpload`
/// removes them too.
///
/// How often the SDK tries again and how long it waits is set at its client: with its defaults it waits for an answer for
/// ever. [`store_timeout`](crate::ExtendedClientBuilder::store_timeout) bounds what an extended client asks of a store, and
/// nothing else does. Clones share the client.
///
/// ```no_run
/// # async fn open(s3: aws_sdk_s3::Client) -> Result<(), sqs_extended::StoreError> {
/// use sqs_extended::{Encryption, S3Store};
///
/// let simple = S3Store::new(s3.clone(), "payload-bucket");
/// let kms = Encryption::Kms { key: Some("alias/payloads".into()), context: vec![] };
/// let strict = S3Store::builder(s3, "payload-bucket")
///     .encryption(kms)
///     .expected_bucket_owner("111122223333")
///     .tag("purpose", "payloads")
///     .build()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct S3Store(Arc<Inner>);

struct Inner {
    client: aws_sdk_s3::Client,
    bucket: String,
    settings: Settings,
    tagging: Option<String>,
}

impl S3Store {
    /// A store with the defaults, whose own objects lie in `bucket`.
    pub fn new(client: aws_sdk_s3::Client, bucket: impl Into<String>) -> Self {
        Self::assemble(client, bucket.into(), Settings::default())
    }

    /// A store with settings.
    pub fn builder(client: aws_sdk_s3::Client, bucket: impl Into<String>) -> S3StoreBuilder {
        S3StoreBuilder::new(client, bucket.into())
    }

    fn assemble(client: aws_sdk_s3::Client, bucket: String, settings: Settings) -> Self {
        let tagging = settings.tagging();
        Self(Arc::new(Inner { client, bucket, settings, tagging }))
    }

    fn client(&self) -> &aws_sdk_s3::Client {
        &self.0.client
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }

    fn owner(&self) -> Option<String> {
        self.settings().owner.clone()
    }
}

impl PayloadStore for S3Store {
    fn bucket(&self) -> &str {
        &self.0.bucket
    }

    async fn put(&self, at: &Pointer, upload: Upload) -> Result<(), StoreError> {
        self.write(at, upload).await
    }

    async fn get(&self, at: &Pointer, from: u64, tag: Option<&str>) -> Result<Object, StoreError> {
        // An empty object has no bytes that a range could name.
        self.read(at, from, (from > 0).then(|| format!("bytes={from}-")), tag).await
    }

    async fn get_range(
        &self,
        at: &Pointer,
        range: Range<u64>,
        tag: Option<&str>,
    ) -> Result<Object, StoreError> {
        let (from, last) = (range.start, range.end.saturating_sub(1));
        let mut object = self.read(at, from, Some(format!("bytes={from}-{last}")), tag).await?;
        object.body = cut(object.body, range.end.saturating_sub(from));
        Ok(object)
    }

    async fn delete(&self, at: &Pointer) -> Result<(), StoreError> {
        let request = self.client().delete_object().bucket(at.bucket()).key(at.key());
        let asked = Asked::of(What::Delete, at);
        request.set_expected_bucket_owner(self.owner()).send().await.map_err(|error| asked.failed(error))?;
        Ok(())
    }

    async fn list(&self, bucket: &str, prefix: &str, page: Option<&str>) -> Result<ObjectPage, StoreError> {
        self.page(bucket, prefix, page).await
    }

    async fn list_unfinished(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> Result<UnfinishedPage, StoreError> {
        self.uploads(bucket, prefix, page).await
    }

    async fn abort_unfinished(&self, at: &Pointer, id: &str) -> Result<(), StoreError> {
        self.end_upload(at, id).await
    }
}

impl fmt::Debug for S3Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Store")
            .field("bucket", &self.0.bucket)
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}
