//! The implementation of the S3 operations.
//!
//! ```text
//! s3s: HTTP, signatures, XML -> Access (faults, owner) -> one method of `Operations` -> store
//! ```

mod assemble;
mod attributes;
mod body;
mod buckets;
mod chunks;
mod conditions;
mod delete;
mod get;
mod list;
mod multipart;
mod notifications;
mod page;
mod put;
mod table;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use s3s::dto::Timestamp;
use s3s::{S3Error, S3Result, s3_error};

pub(super) use body::BODY_TIMEOUT;
pub(super) use page::Query;

use super::notifications::Change;
use super::outbox::Outbox;
use super::store::{Bucket, Object, Record, Store, no_such_bucket};

/// Implements the S3 operations.
#[derive(Clone, Debug)]
pub(super) struct Operations {
    pub(super) store: Arc<Store>,
    pub(super) outbox: Arc<Outbox>,
}

impl Operations {
    fn bucket(&self, name: &str) -> S3Result<Arc<Bucket>> {
        self.store.bucket(name).ok_or_else(no_such_bucket)
    }

    fn object(&self, bucket: &str, key: &str) -> S3Result<Arc<Object>> {
        self.bucket(bucket)?.object(key).ok_or_else(no_such_key)
    }

    /// In milliseconds since the epoch.
    fn now(&self) -> u64 {
        self.outbox.clock.now().as_millis()
    }
}

/// The event of an object that was stored.
fn stored<'r>(name: &'static str, record: &'r Record) -> Change<'r> {
    Change { name, object: Some((record.size(), &record.etag)) }
}

fn no_such_key() -> S3Error {
    s3_error!(NoSuchKey, "The specified key does not exist.")
}

/// Converts milliseconds since the epoch.
fn timestamp(millis: u64) -> Timestamp {
    (SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).into()
}

/// The error of S3 that the store returned. An I/O error becomes `InternalError` and is logged.
fn refused(error: io::Error) -> S3Error {
    error.downcast().unwrap_or_else(|error| {
        tracing::warn!(%error, "I/O error of S3");
        S3Error::internal_error(error)
    })
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
