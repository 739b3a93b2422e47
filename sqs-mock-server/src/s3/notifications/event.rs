//! Events: their names, the names that rules select them by, and their JSON.

use serde_json::Value;

use crate::service::clock::Timestamp;

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

/// The version of the structure of events.
const EVENT_VERSION: &str = "2.6";
/// The user in events, since the server does not know users. Both ids are those of the examples of AWS.
const PRINCIPAL_ID: &str = "AWS:AIDAJDPLRKLG7UEXAMPLE";
const OWNER_ID: &str = "A3NL1KOZZKExample";
/// The address of callers in events: the server is local.
const SOURCE_IP: &str = "127.0.0.1";

/// A change of an object, as its target learns of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    pub(crate) change: Change<'a>,
    /// The end of the operation.
    pub(crate) time: Timestamp,
    pub(crate) region: &'a str,
    /// The header `x-amz-request-id` of the response.
    pub(crate) request_id: &'a str,
    /// The header `x-amz-id-2` of the response.
    pub(crate) host_id: &'a str,
    /// The id of the rule.
    pub(crate) configuration_id: &'a str,
    pub(crate) bucket: &'a str,
    pub(crate) key: &'a str,
    /// Grows with each change of a key.
    pub(crate) sequence: u64,
}

/// Whether the name `narrow` is `wide`, or matches its wildcard.
pub(super) fn covers(wide: &str, narrow: &str) -> bool {
    wide == narrow || wide.strip_suffix('*').is_some_and(|start| narrow.starts_with(start))
}

/// The message that a target gets when it is configured.
pub(crate) fn test_message(time: Timestamp, bucket: &str, request_id: &str, host_id: &str) -> String {
    object([
        ("Service", text("Amazon S3")),
        ("Event", text("s3:TestEvent")),
        ("Time", text(time.to_string())),
        ("Bucket", text(bucket)),
        ("RequestId", text(request_id)),
        ("HostId", text(host_id)),
    ])
}

impl Event<'_> {
    /// The message about this event, with the members in the order of recorded events.
    pub(crate) fn json(&self) -> String {
        let identity = |id: &str| object([("principalId", text(id))]);
        let bucket = object([
            ("name", text(self.bucket)),
            ("ownerIdentity", identity(OWNER_ID)),
            ("arn", text(format!("arn:aws:s3:::{}", self.bucket))),
        ]);
        let (key, sequencer) = (text(encode_key(self.key)), text(format!("{:018X}", self.sequence)));
        let changed = match self.change.object {
            Some((size, etag)) => object([
                ("key", key),
                ("size", size.to_string()),
                ("eTag", text(etag)),
                ("sequencer", sequencer),
            ]),
            None => object([("key", key), ("sequencer", sequencer)]),
        };
        let record = object([
            ("eventVersion", text(EVENT_VERSION)),
            ("eventSource", text("aws:s3")),
            ("awsRegion", text(self.region)),
            ("eventTime", text(self.time.to_string())),
            ("eventName", text(self.change.name)),
            ("userIdentity", identity(PRINCIPAL_ID)),
            ("requestParameters", object([("sourceIPAddress", text(SOURCE_IP))])),
            (
                "responseElements",
                object([("x-amz-request-id", text(self.request_id)), ("x-amz-id-2", text(self.host_id))]),
            ),
            (
                "s3",
                object([
                    ("s3SchemaVersion", text("1.0")),
                    ("configurationId", text(self.configuration_id)),
                    ("bucket", bucket),
                    ("object", changed),
                ]),
            ),
        ]);
        object([("Records", format!("[{record}]"))])
    }
}

/// A key as in a form, except that slashes stay.
fn encode_key(key: &str) -> String {
    let parts =
        key.split('/').map(|part| form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>());
    parts.collect::<Vec<_>>().join("/")
}

/// A JSON object of members whose values are JSON. Maps of `serde_json` sort their members.
fn object<const N: usize>(members: [(&str, String); N]) -> String {
    format!("{{{}}}", members.map(|(name, value)| format!("{}:{value}", text(name))).join(","))
}

/// A JSON string.
fn text(text: impl Into<String>) -> String {
    Value::String(text.into()).to_string()
}
