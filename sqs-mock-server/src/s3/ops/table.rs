//! Maps the methods of the [`S3`] trait to [`Operations`]. Other operations fail with `NotImplemented`.

#[allow(clippy::wildcard_imports, reason = "inputs and outputs of all operations")]
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};

use super::Operations;

/// Implements each listed trait method with the method of the same name. `waits` marks async methods.
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
