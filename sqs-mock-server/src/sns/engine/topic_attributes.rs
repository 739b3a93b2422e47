//! Attributes of topics.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_SetTopicAttributes.html>

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::json;
use super::policy;
use super::refusal::{check_length, in_attributes, invalid};
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;

/// The maximum size of a message in bytes, unless the topic has another.
const MAXIMUM_MESSAGE_SIZE: usize = 262_144;
/// The sizes that a topic can set instead.
pub(crate) const MAXIMUM_MESSAGE_SIZES: RangeInclusive<u32> = 1_024..=1_048_576;
/// The maximum number of characters of a display name.
pub(crate) const MAX_DISPLAY_NAME: usize = 100;
/// A limit of this server that bounds memory; policies have their own.
const MAX_VALUE: usize = 30_720;

const EFFECTIVE_DELIVERY_POLICY: &str = r#"{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}"#;

/// Protocols with attributes for delivery logs.
const FEEDBACK_PROTOCOLS: [&str; 5] = ["HTTP", "Firehose", "Lambda", "Application", "SQS"];

/// The attributes of a topic that a request has set, except for `FifoTopic`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Attributes {
    set: BTreeMap<String, String>,
}

impl Attributes {
    /// The attributes of a new topic.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(super) fn create(arn: &TopicArn, requested: &[(&str, &str)]) -> Result<Self, QueryError> {
        let mut attributes = Self::default();
        for (name, value) in requested.iter().filter(|(name, _)| *name != "FifoTopic") {
            attributes.set(arn, name, value).map_err(|error| match error.message.as_str() {
                "Invalid parameter: AttributeName" => {
                    invalid(format_args!("Attributes Reason: Unknown attribute {name}"))
                }
                _ => in_attributes(error),
            })?;
        }
        Ok(attributes)
    }

    /// Sets an attribute. An empty `DeliveryPolicy` or `Policy` removes it.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(super) fn set(&mut self, arn: &TopicArn, name: &str, value: &str) -> Result<(), QueryError> {
        check_length(name, value, MAX_VALUE)?;
        let value = match name {
            "Policy" | "DeliveryPolicy" if value.is_empty() => {
                self.set.remove(name);
                return Ok(());
            }
            "Policy" => policy::parse(value)?,
            "DeliveryPolicy" => {
                json::object(value).map_err(|error| invalid(format_args!("DeliveryPolicy: {error}")))?;
                value.to_owned()
            }
            _ if is_legal(arn, name, value)? => value.to_owned(),
            _ => return Err(invalid(name)),
        };
        self.set.insert(name.to_owned(), value);
        Ok(())
    }

    /// Replaces the policy by one that was validated.
    pub(super) fn set_policy(&mut self, policy: String) {
        self.set.insert("Policy".to_owned(), policy);
    }

    /// The access policy.
    pub(super) fn policy(&self, arn: &TopicArn) -> String {
        self.set.get("Policy").cloned().unwrap_or_else(|| policy::default_of(arn))
    }

    /// The attributes that `GetTopicAttributes` returns, without the counts of subscriptions.
    pub(super) fn shown(&self, arn: &TopicArn) -> BTreeMap<String, String> {
        let mut shown = BTreeMap::from([
            ("DisplayName".to_owned(), String::new()),
            ("EffectiveDeliveryPolicy".to_owned(), EFFECTIVE_DELIVERY_POLICY.to_owned()),
            ("Owner".to_owned(), arn.account.to_string()),
            ("Policy".to_owned(), self.policy(arn)),
            ("TopicArn".to_owned(), arn.to_string()),
        ]);
        if arn.is_fifo() {
            shown.insert("FifoTopic".to_owned(), "true".to_owned());
            shown.insert("ContentBasedDeduplication".to_owned(), "false".to_owned());
        }
        shown.extend(self.set.clone());
        shown
    }

    /// The maximum size of a message in bytes.
    pub(super) fn maximum_message_size(&self) -> usize {
        let size = self.set.get("MaximumMessageSize").and_then(|size| size.parse().ok());
        size.unwrap_or(MAXIMUM_MESSAGE_SIZE)
    }

    /// Whether messages without a deduplication id get one from their text.
    pub(super) fn has_content_based_deduplication(&self) -> bool {
        self.set.get("ContentBasedDeduplication").is_some_and(|value| value == "true")
    }

    /// Whether the same deduplication id in two groups means two messages.
    pub(super) fn deduplicates_by_group(&self) -> bool {
        self.set.get("FifoThroughputScope").is_some_and(|value| value == "MessageGroup")
    }

    /// The version of signatures: 1 or 2.
    pub(super) fn signature_version(&self) -> &str {
        self.set.get("SignatureVersion").map_or("1", String::as_str)
    }
}

/// Whether a value is legal for an attribute other than the documents.
///
/// # Errors
/// `InvalidParameter` for a name that topics of this kind do not have.
fn is_legal(arn: &TopicArn, name: &str, value: &str) -> Result<bool, QueryError> {
    let within = |range: RangeInclusive<u32>| value.parse().is_ok_and(|number| range.contains(&number));
    Ok(match name {
        "DisplayName" => value.chars().count() <= MAX_DISPLAY_NAME,
        "SignatureVersion" => matches!(value, "1" | "2"),
        "TracingConfig" => matches!(value, "PassThrough" | "Active"),
        "KmsMasterKeyId" => true,
        "MaximumMessageSize" => within(MAXIMUM_MESSAGE_SIZES),
        "ContentBasedDeduplication" if arn.is_fifo() => matches!(value, "true" | "false"),
        "FifoThroughputScope" if arn.is_fifo() => matches!(value, "Topic" | "MessageGroup"),
        "ArchivePolicy" if arn.is_fifo() => value.is_empty() || json::object(value).is_ok(),
        name => match feedback(name) {
            Some("SuccessFeedbackSampleRate") => within(0..=100),
            Some(_) => true,
            None => return Err(invalid("AttributeName")),
        },
    })
}

/// The part of a delivery log attribute that follows the protocol, such as `SuccessFeedbackRoleArn`.
fn feedback(name: &str) -> Option<&str> {
    let rest = FEEDBACK_PROTOCOLS.iter().find_map(|protocol| name.strip_prefix(protocol))?;
    matches!(rest, "SuccessFeedbackRoleArn" | "SuccessFeedbackSampleRate" | "FailureFeedbackRoleArn")
        .then_some(rest)
}
