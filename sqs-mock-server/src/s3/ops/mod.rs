//! The implementation of the S3 operations.
//!
//! ```text
//! s3s: HTTP, signatures, XML -> Gate (faults, owner) -> one method of `Operations` -> store
//! ```

pub(crate) mod copy;
pub(crate) mod list;
pub(crate) mod multipart;
pub(crate) mod notifications;
pub(crate) mod objects;
pub(crate) mod tags;

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[allow(clippy::wildcard_imports, reason = "inputs and outputs of all operations")]
use s3s::dto::*;
use s3s::{S3, S3Error, S3Request, S3Response, S3Result, s3_error};

use crate::control::caller::is_region;
use crate::s3::RequestContext;
use crate::s3::outbox::Outbox;
use crate::s3::store::bucket::{no_such_bucket, region_of};
use crate::s3::store::{Store, bucket, object};

/// Implements the S3 operations.
#[derive(Clone, Debug)]
pub(crate) struct Operations {
    pub(crate) store: Arc<Store>,
    pub(crate) outbox: Arc<Outbox>,
}

impl Operations {
    fn bucket(&self, name: &str) -> S3Result<Arc<bucket::Bucket>> {
        self.store.bucket(name).ok_or_else(no_such_bucket)
    }

    fn object(&self, bucket: &str, key: &str) -> S3Result<Arc<object::Object>> {
        self.bucket(bucket)?.object(key).ok_or_else(no_such_key)
    }

    /// The region of a bucket.
    fn region<'a>(&'a self, bucket: &'a bucket::Bucket) -> &'a str {
        bucket.region(&self.outbox.region)
    }

    /// In milliseconds since the epoch.
    fn now(&self) -> u64 {
        self.outbox.clock.now().as_millis()
    }
}

/// The region that S3 treats differently: it has no location constraint, and buckets in it can be created again.
const FIRST_REGION: &str = "us-east-1";

fn no_such_key() -> S3Error {
    s3_error!(NoSuchKey, "The specified key does not exist.")
}

/// Converts milliseconds since the epoch.
fn timestamp(millis: u64) -> Timestamp {
    (SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).into()
}

