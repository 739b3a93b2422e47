//! What other services put around a message: SNS topics, EventBridge buses and S3 buckets.
//!
//! ```text
//! body = envelope { content, .. } -> a context with the content as its body -> the inner extractor
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use sqs_client::types::MessageAttributeValue;

use crate::consume::extract::{FromMessage, MessageContext};
use crate::consume::settle::HandlerError;

/// A message that came through an SNS topic without raw message delivery: what was published, read by another
/// [extractor](FromMessage), such as [`Json`](crate::consume::extract::Json), `String`, [`EventBridge`] or [`S3Event`]. Within it, the
/// message attributes are those of the publisher.
///
/// Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-sqs-as-subscriber.html>
///
/// ```
/// use sqs_buffered::{Json, Sns};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// async fn cook(Sns { message: Json(order), topic_arn, .. }: Sns<Json<Order>>) {
///     println!("order {} from {topic_arn}", order.id);
/// }
/// # let _ = cook;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sns<T> {
    /// What was published.
    pub message: T,
    /// The subject, if one was published.
    pub subject: Option<String>,
    /// The ARN of the topic.
    pub topic_arn: String,
    /// The id of the published message. The id of the SQS message is another one.
    pub message_id: String,
    /// When it was published, in RFC 3339.
    pub timestamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Notification {
    #[serde(rename = "Type")]
    _type: NotificationType,
    message: String,
    subject: Option<String>,
    topic_arn: String,
    message_id: String,
    timestamp: String,
    #[serde(default)]
    message_attributes: BTreeMap<String, PublishedAttribute>,
}

#[derive(Deserialize)]
enum NotificationType {
    Notification,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PublishedAttribute {
    r#type: String,
    value: String,
}

impl PublishedAttribute {
    /// # Errors
    /// A binary value is not base64.
    fn into_value(self) -> Result<MessageAttributeValue, HandlerError> {
        let mut value = if self.r#type.starts_with("Binary") {
            let bytes = base64_simd::STANDARD.decode_to_vec(self.value);
            MessageAttributeValue::binary(bytes.map_err(|_| "a binary message attribute is not base64")?)
        } else {
            MessageAttributeValue::string(self.value)
        };
        value.data_type = self.r#type;
        Ok(value)
    }
}

impl<S: Sync, T: FromMessage<S>> FromMessage<S> for Sns<T> {
    async fn from_message(context: &MessageContext, state: &S) -> Result<Self, HandlerError> {
        let Notification { message, subject, topic_arn, message_id, timestamp, message_attributes, .. } =
            read(context, "an SNS notification (with raw message delivery, take what is in `Sns`)")?;
        let attributes = message_attributes.into_iter();
        let attributes = attributes.map(|(name, attribute)| Ok((name, attribute.into_value()?)));
        let inner = context.with_content(message, Some(attributes.collect::<Result<_, HandlerError>>()?));
        let message = T::from_message(&inner, state).await?;
        Ok(Self { message, subject, topic_arn, message_id, timestamp })
    }
}

/// A message that came through an EventBridge bus: its detail, read by another [extractor](FromMessage), such as
/// [`Json`](crate::consume::extract::Json).
///
/// Source: <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html>
///
/// ```
/// use sqs_buffered::{EventBridge, Json};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// async fn cook(EventBridge { detail: Json(order), detail_type, .. }: EventBridge<Json<Order>>) {
///     println!("{detail_type}: order {}", order.id);
/// }
/// # let _ = cook;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EventBridge<T> {
    /// The detail of the event.
    pub detail: T,
    /// The kind of the event, such as `Order Placed`.
    pub detail_type: String,
    /// The application or service that sent the event, such as `com.example.orders`.
    pub source: String,
    /// The id of the event.
    pub id: String,
    /// The account of the event, 12 digits.
    pub account: String,
    /// The region of the event.
    pub region: String,
    /// When the event happened, in RFC 3339.
    pub time: String,
    /// The ARNs of what the event is about.
    pub resources: Vec<String>,
}

#[derive(Deserialize)]
struct BusEvent {
    detail: Box<RawValue>,
    #[serde(rename = "detail-type")]
    detail_type: String,
    source: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    account: String,
    #[serde(default)]
    region: String,
    #[serde(default)]
    time: String,
    #[serde(default)]
    resources: Vec<String>,
}

impl<S: Sync, T: FromMessage<S>> FromMessage<S> for EventBridge<T> {
    async fn from_message(context: &MessageContext, state: &S) -> Result<Self, HandlerError> {
        let BusEvent { detail, detail_type, source, id, account, region, time, resources } =
            read(context, "an event of EventBridge")?;
        let inner = context.with_content(detail.get().to_owned(), None);
        let detail = T::from_message(&inner, state).await?;
        Ok(Self { detail, detail_type, source, id, account, region, time, resources })
    }
}

