//! The implementation of the S3 operations.
//!
//! ```text
//! s3s: HTTP, signatures, XML -> Access (faults, owner) -> one method of `Operations` -> store
//! ```

mod assemble;
mod attributes;
mod body;
mod buckets;
mod conditions;
mod delete;
mod get;
mod list;
mod multipart;
mod notifications;
mod page;
mod parts;
mod put;
mod table;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use s3s::dto::Timestamp;
use s3s::{S3Error, S3Result, s3_error};

pub(super) use body::{BodyTimeout, Trailers};

use super::notifications::StoredObject;
use super::outbox::{Outbox, OutboxClosed, Targets};
use super::store::{Bucket, BucketRemoved, Object, Record, Store};
use crate::service::clock::Clock;

/// Implements the S3 operations.
#[derive(Clone, Debug)]
pub(super) struct Operations {
    store: Arc<Store>,
    /// The source of all timestamps.
    clock: Clock,
    outbox: Arc<Outbox>,
    targets: Arc<Targets>,
}

impl Operations {
    pub(super) fn new(store: Arc<Store>, clock: Clock, outbox: Outbox, targets: Arc<Targets>) -> Self {
        Self { store, clock, outbox: Arc::new(outbox), targets }
    }

    /// Drops the events that are not delivered yet.
    pub(super) fn discard_events(&self) {
        self.outbox.discard();
    }

    fn bucket(&self, name: &str) -> S3Result<Arc<Bucket>> {
        self.store.bucket(name).ok_or_else(no_such_bucket)
    }

    fn object(&self, bucket: &str, key: &str) -> S3Result<Arc<Object>> {
        self.bucket(bucket)?.object(key).ok_or_else(no_such_key)
    }

    /// In milliseconds since the epoch.
    fn now(&self) -> u64 {
        self.clock.now().as_millis()
    }
}

/// A stored object, for its event.
fn stored(record: &Record) -> StoredObject<'_> {
    StoredObject { size: record.size(), etag: &record.etag }
}

fn no_such_bucket() -> S3Error {
    s3_error!(NoSuchBucket, "The specified bucket does not exist")
}

fn no_such_key() -> S3Error {
    s3_error!(NoSuchKey, "The specified key does not exist.")
}

/// Converts milliseconds since the epoch.
fn timestamp(millis: u64) -> Timestamp {
    (SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).into()
}

/// The error of an operation. An I/O error becomes `InternalError` and is logged.
#[derive(Debug)]
struct Failed(S3Error);

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        tracing::warn!(%error, "I/O error of S3");
        Self(S3Error::internal_error(error))
    }
}

impl From<BucketRemoved> for Failed {
    fn from(_: BucketRemoved) -> Self {
        Self(no_such_bucket())
    }
}

impl From<OutboxClosed> for Failed {
    fn from(_: OutboxClosed) -> Self {
        Self(s3_error!(ServiceUnavailable, "The server is stopping."))
    }
}

impl From<S3Error> for Failed {
    fn from(error: S3Error) -> Self {
        Self(error)
    }
}

impl From<Failed> for S3Error {
    fn from(Failed(error): Failed) -> Self {
        error
    }
}

/// Sets the checksum fields of an output.
macro_rules! set_checksum {
    ($output:ident, $checksum:expr) => {
        let fields = crate::s3::store::StoredChecksum::fields($checksum);
        $output.checksum_crc32 = fields.checksum_crc32;
        $output.checksum_crc32c = fields.checksum_crc32c;
        $output.checksum_crc64nvme = fields.checksum_crc64nvme;
        $output.checksum_sha1 = fields.checksum_sha1;
        $output.checksum_sha256 = fields.checksum_sha256;
    };
    ($output:ident, $checksum:expr, with type) => {
        let checksum = $checksum;
        set_checksum!($output, checksum);
        $output.checksum_type = crate::s3::store::StoredChecksum::fields(checksum).checksum_type;
    };
}
use set_checksum;
