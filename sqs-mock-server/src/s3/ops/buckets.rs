//! Operations on buckets.

use s3s::dto::{
    Bucket, BucketLocationConstraint, CreateBucketInput, CreateBucketOutput, DeleteBucketInput,
    DeleteBucketOutput, GetBucketLocationInput, GetBucketLocationOutput, HeadBucketInput, HeadBucketOutput,
    ListBucketsInput, ListBucketsOutput,
};
use s3s::{S3Request, S3Result, s3_error};

use super::{Operations, refused, timestamp};

#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "all operations have one signature"
)]
impl Operations {
    pub(super) fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> S3Result<CreateBucketOutput> {
        let name = request.input.bucket;
        if !self.store.create(&name, self.now()).map_err(refused)? {
            let text = "Your previous request to create the named bucket succeeded and you already own it.";
            return Err(s3_error!(BucketAlreadyOwnedByYou, "{text}"));
        }
        Ok(CreateBucketOutput { location: Some(format!("/{name}")) })
    }

    pub(super) fn delete_bucket(
        &self,
        request: S3Request<DeleteBucketInput>,
    ) -> S3Result<DeleteBucketOutput> {
        let bucket = self.bucket(&request.input.bucket)?;
        if !self.store.remove(&bucket).map_err(refused)? {
            return Err(s3_error!(BucketNotEmpty, "The bucket you tried to delete is not empty"));
        }
        Ok(DeleteBucketOutput::default())
    }

    pub(super) fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> S3Result<HeadBucketOutput> {
        self.bucket(&request.input.bucket)?;
        Ok(HeadBucketOutput::default())
    }

    pub(super) fn get_bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> S3Result<GetBucketLocationOutput> {
        self.bucket(&request.input.bucket)?;
        // The location of the first region is empty.
        let region = Some(self.outbox.region.as_str()).filter(|region| *region != "us-east-1");
        let location_constraint = region.map(|region| BucketLocationConstraint::from(region.to_owned()));
        Ok(GetBucketLocationOutput { location_constraint })
    }

    pub(super) fn list_buckets(&self, request: S3Request<ListBucketsInput>) -> S3Result<ListBucketsOutput> {
        let prefix = request.input.prefix;
        let start = prefix.as_deref().unwrap_or_default();
        let all = self.store.buckets();
        let rows = all.iter().filter(|bucket| bucket.name.starts_with(start)).map(|bucket| Bucket {
            name: Some(bucket.name.clone()),
            creation_date: Some(timestamp(bucket.created)),
            ..Bucket::default()
        });
        Ok(ListBucketsOutput { buckets: Some(rows.collect()), prefix, ..ListBucketsOutput::default() })
    }
}
