//! Topics without I/O: time and ids are parameters, messages come out as recipients and texts, and changes go to a reader
//! as values.
//!
//! | Module | Contents |
//! |---|---|
//! | [`topic`](mod@topic) | a topic, what it remembers of FIFO messages, and the changes that it records for a store |
//! | [`settings`] | its attributes and tags |
//! | [`subscription`](mod@subscription) | its subscriptions, their attributes and protocols |
//! | [`message`] | what publishers send and subscribers get |
//! | [`delivery_policy`] | when failed deliveries are tried again, and the form of requests to web hooks |
//! | [`backlog`] | deliveries to queues that wait for a retry |
//! | [`hooks`] | requests to web hooks that wait for their turn or for a retry |
//!
//! ARNs and errors are here.

pub(crate) mod backlog;
pub(crate) mod delivery_policy;
pub(crate) mod hooks;
pub(crate) mod message;
pub(crate) mod settings;
pub(crate) mod subscription;
pub(crate) mod topic;
#[cfg(test)]
pub(crate) mod topic_changes_tests;
#[cfg(test)]
pub(crate) mod topic_tests;

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Display;

use serde_json::{Map, Value};

use crate::control::arn::TopicArn;
use crate::query::QueryError;

/// `InvalidParameter`, with a text after `Invalid parameter: `.
pub(crate) fn invalid(text: impl Display) -> QueryError {
    QueryError::new(400, "InvalidParameter", format!("Invalid parameter: {text}"))
}

/// An error about an attribute, with the name of the parameter of `CreateTopic` and `Subscribe` that has the attribute.
pub(crate) fn in_attributes(error: QueryError) -> QueryError {
    match error.message.strip_prefix("Invalid parameter: ") {
        Some(reason) => invalid(format_args!("Attributes Reason: {reason}")),
        None => error,
    }
}

/// `ParameterValueInvalid`, the code for message attributes.
pub(crate) fn invalid_value(text: impl Into<String>) -> QueryError {
    QueryError::new(400, "ParameterValueInvalid", text)
}

/// Why a topic or a subscription is not created.
#[derive(Debug)]
pub(crate) enum NotCreated {
    /// It exists with other values.
    Different(QueryError),
    Refused(QueryError),
}

impl From<QueryError> for NotCreated {
    fn from(error: QueryError) -> Self {
        Self::Refused(error)
    }
}

impl From<NotCreated> for QueryError {
    fn from((NotCreated::Different(error) | NotCreated::Refused(error)): NotCreated) -> Self {
        error
    }
}

/// The error for a topic or subscription that exists with other values.
pub(crate) fn different(text: &str) -> NotCreated {
    NotCreated::Different(invalid(text))
}

/// The error for a subscription that does not exist.
pub(crate) fn no_subscription() -> QueryError {
    QueryError::new(404, "NotFound", "Subscription does not exist")
}

/// Checks the length of the value of an attribute.
pub(crate) fn check_length(name: &str, value: &str, most: usize) -> Result<(), QueryError> {
    let length = value.len();
    let too_long =
        || invalid(format_args!("{name} Reason: the value has {length} bytes; at most {most} are allowed"));
    if length > most { Err(too_long()) } else { Ok(()) }
}

/// Parses an attribute that is a JSON object. The error text begins like that of AWS; what follows, the position, differs
/// between versions of its parser.
pub(crate) fn json_object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("failed to parse JSON. The document must be an object".to_owned()),
        Err(error) => Err(format!("failed to parse JSON. {error}")),
    }
}

/// What a topic or a subscription takes in addition to its texts, approximately.
const OVERHEAD: usize = 512;

/// The size of a map.
pub(crate) fn bytes_of(map: &BTreeMap<String, String>) -> usize {
    map.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Whether two attribute values mean the same: equal texts, or equal JSON documents.
pub(crate) fn are_equal(one: &str, other: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || (one.starts_with('{') && parsed(one).is_some_and(|one| parsed(other) == Some(one)))
}

/// The number of parts of the ARN of a topic. A subscription has one more.
const TOPIC_PARTS: usize = 6;

/// `<topic arn>:<id>`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SubscriptionArn {
    pub(crate) topic: TopicArn,
    /// A UUID.
    pub(crate) id: Box<str>,
}

/// The maximum length of the name of a topic, without `.fifo`.
const MAX_NAME: usize = 256;

