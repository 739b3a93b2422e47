//! The JSON of notifications.

use serde::Serialize;

use super::events::Change;
use crate::service::clock::Timestamp;

/// The version of the structure of events.
const EVENT_VERSION: &str = "2.6";
/// The user in events, since the server does not know users. Both ids are those of the examples of AWS.
const PRINCIPAL_ID: &str = "AWS:AIDAJDPLRKLG7UEXAMPLE";
const OWNER_ID: &str = "A3NL1KOZZKExample";
/// The address of callers in events: the server is local.
const SOURCE_IP: &str = "127.0.0.1";

/// A change of an object.
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

/// The message that a target gets when it is configured.
pub(crate) fn test_message(time: Timestamp, bucket: &str, request_id: &str, host_id: &str) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct TestMessage<'a> {
        service: &'a str,
        event: &'a str,
        time: String,
        bucket: &'a str,
        request_id: &'a str,
        host_id: &'a str,
    }
    let (service, event, time) = ("Amazon S3", "s3:TestEvent", time.to_string());
    json(&TestMessage { service, event, time, bucket, request_id, host_id })
}

#[derive(Serialize)]
struct Records<'a> {
    #[serde(rename = "Records")]
    records: [Record<'a>; 1],
}

/// The members in the order of recorded events.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    event_version: &'a str,
    event_source: &'a str,
    aws_region: &'a str,
    event_time: String,
    event_name: &'a str,
    user_identity: Identity<'a>,
    request_parameters: RequestParameters<'a>,
    response_elements: ResponseElements<'a>,
    s3: S3Part<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'a> {
    principal_id: &'a str,
}

#[derive(Serialize)]
struct RequestParameters<'a> {
    #[serde(rename = "sourceIPAddress")]
    source_ip: &'a str,
}

#[derive(Serialize)]
struct ResponseElements<'a> {
    #[serde(rename = "x-amz-request-id")]
    request_id: &'a str,
    #[serde(rename = "x-amz-id-2")]
    host_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct S3Part<'a> {
    #[serde(rename = "s3SchemaVersion")]
    schema_version: &'a str,
    configuration_id: &'a str,
    bucket: Bucket<'a>,
    object: ChangedObject<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bucket<'a> {
    name: &'a str,
    owner_identity: Identity<'a>,
    arn: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangedObject<'a> {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e_tag: Option<&'a str>,
    sequencer: String,
}

impl Event<'_> {
    /// The message about this event.
    pub(crate) fn json(&self) -> String {
        json(&Records { records: [self.record()] })
    }

    fn record(&self) -> Record<'_> {
        let bucket = Bucket {
            name: self.bucket,
            owner_identity: Identity { principal_id: OWNER_ID },
            arn: format!("arn:aws:s3:::{}", self.bucket),
        };
        let (size, e_tag) = self.change.object.unzip();
        let object = ChangedObject {
            key: encode_key(self.key),
            size,
            e_tag,
            sequencer: format!("{:018X}", self.sequence),
        };
        Record {
            event_version: EVENT_VERSION,
            event_source: "aws:s3",
            aws_region: self.region,
            event_time: self.time.to_string(),
            event_name: self.change.name,
            user_identity: Identity { principal_id: PRINCIPAL_ID },
            request_parameters: RequestParameters { source_ip: SOURCE_IP },
            response_elements: ResponseElements { request_id: self.request_id, host_id: self.host_id },
            s3: S3Part { schema_version: "1.0", configuration_id: self.configuration_id, bucket, object },
        }
    }
}

/// A key as in a form, except that slashes stay.
fn encode_key(key: &str) -> String {
    let parts =
        key.split('/').map(|part| form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>());
    parts.collect::<Vec<_>>().join("/")
}

/// Structs of texts and numbers always serialize.
fn json(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap_or_default()
}
