//! The resource that a request addresses.

use super::arn::{QueueArn, TopicArn};

/// The resource that a request addresses.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Resource {
    /// An SQS queue, which may not exist.
    Queue(QueueArn),
    /// An SNS topic, which may not exist.
    Topic(TopicArn),
    /// An S3 bucket.
    Bucket(String),
    /// An S3 object.
    #[non_exhaustive]
    Object {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
    },
}

impl Resource {
    /// The bucket, or the bucket of an object.
    pub fn bucket(&self) -> Option<&str> {
        match self {
            Self::Bucket(bucket) | Self::Object { bucket, .. } => Some(bucket),
            Self::Queue(_) | Self::Topic(_) => None,
        }
    }

    /// The key of an object.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Object { key, .. } => Some(key),
            Self::Queue(_) | Self::Topic(_) | Self::Bucket(_) => None,
        }
    }

    /// The name of a topic.
    pub fn topic(&self) -> Option<&str> {
        match self {
            Self::Topic(arn) => Some(&arn.name),
            Self::Queue(_) | Self::Bucket(_) | Self::Object { .. } => None,
        }
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Queue(arn) => arn.region.len() + arn.account.len() + arn.name.len(),
            Self::Topic(arn) => arn.region.len() + arn.account.len() + arn.name.len(),
            Self::Bucket(bucket) => bucket.len(),
            Self::Object { bucket, key } => bucket.len() + key.len(),
        }
    }

    /// The resource of an S3 request.
    #[cfg(feature = "s3")]
    pub(crate) fn in_s3(bucket: Option<&str>, key: Option<&str>) -> Option<Self> {
        let bucket = bucket?.to_owned();
        Some(match key {
            Some(key) => Self::Object { bucket, key: key.to_owned() },
            None => Self::Bucket(bucket),
        })
    }
}
