//! The names of services and their operations.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sqs_client::operation::Action;

/// A service of the server.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum ServiceName {
    /// Amazon SQS.
    Sqs,
    /// Amazon S3.
    S3,
    /// Amazon SNS.
    Sns,
    /// AWS STS.
    Sts,
}

impl ServiceName {
    /// All services.
    pub(crate) const ALL: [Self; 4] = [Self::Sqs, Self::S3, Self::Sns, Self::Sts];

    /// The name in IAM actions and in JSON, such as `sqs`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sqs => "sqs",
            Self::S3 => "s3",
            Self::Sns => "sns",
            Self::Sts => "sts",
        }
    }
}

/// The name in upper case, such as `SQS`.
impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str().to_uppercase())
    }
}

/// An operation that the server implements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Operation {
    pub(crate) service: ServiceName,
    /// The name that AWS uses, such as `SendMessage`.
    pub(crate) name: &'static str,
}

impl Operation {
    /// Finds an operation by name, among those of one service or of all.
    ///
    /// # Errors
    /// Fails if there is none; the text lists all names.
    pub(crate) fn find(service: Option<ServiceName>, name: &str) -> Result<Self, String> {
        let sqs = Action::ALL.into_iter().map(Self::from);
        let s3 = S3Action::ALL.iter().copied().map(Self::from);
        // After SQS, which has actions with the same names.
        let sns = SnsAction::ALL.iter().copied().map(Self::from);
        let sts = StsAction::ALL.iter().copied().map(Self::from);
        let all = sqs.chain(s3).chain(sns).chain(sts);
        let all: Vec<_> = all.filter(|one| service.is_none_or(|service| service == one.service)).collect();
        all.iter().copied().find(|operation| operation.name == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|operation| operation.name).collect();
            format!("unknown action {name:?}; there are {}", names.join(", "))
        })
    }
}

impl From<Action> for Operation {
    fn from(action: Action) -> Self {
        Self { service: ServiceName::Sqs, name: action.as_str() }
    }
}

impl From<S3Action> for Operation {
    fn from(action: S3Action) -> Self {
        Self { service: ServiceName::S3, name: action.name() }
    }
}

impl From<SnsAction> for Operation {
    fn from(action: SnsAction) -> Self {
        Self { service: ServiceName::Sns, name: action.name() }
    }
}

impl From<StsAction> for Operation {
    fn from(action: StsAction) -> Self {
        Self { service: ServiceName::Sts, name: action.name() }
    }
}

/// Serializes as the name.
impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::find(None, &name).map_err(serde::de::Error::custom)
    }
}

/// Declares an enum of operations and their names.
macro_rules! actions {
    ($(#[$meta:meta])* $type:ident { $( $name:ident )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum $type {
            $( #[doc = concat!("`", stringify!($name), "`.")] $name, )*
        }

        #[cfg_attr(not(feature = "s3"), allow(unreachable_pub, reason = "S3 is exported with its feature"))]
        impl $type {
            /// All operations, ordered by name.
            pub const ALL: &'static [Self] = &[ $( Self::$name, )* ];

            /// The name that AWS uses.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$name => stringify!($name), )*
                }
            }
        }
    };
}

actions! {
    /// An operation of S3 that the server implements.
    #[cfg_attr(not(feature = "s3"), allow(unreachable_pub, reason = "S3 is exported with its feature"))]
    S3Action {
        AbortMultipartUpload
        CompleteMultipartUpload
        CopyObject
        CreateBucket
        CreateMultipartUpload
        DeleteBucket
        DeleteObject
        DeleteObjectTagging
        DeleteObjects
        GetBucketLocation
        GetBucketNotificationConfiguration
        GetObject
        GetObjectTagging
        HeadBucket
        HeadObject
        ListBuckets
        ListObjects
        ListObjectsV2
        ListParts
        PostObject
        PutBucketNotificationConfiguration
        PutObject
        PutObjectTagging
        UploadPart
        UploadPartCopy
    }
}

actions! {
    /// An action of SNS that the server implements.
    SnsAction {
        AddPermission
        ConfirmSubscription
        CreateTopic
        DeleteTopic
        GetSubscriptionAttributes
        GetTopicAttributes
        ListSubscriptions
        ListSubscriptionsByTopic
        ListTagsForResource
        ListTopics
        Publish
        PublishBatch
        RemovePermission
        SetSubscriptionAttributes
        SetTopicAttributes
        Subscribe
        TagResource
        Unsubscribe
        UntagResource
    }
}

actions! {
    /// An action of STS that the server implements.
    StsAction {
        AssumeRole
        AssumeRoleWithWebIdentity
        GetCallerIdentity
    }
}

#[cfg(feature = "s3")]
impl S3Action {
    /// The operation with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

impl fmt::Display for S3Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