/// A notification of an S3 bucket: what happened to which objects. The test event, which S3 sends when notifications are configured, has
/// no records. Through a topic, take `Sns<S3Event>`.
///
/// Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html>
///
/// ```
/// use sqs_buffered::S3Event;
///
/// async fn index(S3Event { records, .. }: S3Event) {
///     for record in records {
///         println!("{} {}/{}", record.event_name, record.bucket, record.key);
///     }
/// }
/// # let _ = index;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct S3Event {
    /// What happened, usually one record.
    pub records: Vec<S3Record>,
}

/// What happened to one object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct S3Record {
    /// Such as `ObjectCreated:Put`.
    pub event_name: String,
    /// When it happened, in RFC 3339.
    pub event_time: String,
    /// The region of the bucket.
    pub region: String,
    /// The name of the bucket.
    pub bucket: String,
    /// The key of the object, decoded.
    pub key: String,
    /// The size of the object in bytes; `None` for deletes.
    pub size: Option<u64>,
    /// The `ETag` of the object; `None` for deletes.
    pub e_tag: Option<String>,
    /// The version of the object, in a bucket with versions.
    pub version_id: Option<String>,
    /// Orders the events of one key: compare as hexadecimal numbers of the same length.
    pub sequencer: Option<String>,
}

#[derive(Deserialize)]
struct BucketEvent {
    #[serde(default, rename = "Records", deserialize_with = "records")]
    records: Option<Vec<S3Record>>,
    #[serde(rename = "Event")]
    event: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    event_name: String,
    #[serde(default)]
    event_time: String,
    #[serde(default)]
    aws_region: String,
    s3: Entity,
}

#[derive(Deserialize)]
struct Entity {
    bucket: Bucket,
    object: Object,
}

#[derive(Deserialize)]
struct Bucket {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    key: String,
    size: Option<u64>,
    e_tag: Option<String>,
    version_id: Option<String>,
    sequencer: Option<String>,
}

fn records<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<S3Record>>, D::Error> {
    let records = Vec::<Record>::deserialize(deserializer)?.into_iter();
    let record = |Record { event_name, event_time, aws_region, s3: Entity { bucket, object } }| {
        let Object { key, size, e_tag, version_id, sequencer } = object;
        // A form without `=` and `&`, which are escaped in it.
        let decoded = form_urlencoded::parse(key.as_bytes()).next().map(|(key, _)| key.into_owned());
        S3Record {
            event_name,
            event_time,
            region: aws_region,
            bucket: bucket.name,
            key: decoded.unwrap_or_default(),
            size,
            e_tag,
            version_id,
            sequencer,
        }
    };
    Ok(Some(records.map(record).collect()))
}

impl<S: Sync> FromMessage<S> for S3Event {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let BucketEvent { records, event } = read(context, "a notification of S3")?;
        let is_test = event.as_deref() == Some("s3:TestEvent");
        let records = records.or_else(|| is_test.then(Vec::new)).ok_or_else(|| {
            let found = found(context.message().body().unwrap_or_default());
            InvalidBody(format!("the body is not a notification of S3: it has no `Records`{found}"))
        })?;
        Ok(Self { records })
    }
}

/// The error of [`Json`](crate::consume::extract::Json), [`Sns`], [`EventBridge`] and [`S3Event`]: the body is something else. Retries cannot
/// help.
///
/// ```no_run
/// # async fn handle(_: sqs_buffered::Json<u32>) {}
/// # fn example(client: sqs_client::Client, url: &str) {
/// use sqs_buffered::{Consumer, InvalidBody, Outcome};
///
/// let consumer = Consumer::builder(client, url)
///     .on_error(|failure| {
///         let is_invalid = failure.error().is_some_and(|error| error.is::<InvalidBody>());
///         is_invalid.then(|| Outcome::DeadLetter(failure.to_string()))
///     })
///     .handler(handle);
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidBody(pub(crate) String);

impl fmt::Display for InvalidBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidBody {}

fn read<T: DeserializeOwned>(context: &MessageContext, what: &str) -> Result<T, HandlerError> {
    let body = context.message().body().ok_or("the message has no body")?;
    serde_json::from_str(body)
        .map_err(|error| InvalidBody(format!("the body is not {what}: {error}{}", found(body))).into())
}

/// The envelope that another service has put around a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Envelope {
    Sns,
    EventBridge,
    S3,
}

impl Envelope {
    /// The envelope that a body is; `None` if it is none.
    pub(crate) fn of(body: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Members<'a>(#[serde(borrow)] HashMap<&'a str, &'a RawValue>);
        let Members(members) = serde_json::from_str::<Members<'_>>(body).ok()?;
        let has = |names: &[&str]| names.iter().all(|name| members.contains_key(name));
        let is_of_s3 = || members.get("Records").is_some_and(|records| records.get().contains("\"aws:s3\""));
        let is_notification = || members.get("Type").is_some_and(|kind| kind.get() == "\"Notification\"");
        match () {
            () if has(&["TopicArn", "Message"]) && is_notification() => Some(Self::Sns),
            () if has(&["detail-type", "detail", "source"]) => Some(Self::EventBridge),
            () if is_of_s3() => Some(Self::S3),
            () => None,
        }
    }
}

