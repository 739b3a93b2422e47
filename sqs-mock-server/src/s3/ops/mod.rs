//! The implementation of the S3 operations.
//!
//! ```text
//! s3s: HTTP, signatures, XML -> Gate (faults, owner) -> one method of `Operations` -> store
//! ```

mod body;
mod buckets;
mod chunks;
mod complete;
mod get;
mod list;
mod multipart;
mod notifications;
mod objects;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[allow(clippy::wildcard_imports, reason = "inputs and outputs of all operations")]
use s3s::dto::*;
use s3s::{S3, S3Error, S3Request, S3Response, S3Result, s3_error};

pub(super) use body::{BODY_TIMEOUT, ExpectedChecksum};
pub(super) use list::Query;

use super::outbox::Outbox;
use super::store::{self, Store, no_such_bucket};

/// Implements the S3 operations.
#[derive(Clone, Debug)]
pub(super) struct Operations {
    pub(super) store: Arc<Store>,
    pub(super) outbox: Arc<Outbox>,
}

impl Operations {
    fn bucket(&self, name: &str) -> S3Result<Arc<store::Bucket>> {
        self.store.bucket(name).ok_or_else(no_such_bucket)
    }

    fn object(&self, bucket: &str, key: &str) -> S3Result<Arc<store::Object>> {
        self.bucket(bucket)?.object(key).ok_or_else(no_such_key)
    }

    /// In milliseconds since the epoch.
    fn now(&self) -> u64 {
        self.outbox.clock.now().as_millis()
    }
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

/// Moves fields of s3s into those of the same names: the listed ones, all attributes, or all checksums.
macro_rules! move_fields {
    ($from:expr => $to:expr; attributes) => {
        move_fields!($from => $to; metadata cache_control content_disposition content_encoding content_language
            content_type storage_class server_side_encryption ssekms_key_id);
    };
    ($from:expr => $to:expr; checksums) => {
        move_fields!($from => $to; checksum_crc32 checksum_crc32c checksum_crc64nvme checksum_sha1 checksum_sha256);
    };
    ($from:expr => $to:expr; $($field:ident)+) => { $( $to.$field = $from.$field; )+ };
}
use move_fields;

/// Implements each listed method of the [`S3`] trait with the method of the same name. `waits` marks async methods.
/// Other operations fail with `NotImplemented`.
macro_rules! operations {
    (@call $call:expr) => { $call };
    (@call $call:expr, $waits:ident) => { $call.await };
    ($( $method:ident: $input:ident -> $output:ident $(, $waits:ident)?; )*) => {
        #[async_trait::async_trait]
        impl S3 for Operations {
            $(
                async fn $method(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                    operations!(@call self.$method(request) $(, $waits)?).map(S3Response::new)
                }
            )*
        }
    };
}

operations! {
    abort_multipart_upload: AbortMultipartUploadInput -> AbortMultipartUploadOutput;
    complete_multipart_upload: CompleteMultipartUploadInput -> CompleteMultipartUploadOutput, waits;
    create_bucket: CreateBucketInput -> CreateBucketOutput;
    create_multipart_upload: CreateMultipartUploadInput -> CreateMultipartUploadOutput;
    delete_bucket: DeleteBucketInput -> DeleteBucketOutput;
    delete_object: DeleteObjectInput -> DeleteObjectOutput;
    delete_objects: DeleteObjectsInput -> DeleteObjectsOutput;
    get_bucket_location: GetBucketLocationInput -> GetBucketLocationOutput;
    get_bucket_notification_configuration: GetBucketNotificationConfigurationInput
        -> GetBucketNotificationConfigurationOutput;
    get_object: GetObjectInput -> GetObjectOutput;
    head_bucket: HeadBucketInput -> HeadBucketOutput;
    head_object: HeadObjectInput -> HeadObjectOutput;
    list_buckets: ListBucketsInput -> ListBucketsOutput;
    list_objects_v2: ListObjectsV2Input -> ListObjectsV2Output;
    put_bucket_notification_configuration: PutBucketNotificationConfigurationInput
        -> PutBucketNotificationConfigurationOutput;
    put_object: PutObjectInput -> PutObjectOutput, waits;
    upload_part: UploadPartInput -> UploadPartOutput, waits;
}
