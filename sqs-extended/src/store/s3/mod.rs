//! Payloads in Amazon S3 and compatible services.
//!
//! ```text
//! put: source -> parts -> one part:   PutObject
//!                         more parts: Create -> UploadPart, several at a time -> Complete     or Abort, also on drop
//! get: GetObject (Range, If-Match) -> body
//! ```

mod attempts;
mod chain;
mod checksum;
mod error;
mod multipart;
mod object;
mod put;
mod read;
mod settings;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{Object, ObjectPage, PayloadStore, StoreFuture, Upload};
use crate::pointer::Pointer;
use error::{Asked, What};
use settings::Settings;

pub use checksum::Checksum;
pub use settings::{Encryption, S3Access, S3StoreBuilder};

/// Payloads in Amazon S3 and compatible services.
///
/// Objects are never overwritten (`If-None-Match`), so keys must be unique. Uploads have a [checksum](Checksum) that S3
/// verifies and stores. Objects over 8 MiB are uploaded in parts, four at a time. If an upload fails or is dropped, it
/// is aborted in the background. If the process dies meanwhile, its parts remain: add a [lifecycle rule] with
/// `AbortIncompleteMultipartUpload` to the bucket.
///
/// The `aws_sdk_s3::Client` has its own retries and timeouts; by default it waits for responses forever. The
/// [`store_timeout`](crate::ExtendedClientBuilder::store_timeout) bounds the calls of an extended client. Clones share the client.
///
/// ```no_run
/// # async fn open(s3: aws_sdk_s3::Client) -> Result<(), sqs_extended::Error> {
/// use sqs_extended::{Encryption, S3Store};
///
/// let simple = S3Store::new(s3.clone(), "payload-bucket");
/// let kms = Encryption::Kms { key: Some("alias/payloads".into()), context: vec![] };
/// let strict = S3Store::builder(s3, "payload-bucket")
///     .encryption(kms)
///     .bucket_key(true)
///     .expected_bucket_owner("111122223333")
///     .tag("purpose", "payloads")
///     .build()?;
/// # Ok(()) }
/// ```
///
/// [lifecycle rule]: https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpu-abort-incomplete-mpu-lifecycle-config.html
#[derive(Clone)]
pub struct S3Store(Arc<Inner>);

struct Inner {
    client: aws_sdk_s3::Client,
    bucket: String,
    settings: Settings,
    tagging: Option<String>,
}

impl S3Store {
    /// A store with default settings. New objects go to `bucket`.
    pub fn new(client: aws_sdk_s3::Client, bucket: impl Into<String>) -> Self {
        Self::assemble(client, bucket.into(), Settings::default())
    }

    /// A builder with settings.
    pub fn builder(client: aws_sdk_s3::Client, bucket: impl Into<String>) -> S3StoreBuilder {
        S3StoreBuilder::new(client, bucket.into())
    }

    fn assemble(client: aws_sdk_s3::Client, bucket: String, settings: Settings) -> Self {
        let tagging = settings.tagging();
        Self(Arc::new(Inner { client, bucket, settings, tagging }))
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The client for a bucket.
    fn client(&self, bucket: &str) -> &aws_sdk_s3::Client {
        let other = self.settings().others.get(bucket).and_then(|access| access.client.as_ref());
        other.unwrap_or(&self.0.client)
    }

    /// The account that must own a bucket.
    fn owner(&self, bucket: &str) -> Option<String> {
        match self.settings().others.get(bucket) {
            Some(access) => access.owner.clone(),
            None => self.settings().owner.clone().filter(|_| bucket == self.0.bucket),
        }
    }
}

impl PayloadStore for S3Store {
    fn bucket(&self) -> &str {
        &self.0.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(self.write(at, upload))
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(self.read(at, range, tag))
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let request = self.client(at.bucket()).delete_object().bucket(at.bucket()).key(at.key());
            let deleted = request.set_expected_bucket_owner(self.owner(at.bucket())).send().await;
            deleted.map(drop).map_err(|error| Asked::of(What::Delete, at).failed(error))
        })
    }

    fn list<'a>(
        &'a self,
        bucket: &'a str,
        prefix: &'a str,
        page: Option<&'a str>,
    ) -> StoreFuture<'a, ObjectPage> {
        Box::pin(self.page(bucket, prefix, page))
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