/// Which envelope a body is, for the error of an extractor that does not expect it; empty if it is none.
pub(crate) fn found(body: &str) -> String {
    let (what, instead) = match Envelope::of(body) {
        Some(Envelope::Sns) => ("an SNS notification", "`Sns<..>`, or enable raw message delivery"),
        Some(Envelope::EventBridge) => ("an event of EventBridge", "`EventBridge<..>`"),
        Some(Envelope::S3) => ("a notification of S3", "`S3Event`"),
        None => return String::new(),
    };
    format!("; it is {what}: take {instead}")
}

#[cfg(test)]
mod tests {
    use sqs_client::types::Message;

    use super::*;
    use crate::consume::extract::{Json, MessageAttributes};

    async fn extract<T: FromMessage<()>>(body: &str) -> Result<T, String> {
        let mut message = Message::default();
        message.body = Some(body.to_owned());
        T::from_message(&MessageContext::new(message), &()).await.map_err(|error| error.to_string())
    }

    const PUBLISHED: &str = r#"{"Type":"Notification","MessageId":"m","TopicArn":"arn:aws:sns:us-east-1:1:orders",
        "Subject":"new","Message":"{\"id\":7}","Timestamp":"2026-11-27T20:00:00.000Z",
        "MessageAttributes":{"kind":{"Type":"String","Value":"created"},"raw":{"Type":"Binary","Value":"AQI="}}}"#;

    const PLACED: &str = r#"{"version":"0","id":"e","detail-type":"Order Placed","source":"shop","account":"1",
        "time":"2026-11-27T20:00:00Z","region":"us-east-1","resources":["arn:a"],"detail":{"id":7}}"#;

    const STORED: &str = r#"{"Records":[{"eventSource":"aws:s3","awsRegion":"us-east-1","eventTime":"t",
        "eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"b"},"object":{"key":"a+b/%C3%A4%26","size":3,
        "eTag":"x","sequencer":"0A"}}}]}"#;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Order {
        id: u64,
    }

    #[tokio::test]
    async fn published_message_is_read_with_its_attributes() {
        type Inner = (Json<Order>, MessageAttributes);
        let sns = extract::<Sns<Inner>>(PUBLISHED).await.unwrap();
        let (Json(order), MessageAttributes(attributes)) = sns.message;
        assert_eq!((order, sns.subject.as_deref()), (Order { id: 7 }, Some("new")));
        assert_eq!(attributes["kind"].string_value(), Some("created"));
        assert_eq!(attributes["raw"].binary_value().map(AsRef::as_ref), Some(&[1, 2][..]));
        let text = extract::<Sns<String>>(PUBLISHED).await.unwrap();
        assert_eq!((&*text.message, &*text.topic_arn), (r#"{"id":7}"#, "arn:aws:sns:us-east-1:1:orders"));
    }

    #[tokio::test]
    async fn detail_of_an_event_is_read_by_the_inner_extractor() {
        let event = extract::<EventBridge<Json<Order>>>(PLACED).await.unwrap();
        assert_eq!(
            (event.detail, &*event.detail_type, &*event.source),
            (Json(Order { id: 7 }), "Order Placed", "shop")
        );
    }

    #[tokio::test]
    async fn objects_of_a_bucket_have_decoded_keys_and_the_test_event_has_none() {
        let S3Event { records } = extract(STORED).await.unwrap();
        assert_eq!((records.len(), &*records[0].key, records[0].size), (1, "a b/ä&", Some(3)));
        let through_topic = serde_json::to_string(STORED).unwrap();
        let envelope = PUBLISHED.replace(r#""{\"id\":7}""#, &through_topic);
        assert_eq!(extract::<Sns<S3Event>>(&envelope).await.unwrap().message.records, records);
        let test = r#"{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}"#;
        assert_eq!(extract::<S3Event>(test).await, Ok(S3Event::default()));
    }

    #[tokio::test]
    async fn error_names_the_envelope_that_was_found() {
        let error = extract::<Json<Order>>(PUBLISHED).await.unwrap_err();
        assert!(
            error.ends_with("it is an SNS notification: take `Sns<..>`, or enable raw message delivery"),
            "{error}"
        );
        let error = extract::<Sns<String>>(PLACED).await.unwrap_err();
        assert!(error.ends_with("it is an event of EventBridge: take `EventBridge<..>`"), "{error}");
        let error = extract::<EventBridge<String>>(STORED).await.unwrap_err();
        assert!(error.ends_with("it is a notification of S3: take `S3Event`"), "{error}");
        let error = extract::<S3Event>(r#"{"id":7}"#).await.unwrap_err();
        assert_eq!(error, "the body is not a notification of S3: it has no `Records`");
        let confirmation = PUBLISHED.replace("\"Notification\"", "\"SubscriptionConfirmation\"");
        let error = extract::<Sns<String>>(&confirmation).await.unwrap_err();
        assert!(error.contains("`SubscriptionConfirmation`") && !error.contains("it is"), "{error}");
    }
}
