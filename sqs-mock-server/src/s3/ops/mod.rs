//! The operations of S3, by what they are about.
//!
//! ```text
//! s3s: HTTP, signatures, XML -> gate (faults, owner) -> one method of `Operations` -> store
//! ```

mod attributes;
mod buckets;
mod conditions;
mod delete;
mod get;
mod intake;
mod list;
mod multipart;
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

pub(super) use intake::Trailers;

use super::store::{Bucket, Gone, Object, Store};
use crate::clock::Clock;

/// What answers requests to S3.
#[derive(Clone, Debug)]
pub(super) struct Operations {
    store: Arc<Store>,
    /// Whatever is written gets its time from it.
    clock: Clock,
}

impl Operations {
    pub(super) fn new(store: Arc<Store>, clock: Clock) -> Self {
        Self { store, clock }
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

fn no_such_bucket() -> S3Error {
    s3_error!(NoSuchBucket, "The specified bucket does not exist")
}

fn no_such_key() -> S3Error {
    s3_error!(NoSuchKey, "The specified key does not exist.")
}

/// From milliseconds since the epoch.
fn timestamp(millis: u64) -> Timestamp {
    (SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).into()
}

/// What went wrong with a file. It is the server's own trouble, and shows in its log.
#[derive(Debug)]
struct Failed(S3Error);

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        tracing::warn!(%error, "a file of S3 cannot be used");
        Self(S3Error::internal_error(error))
    }
}

impl From<Gone> for Failed {
    fn from(_: Gone) -> Self {
        Self(no_such_bucket())
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

/// Sets the fields of an answer that hold a checksum.
macro_rules! set_sum {
    ($output:ident, $sum:expr) => {
        let shown = crate::s3::store::Sum::shown($sum);
        $output.checksum_crc32 = shown.checksum_crc32;
        $output.checksum_crc32c = shown.checksum_crc32c;
        $output.checksum_crc64nvme = shown.checksum_crc64nvme;
        $output.checksum_sha1 = shown.checksum_sha1;
        $output.checksum_sha256 = shown.checksum_sha256;
    };
    ($output:ident, $sum:expr, with its type) => {
        let sum = $sum;
        set_sum!($output, sum);
        $output.checksum_type = crate::s3::store::Sum::shown(sum).checksum_type;
    };
}
use set_sum;