/// The ARN of a topic to create.
///
/// # Errors
/// `InvalidParameter` for a name that topics of the requested kind cannot have.
pub(crate) fn created(
    name: &str,
    attributes: &[(&str, &str)],
    (region, account): (&str, &str),
) -> Result<TopicArn, QueryError> {
    let fifo = attributes.iter().find(|(name, _)| *name == "FifoTopic").map(|(_, value)| *value);
    let is_fifo = match fifo.map(str::to_ascii_lowercase).as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(invalid("Attributes Reason: FifoTopic must be true or false")),
    };
    let stem = if is_fifo { name.strip_suffix(".fifo").unwrap_or_default() } else { name };
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !(1..=MAX_NAME).contains(&stem.len()) || !stem.bytes().all(is_legal) {
        return Err(invalid("Topic Name"));
    }
    Ok(TopicArn::new(region, account, name))
}

/// The topic that a parameter names. Requests reach the topics of their own region.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn topic(parameter: &str, text: &str, region: &str) -> Result<TopicArn, QueryError> {
    let parts = count_parts(parameter, text)?;
    let arn = TopicArn::of(text).filter(|arn| parts == TOPIC_PARTS && *arn.region == *region);
    arn.ok_or_else(|| invalid(parameter))
}

/// The subscription that a parameter names.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn subscription(text: &str, region: &str) -> Result<SubscriptionArn, QueryError> {
    if text.is_empty() {
        return Err(invalid("SubscriptionArn Reason: no value for required parameter"));
    }
    let parts = count_parts("SubscriptionArn", text)?;
    if parts == TOPIC_PARTS {
        return Err(invalid("SubscriptionId"));
    }
    let arn = TopicArn::of(text).filter(|arn| parts == TOPIC_PARTS + 1 && *arn.region == *region);
    let (topic, (_, id)) = arn.zip(text.rsplit_once(':')).ok_or_else(|| invalid("SubscriptionArn"))?;
    Ok(SubscriptionArn { topic, id: id.into() })
}

fn count_parts(parameter: &str, text: &str) -> Result<usize, QueryError> {
    let parts = text.split(':').count();
    let too_few =
        || invalid(format_args!("{parameter} Reason: An ARN must have at least 6 elements, not {parts}"));
    if parts < TOPIC_PARTS { Err(too_few()) } else { Ok(parts) }
}

impl fmt::Display for SubscriptionArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.topic, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 2.2.
    #[test]
    fn names_of_topics_have_letters_digits_hyphens_and_underscores() {
        let create = |name: &str, fifo: &[(&str, &str)]| created(name, fifo, ("us-east-1", "000000000000"));
        let (fifo, standard) = ([("FifoTopic", "true")], [("FifoTopic", "false")]);
        let long = "a".repeat(257);
        for name in ["", &long, "a b", "a:b", "a;", "a!", "a@", "a|", "a^", "a%", "a.fifo"] {
            assert_eq!(create(name, &[]).unwrap_err().message, "Invalid parameter: Topic Name", "{name}");
            assert!(create(name, &standard).is_err(), "{name}");
        }
        assert_eq!(create("a", &fifo).unwrap_err().message, "Invalid parameter: Topic Name");
        assert_eq!(
            create("a-b_C1", &standard).unwrap().to_string(),
            "arn:aws:sns:us-east-1:000000000000:a-b_C1"
        );
        assert!(create("a.fifo", &fifo).unwrap().is_fifo());
        assert!(create(&long[1..], &[]).is_ok());
    }

    /// Contract 2.1, ARN faults.
    #[test]
    fn arn_faults_get_the_texts_of_aws() {
        let topic_fault = |text: &str| topic("TopicArn", text, "us-east-1").unwrap_err().message;
        let few = "Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not";
        assert_eq!(topic_fault(""), format!("{few} 1"));
        assert_eq!(topic_fault("orders"), format!("{few} 1"));
        assert_eq!(topic_fault("a:b"), format!("{few} 2"));
        for text in ["arn:aws:sns:eu-west-1:0:a", "arn:aws:sqs:us-east-1:0:a", "arn:aws:sns:us-east-1:0:a:b"]
        {
            assert_eq!(topic_fault(text), "Invalid parameter: TopicArn", "{text}");
        }
        let fault = |text: &str| subscription(text, "us-east-1").unwrap_err().message;
        let few = "Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not";
        assert_eq!(fault("pending confirmation"), format!("{few} 1"));
        assert_eq!(fault("arn:aws:sns:us-east-1:0:a"), "Invalid parameter: SubscriptionId");
        assert_eq!(fault(""), "Invalid parameter: SubscriptionArn Reason: no value for required parameter");
    }
}
