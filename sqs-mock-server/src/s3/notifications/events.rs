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

/// A change of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// The name of its event in messages: one of those below.
    pub(crate) name: &'static str,
    /// Size in bytes and `ETag` without quotes; `None` after a delete.
    pub(crate) object: Option<(u64, &'a str)>,
}

/// The names of the events that this server causes.
pub(crate) const PUT: &str = "ObjectCreated:Put";
/// By a form of a web page.
pub(crate) const POST: &str = "ObjectCreated:Post";
pub(crate) const COMPLETE: &str = "ObjectCreated:CompleteMultipartUpload";
pub(crate) const DELETE: &str = "ObjectRemoved:Delete";

/// Whether a name in a rule selects an event, which has its name in messages.
pub(super) fn selects(selector: &str, event: &str) -> bool {
    selector.strip_prefix("s3:").is_some_and(|selector| covers(selector, event))
}

/// Whether two names in rules select a common event.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    covers(one, other) || covers(other, one)
}

fn covers(wide: &str, narrow: &str) -> bool {
    wide == narrow || wide.strip_suffix('*').is_some_and(|start| narrow.starts_with(start))
}
