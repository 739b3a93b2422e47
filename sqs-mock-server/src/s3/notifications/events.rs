//! Names of events, and the names that rules select them by.

/// The names by which rules select events.
pub(crate) const SELECTABLE: [&str; 31] = [
    "s3:ObjectCreated:*",
    "s3:ObjectCreated:Put",
    "s3:ObjectCreated:Post",
    "s3:ObjectCreated:Copy",
    "s3:ObjectCreated:CompleteMultipartUpload",
    "s3:ObjectRemoved:*",
    "s3:ObjectRemoved:Delete",
    "s3:ObjectRemoved:DeleteMarkerCreated",
    "s3:ObjectTagging:*",
    "s3:ObjectTagging:Put",
    "s3:ObjectTagging:Delete",
    "s3:ObjectAcl:Put",
    "s3:ObjectRestore:*",
    "s3:ObjectRestore:Post",
    "s3:ObjectRestore:Completed",
    "s3:ObjectRestore:Delete",
    "s3:Replication:*",
    "s3:Replication:OperationFailedReplication",
    "s3:Replication:OperationNotTracked",
    "s3:Replication:OperationMissedThreshold",
    "s3:Replication:OperationReplicatedAfterThreshold",
    "s3:LifecycleExpiration:*",
    "s3:LifecycleExpiration:Delete",
    "s3:LifecycleExpiration:DeleteMarkerCreated",
    "s3:LifecycleTransition",
    "s3:IntelligentTiering",
    "s3:ReducedRedundancyLostObject",
    "s3:ObjectAnnotation:*",
    "s3:ObjectAnnotation:Put",
    "s3:ObjectAnnotation:Delete",
    "s3:ObjectRetention:Put",
];

/// A change of an object: those that this server makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Put(StoredObject<'a>),
    /// By a form of a web page.
    Post(StoredObject<'a>),
    CompleteMultipartUpload(StoredObject<'a>),
    Delete,
}

/// An object after a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredObject<'a> {
    pub(crate) size: u64,
    /// Without quotes.
    pub(crate) etag: &'a str,
}

impl<'a> Change<'a> {
    /// The name in messages.
    pub(super) fn event_name(self) -> &'static str {
        match self {
            Self::Put(_) => "ObjectCreated:Put",
            Self::Post(_) => "ObjectCreated:Post",
            Self::CompleteMultipartUpload(_) => "ObjectCreated:CompleteMultipartUpload",
            Self::Delete => "ObjectRemoved:Delete",
        }
    }

    pub(super) fn object(self) -> Option<StoredObject<'a>> {
        match self {
            Self::Put(object) | Self::Post(object) | Self::CompleteMultipartUpload(object) => Some(object),
            Self::Delete => None,
        }
    }
}

/// Whether a name in a rule selects a change.
pub(super) fn selects(selector: &str, change: Change<'_>) -> bool {
    selector.strip_prefix("s3:").is_some_and(|selector| covers(selector, change.event_name()))
}

/// Whether two names in rules select a common event.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    covers(one, other) || covers(other, one)
}

fn covers(wide: &str, narrow: &str) -> bool {
    wide == narrow || wide.strip_suffix('*').is_some_and(|start| narrow.starts_with(start))
}
