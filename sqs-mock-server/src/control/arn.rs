//! ARNs of queues and topics.

use std::fmt;
use std::str::FromStr;

use crate::control::text::serialize_as_text;

/// Longer than the ARN of any queue. Policies store ARNs that callers send, so their length is bounded.
const MAX_BYTES: usize = 256;

/// The partitions other than `aws`, after how the names of their regions start.
const PARTITIONS: [(&str, &str); 7] = [
    ("cn-", "aws-cn"),
    ("us-gov-", "aws-us-gov"),
    ("us-iso-", "aws-iso"),
    ("us-isob-", "aws-iso-b"),
    ("eu-isoe-", "aws-iso-e"),
    ("us-isof-", "aws-iso-f"),
    ("eusc-", "aws-eusc"),
];

/// The partition of a region: the second part of its ARNs.
///
/// Source: <https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html>
pub(crate) fn partition(region: &str) -> &'static str {
    let known = PARTITIONS.into_iter().find(|(start, _)| region.starts_with(start));
    known.map_or("aws", |(_, partition)| partition)
}

/// How ARNs of queues and topics in other partitions than `aws` start in files of earlier versions, which knew no
/// partitions, and how they should. Both end with the start of the region.
#[cfg(any(feature = "durable", feature = "s3"))]
pub(crate) fn outdated() -> impl Iterator<Item = (String, String)> {
    PARTITIONS.into_iter().flat_map(|(region, partition)| {
        ["sqs", "sns"].map(|service| {
            (format!("arn:aws:{service}:{region}"), format!("arn:{partition}:{service}:{region}"))
        })
    })
}

/// Corrects the partitions in a text of an earlier version.
#[cfg(feature = "s3")]
pub(crate) fn with_partitions(text: &str) -> String {
    outdated().fold(text.to_owned(), |text, (outdated, right)| text.replace(&outdated, &right))
}

/// The ARN of the root user of an account, in the partition of a region.
pub(crate) fn root(region: &str, account: &str) -> String {
    format!("arn:{}:iam::{account}:root", partition(region))
}

/// Region, account and the rest of the ARN of a service, if its partition is that of its region.
fn parts<'a>(text: &'a str, service: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let mut parts = text.splitn(6, ':');
    let [arn, own_partition, own_service, region, account, rest] = [(); 6].map(|()| parts.next());
    let region = region?;
    (arn? == "arn" && own_service? == service && own_partition? == partition(region))
        .then_some((region, account?, rest?))
}

/// `arn:<partition>:sqs:<region>:<account>:<name>`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct QueueArn {
    /// Such as `us-east-1`.
    pub region: Box<str>,
    /// 12 digits.
    pub account: Box<str>,
    /// Name of the queue, with its `.fifo` when it has one.
    pub name: Box<str>,
}

impl QueueArn {
    /// Builds the ARN of a queue.
    pub fn new(region: &str, account: &str, name: &str) -> Self {
        Self { region: region.into(), account: account.into(), name: name.into() }
    }

    /// Whether the name is one of a FIFO queue.
    pub fn is_fifo(&self) -> bool {
        is_fifo_name(&self.name)
    }

    /// The ARN of another queue in the same account and region.
    pub(crate) fn neighbour(&self, name: &str) -> Self {
        Self { name: name.into(), ..self.clone() }
    }

    /// Whether both queues are in the same account and region.
    pub(crate) fn is_neighbour_of(&self, other: &Self) -> bool {
        self.region == other.region && self.account == other.account
    }
}

/// Whether a queue of this name is a FIFO queue.
pub(crate) fn is_fifo_name(name: &str) -> bool {
    name.strip_suffix(".fifo").is_some()
}

impl fmt::Display for QueueArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { region, account, name } = self;
        write!(f, "arn:{}:sqs:{region}:{account}:{name}", partition(region))
    }
}

/// The error for text that is not the ARN of a queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotAQueueArn;

impl fmt::Display for NotAQueueArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the ARN of a queue")
    }
}

impl std::error::Error for NotAQueueArn {}

impl FromStr for QueueArn {
    type Err = NotAQueueArn;

    fn from_str(text: &str) -> Result<Self, NotAQueueArn> {
        match parts(text, "sqs") {
            Some((region, account, name))
                if !name.is_empty() && !name.contains(':') && text.len() <= MAX_BYTES =>
            {
                Ok(Self::new(region, account, name))
            }
            _ => Err(NotAQueueArn),
        }
    }
}

/// `arn:<partition>:sns:<region>:<account>:<name>`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TopicArn {
    /// Such as `us-east-1`.
    pub region: Box<str>,
    /// 12 digits.
    pub account: Box<str>,
    /// Name of the topic, with its `.fifo` when it has one.
    pub name: Box<str>,
}

impl TopicArn {
    /// Builds the ARN of a topic.
    pub fn new(region: &str, account: &str, name: &str) -> Self {
        Self { region: region.into(), account: account.into(), name: name.into() }
    }

    /// Whether the name is one of a FIFO topic.
    pub fn is_fifo(&self) -> bool {
        is_fifo_name(&self.name)
    }

    /// The topic of an ARN, or of the ARN of a subscription to it.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (region, account, rest) = parts(text, "sns")?;
        let name = rest.split(':').next()?;
        (!name.is_empty()).then(|| Self::new(region, account, name))
    }
}

impl fmt::Display for TopicArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { region, account, name } = self;
        write!(f, "arn:{}:sns:{region}:{account}:{name}", partition(region))
    }
}

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
    pub(crate) fn bucket(&self) -> Option<&str> {
        match self {
            Self::Bucket(bucket) | Self::Object { bucket, .. } => Some(bucket),
            Self::Queue(_) | Self::Topic(_) => None,
        }
    }

    /// The key of an object.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::Object { key, .. } => Some(key),
            Self::Queue(_) | Self::Topic(_) | Self::Bucket(_) => None,
        }
    }

    /// The name of a topic.
    pub(crate) fn topic(&self) -> Option<&str> {
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

serialize_as_text!(QueueArn, TopicArn);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arn_survives_a_round_trip() {
        for text in [
            "arn:aws:sqs:eu-west-1:123456789012:orders.fifo",
            "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:orders.fifo",
            "arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo",
        ] {
            let arn: QueueArn = text.parse().unwrap();
            assert_eq!(arn.to_string(), text);
            assert!(arn.is_fifo());
            let topic = text.replace("sqs", "sns");
            assert_eq!(TopicArn::of(&format!("{topic}:1")).unwrap().to_string(), topic);
        }
    }

    #[test]
    fn text_that_is_not_a_queue_arn_is_rejected() {
        let long = format!("arn:aws:sqs:a:b:{}", "c".repeat(300));
        for text in [
            &long,
            "",
            "orders",
            "arn:aws:sns:a:b:c",
            "arn:aws:sqs:a:b",
            "arn:aws:sqs:a:b:",
            "arn:aws:sqs:a:b:c:d",
            "arn:aws:sqs:us-gov-west-1:123456789012:orders",
            "arn:aws-cn:sqs:us-east-1:123456789012:orders",
        ] {
            assert_eq!(text.parse::<QueueArn>(), Err(NotAQueueArn), "{text}");
        }
    }
}