/// The error of S3 that the store returned. The text of an I/O error is in the response, too, since an embedded
/// server may have no log.
pub(crate) fn refused(error: io::Error) -> S3Error {
    error.downcast().unwrap_or_else(|error| {
        tracing::warn!(%error, "I/O error of S3");
        s3_error!(InternalError, "The server cannot store or read objects: {error}")
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
pub(crate) use move_fields;

/// Implements each listed method of the [`S3`] trait with the method of the same name. `waits` marks async methods,
/// `has_headers` those that return a whole response. The gate refuses other operations.
macro_rules! operations {
    (@call $call:expr) => { $call.map(S3Response::new) };
    (@call $call:expr, waits) => { $call.await.map(S3Response::new) };
    (@call $call:expr, has_headers) => { $call };
    ($( $method:ident: $input:ident -> $output:ident $(, $kind:ident)?; )*) => {
        #[async_trait::async_trait]
        impl S3 for Operations {
            $(
                async fn $method(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                    operations!(@call self.$method(request) $(, $kind)?)
                }
            )*
        }
    };
}

operations! {
    abort_multipart_upload: AbortMultipartUploadInput -> AbortMultipartUploadOutput;
    complete_multipart_upload: CompleteMultipartUploadInput -> CompleteMultipartUploadOutput, waits;
    copy_object: CopyObjectInput -> CopyObjectOutput, waits;
    create_bucket: CreateBucketInput -> CreateBucketOutput;
    create_multipart_upload: CreateMultipartUploadInput -> CreateMultipartUploadOutput;
    delete_bucket: DeleteBucketInput -> DeleteBucketOutput;
    delete_object: DeleteObjectInput -> DeleteObjectOutput;
    delete_object_tagging: DeleteObjectTaggingInput -> DeleteObjectTaggingOutput;
    delete_objects: DeleteObjectsInput -> DeleteObjectsOutput;
    get_bucket_location: GetBucketLocationInput -> GetBucketLocationOutput;
    get_bucket_notification_configuration: GetBucketNotificationConfigurationInput
        -> GetBucketNotificationConfigurationOutput;
    get_object: GetObjectInput -> GetObjectOutput;
    get_object_tagging: GetObjectTaggingInput -> GetObjectTaggingOutput;
    head_bucket: HeadBucketInput -> HeadBucketOutput;
    head_object: HeadObjectInput -> HeadObjectOutput, has_headers;
    list_buckets: ListBucketsInput -> ListBucketsOutput;
    list_objects: ListObjectsInput -> ListObjectsOutput;
    list_objects_v2: ListObjectsV2Input -> ListObjectsV2Output;
    list_parts: ListPartsInput -> ListPartsOutput;
    put_bucket_notification_configuration: PutBucketNotificationConfigurationInput
        -> PutBucketNotificationConfigurationOutput;
    put_object: PutObjectInput -> PutObjectOutput, waits;
    put_object_tagging: PutObjectTaggingInput -> PutObjectTaggingOutput;
    upload_part: UploadPartInput -> UploadPartOutput, waits;
    upload_part_copy: UploadPartCopyInput -> UploadPartCopyOutput, waits;
}

#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "all operations have one signature"
)]
impl Operations {
    pub(crate) fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> S3Result<CreateBucketOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let (name, configuration) = (input.bucket, input.create_bucket_configuration);
        let location = configuration.and_then(|configuration| configuration.location_constraint);
        let location = location.map(|name| name.as_str().to_owned()).filter(|name| !name.is_empty());
        if let Some(location) = &location
            && (location == FIRST_REGION || !is_region(region_of(location)))
        {
            context.add_error_element("LocationConstraint", location);
            let text = "The specified location-constraint is not valid";
            return Err(s3_error!(InvalidLocationConstraint, "{text}"));
        }
        let is_in_first = location.as_deref().map_or(&*self.outbox.region, region_of) == FIRST_REGION;
        if !self.store.create(&name, location.as_deref(), self.now()).map_err(refused)? {
            // As on AWS, which keeps this for old clients.
            let is_repeatable = is_in_first && self.region(&*self.bucket(&name)?) == FIRST_REGION;
            if !is_repeatable {
                let text =
                    "Your previous request to create the named bucket succeeded and you already own it.";
                return Err(s3_error!(BucketAlreadyOwnedByYou, "{text}"));
            }
        }
        Ok(CreateBucketOutput { location: Some(format!("/{name}")) })
    }

    pub(crate) fn delete_bucket(
        &self,
        request: S3Request<DeleteBucketInput>,
    ) -> S3Result<DeleteBucketOutput> {
        let bucket = self.bucket(&request.input.bucket)?;
        if !self.store.remove(&bucket).map_err(refused)? {
            return Err(s3_error!(BucketNotEmpty, "The bucket you tried to delete is not empty"));
        }
        Ok(DeleteBucketOutput::default())
    }

    pub(crate) fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> S3Result<HeadBucketOutput> {
        let region = self.region(&*self.bucket(&request.input.bucket)?).to_owned();
        Ok(HeadBucketOutput { bucket_region: Some(region), ..HeadBucketOutput::default() })
    }

    pub(crate) fn get_bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> S3Result<GetBucketLocationOutput> {
        let bucket = self.bucket(&request.input.bucket)?;
        let location = bucket.location.as_deref().unwrap_or(&self.outbox.region);
        // The location of the first region is empty.
        let location = Some(location).filter(|location| *location != FIRST_REGION);
        let location_constraint = location.map(|location| location.to_owned().into());
        Ok(GetBucketLocationOutput { location_constraint })
    }

    pub(crate) fn list_buckets(&self, request: S3Request<ListBucketsInput>) -> S3Result<ListBucketsOutput> {
        let ListBucketsInput { bucket_region, continuation_token, max_buckets, prefix } = request.input;
        let start = prefix.as_deref().unwrap_or_default();
        // Requests without parameters get no regions.
        let shows_region = prefix.is_some() || bucket_region.is_some();
        let shows_region = shows_region || continuation_token.is_some() || max_buckets.is_some();
        let is_listed = |bucket: &bucket::Bucket| {
            let is_there = bucket_region.as_deref().is_none_or(|region| region == self.region(bucket));
            is_there && bucket.name.starts_with(start)
        };
        let all = self.store.buckets();
        let rows = all.iter().filter(|bucket| is_listed(bucket)).map(|bucket| Bucket {
            name: Some(bucket.name.clone()),
            creation_date: Some(timestamp(bucket.created)),
            bucket_region: shows_region.then(|| self.region(bucket).to_owned()),
        });
        Ok(ListBucketsOutput { buckets: Some(rows.collect()), prefix, ..ListBucketsOutput::default() })
    }
}

#[cfg(test)]
#[path = "ops_tests.rs"]
mod tests;
