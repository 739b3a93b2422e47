//! What requests set of a topic: attributes and tags.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_SetTopicAttributes.html>
//!
//! Access policies of topics, and the permissions that are statements in them. They are stored, not enforced.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_AddPermission.html>

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::json;

use crate::control::arn::TopicArn;
use crate::control::policies::{Document, Statement, is_action_of};
use crate::query::QueryError;
use crate::sns::engine::delivery_policy::{DeliveryPolicy, PolicyOf, effective_of_topic, shown_of_topic};
use crate::sns::engine::{
    NotCreated, OVERHEAD, are_equal, bytes_of, check_length, different, in_attributes, invalid, json_object,
};

/// The maximum size of a message in bytes, unless the topic has another.
const MAXIMUM_MESSAGE_SIZE: usize = 262_144;

/// The sizes that a topic can set instead.
pub(crate) const MAXIMUM_MESSAGE_SIZES: RangeInclusive<u32> = 1_024..=1_048_576;

/// The maximum number of characters of a display name.
pub(crate) const MAX_DISPLAY_NAME: usize = 100;

/// A limit of this server that bounds memory; policies have their own.
const MAX_VALUE: usize = 30_720;

const MAX_TAGS: usize = 50;

/// The limits of AWS tags. They bound memory.
const MAX_TAG_KEY: usize = 128;

const MAX_TAG_VALUE: usize = 256;

/// Protocols with attributes for delivery logs.
const FEEDBACK_PROTOCOLS: [&str; 5] = ["HTTP", "Firehose", "Lambda", "Application", "SQS"];

/// What requests set of a topic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicSettings {
    /// It never changes.
    pub(crate) arn: TopicArn,
    /// Those that a request has set, except for `FifoTopic`.
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) tags: BTreeMap<String, String>,
}

impl TopicSettings {
    /// The settings of a new topic.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn new(
        arn: TopicArn,
        requested: &[(&str, &str)],
        tags: BTreeMap<String, String>,
    ) -> Result<Self, QueryError> {
        let mut settings = Self { arn, attributes: BTreeMap::new(), tags };
        for (name, value) in requested.iter().filter(|(name, _)| *name != "FifoTopic") {
            if !is_known(&settings.arn, name) {
                return Err(invalid(format_args!("Attributes Reason: Unknown attribute {name}")));
            }
            settings.set_attribute(name, value).map_err(in_attributes)?;
        }
        Ok(settings)
    }

    /// The approximate size in memory.
    pub(crate) fn bytes(&self) -> usize {
        OVERHEAD + bytes_of(&self.attributes) + bytes_of(&self.tags)
    }

    /// Sets an attribute. An empty `DeliveryPolicy` or `Policy` removes it.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn set_attribute(&mut self, name: &str, value: &str) -> Result<(), QueryError> {
        check_length(name, value, MAX_VALUE)?;
        let value = match name {
            "Policy" | "DeliveryPolicy" if value.is_empty() => {
                self.attributes.remove(name);
                return Ok(());
            }
            "Policy" => parse(value)?,
            "DeliveryPolicy" => {
                let checked = DeliveryPolicy::parse(value, PolicyOf::Topic, &DeliveryPolicy::default());
                checked.map_err(|error| invalid(format_args!("DeliveryPolicy: {error}")))?;
                value.to_owned()
            }
            _ => match is_legal(&self.arn, name, value) {
                Some(true) => value.to_owned(),
                Some(false) => return Err(invalid(name)),
                None => return Err(invalid("AttributeName")),
            },
        };
        self.attributes.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds a statement to the policy.
    ///
    /// # Errors
    /// `InvalidParameter` for a known label or an unknown action.
    pub(crate) fn add_permission(
        &mut self,
        label: &str,
        accounts: &[&str],
        actions: &[&str],
    ) -> Result<(), QueryError> {
        let policy = with_permission(&self.policy(), &self.arn, label, accounts, actions)?;
        self.attributes.insert("Policy".to_owned(), policy);
        Ok(())
    }

    /// Removes a statement from the policy.
    ///
    /// # Errors
    /// `InternalError`, never for a policy that was accepted before.
    pub(crate) fn remove_permission(&mut self, label: &str) -> Result<(), QueryError> {
        let policy = without_permission(&self.policy(), label)?;
        self.attributes.insert("Policy".to_owned(), policy);
        Ok(())
    }

    fn policy(&self) -> String {
        self.attributes.get("Policy").cloned().unwrap_or_else(|| default_of(&self.arn))
    }

    /// Adds tags, all or none. Values of existing keys are replaced.
    ///
    /// # Errors
    /// `TagLimitExceeded`.
    pub(crate) fn tag(&mut self, tags: BTreeMap<String, String>) -> Result<(), QueryError> {
        let new = tags.keys().filter(|key| !self.tags.contains_key(*key)).count();
        check_tags(self.tags.len() + new)?;
        self.tags.extend(tags);
        Ok(())
    }

    /// Checks that a request to create the topic again names nothing that it does not have.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check_same(
        &self,
        requested: &[(&str, &str)],
        tags: &BTreeMap<String, String>,
    ) -> Result<(), NotCreated> {
        let shown = self.shown();
        let is_same = |(name, value): &(&str, &str)| match *name {
            "FifoTopic" => self.arn.is_fifo() == value.eq_ignore_ascii_case("true"),
            "DeliveryPolicy" => shown.get(*name).is_some_and(|own| are_equal(own, &shown_of_topic(value))),
            name => shown.get(name).is_some_and(|own| are_equal(own, value)),
        };
        if !requested.iter().all(is_same) {
            return Err(different("Attributes Reason: Topic already exists with different attributes"));
        }
        if !tags.iter().all(|(key, value)| self.tags.get(key) == Some(value)) {
            return Err(different("Tags Reason: Topic already exists with different tags"));
        }
        Ok(())
    }

    /// The attributes that `GetTopicAttributes` returns, without the counts of subscriptions.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let mut shown = BTreeMap::from([
            ("DisplayName".to_owned(), String::new()),
            ("EffectiveDeliveryPolicy".to_owned(), effective_of_topic(self.delivery_policy())),
            ("Owner".to_owned(), self.arn.account.to_string()),
            ("Policy".to_owned(), self.policy()),
            ("TopicArn".to_owned(), self.arn.to_string()),
        ]);
        if self.arn.is_fifo() {
            shown.insert("FifoTopic".to_owned(), "true".to_owned());
            shown.insert("ContentBasedDeduplication".to_owned(), "false".to_owned());
        }
        shown.extend(self.attributes.clone());
        if let Some(policy) = shown.get_mut("DeliveryPolicy") {
            *policy = shown_of_topic(policy);
        }
        shown
    }

    /// The maximum size of a message in bytes.
    pub(crate) fn maximum_message_size(&self) -> usize {
        let size = self.attributes.get("MaximumMessageSize").and_then(|size| size.parse().ok());
        size.unwrap_or(MAXIMUM_MESSAGE_SIZE)
    }

    /// The delivery policy that a request has set.
    pub(crate) fn delivery_policy(&self) -> Option<&str> {
        self.attributes.get("DeliveryPolicy").map(String::as_str)
    }

    /// Whether an attribute was set to a value.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.attributes.get(name).is_some_and(|own| own == value)
    }

    /// The version of signatures of its notifications: 1 or 2.
    pub(crate) fn signature_version(&self) -> &str {
        self.attributes.get("SignatureVersion").map_or("1", String::as_str)
    }
}

/// Whether topics of this kind have an attribute.
fn is_known(arn: &TopicArn, name: &str) -> bool {
    matches!(name, "Policy" | "DeliveryPolicy") || is_legal(arn, name, "").is_some()
}

/// Whether a value is legal for an attribute other than the documents; `None` if topics of this kind do not have it.
fn is_legal(arn: &TopicArn, name: &str, value: &str) -> Option<bool> {
    let within = |range: RangeInclusive<u32>| value.parse().is_ok_and(|number| range.contains(&number));
    Some(match name {
        "DisplayName" => value.chars().count() <= MAX_DISPLAY_NAME,
        "SignatureVersion" => matches!(value, "1" | "2"),
        "TracingConfig" => matches!(value, "PassThrough" | "Active"),
        "KmsMasterKeyId" => true,
        "MaximumMessageSize" => within(MAXIMUM_MESSAGE_SIZES),
        "ContentBasedDeduplication" if arn.is_fifo() => matches!(value, "true" | "false"),
        "FifoThroughputScope" if arn.is_fifo() => matches!(value, "Topic" | "MessageGroup"),
        "ArchivePolicy" if arn.is_fifo() => value.is_empty() || json_object(value).is_ok(),
        // Such as `SQSSuccessFeedbackRoleArn`.
        name => match FEEDBACK_PROTOCOLS.iter().find_map(|protocol| name.strip_prefix(protocol)) {
            Some("SuccessFeedbackSampleRate") => within(0..=100),
            Some("SuccessFeedbackRoleArn" | "FailureFeedbackRoleArn") => true,
            _ => return None,
        },
    })
}

/// Reads the tags of a request.
///
/// # Errors
/// `InvalidParameter` for a key that occurs twice, or a key or value that is too long; `TagLimitExceeded`.
pub(crate) fn read_tags(pairs: &[(&str, &str)]) -> Result<BTreeMap<String, String>, QueryError> {
    let mut tags = BTreeMap::new();
    for (key, value) in pairs {
        if !(1..=MAX_TAG_KEY).contains(&key.chars().count()) || value.chars().count() > MAX_TAG_VALUE {
            return Err(invalid(format_args!(
                "Tags Reason: a key must have 1 to {MAX_TAG_KEY} characters, and a value at most {MAX_TAG_VALUE}"
            )));
        }
        if tags.insert((*key).to_owned(), (*value).to_owned()).is_some() {
            return Err(invalid("Duplicated keys are not allowed."));
        }
    }
    check_tags(tags.len())?;
    Ok(tags)
}

fn check_tags(count: usize) -> Result<(), QueryError> {
    let text = "Could not complete request: tag quota of per resource exceeded";
    if count > MAX_TAGS { Err(QueryError::new(400, "TagLimitExceeded", text)) } else { Ok(()) }
}

/// A limit of AWS: 30 KiB.
const MAX_BYTES: usize = 30_720;

/// The actions that a permission can name.
const ACTIONS: [&str; 9] = [
    "AddPermission",
    "DeleteTopic",
    "GetTopicAttributes",
    "ListSubscriptionsByTopic",
    "Publish",
    "Receive",
    "RemovePermission",
    "SetTopicAttributes",
    "Subscribe",
];

/// The policy of a topic that never got another. As text, since AWS has its own order of members.
pub(crate) fn default_of(topic: &TopicArn) -> String {
    let (resource, account) = (json!(topic.to_string()), json!(topic.account));
    format!(
        r#"{{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{{"AWS":"*"}},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":{resource},"Condition":{{"StringEquals":{{"AWS:SourceOwner":{account}}}}}}}]}}"#
    )
}

/// A policy of a request, in the form that SNS returns.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn parse(text: &str) -> Result<String, QueryError> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| invalid(format_args!("Policy Error: {error}")))?;
    if !document.is_valid(|name| is_action_of("sns", name, ACTIONS.into_iter())) {
        return Err(invalid("Policy statement action out of service scope!"));
    }
    write(&document)
}

/// A policy with another statement.
///
/// # Errors
/// `InvalidParameter` for a known label or an unknown action.
pub(crate) fn with_permission(
    policy: &str,
    topic: &TopicArn,
    label: &str,
    accounts: &[&str],
    actions: &[&str],
) -> Result<String, QueryError> {
    let mut document = read(policy)?;
    if document.statement.iter().any(|statement| statement.has_label(label)) {
        return Err(invalid("Statement already exists"));
    }
    if actions.is_empty() || !actions.iter().all(|action| ACTIONS.contains(action)) {
        return Err(invalid("Policy statement action out of service scope!"));
    }
    if accounts.is_empty() {
        return Err(invalid("AWSAccountId Reason: no value for required parameter"));
    }
    let actions = actions.iter().map(|action| format!("SNS:{action}")).collect();
    document.statement.push(Statement::permission(
        label,
        accounts,
        actions,
        (&topic.region, topic.to_string()),
    ));
    write(&document)
}

/// A policy without the statement of a label, which may not exist.
///
/// # Errors
/// `InternalError`, never for a policy that was accepted before.
pub(crate) fn without_permission(policy: &str, label: &str) -> Result<String, QueryError> {
    let mut document = read(policy)?;
    document.statement.retain(|statement| !statement.has_label(label));
    write(&document)
}

fn read(policy: &str) -> Result<Document, QueryError> {
    serde_json::from_str(policy).map_err(|error| broken(&error))
}

fn write(document: &Document) -> Result<String, QueryError> {
    let text = serde_json::to_string(document).map_err(|error| broken(&error))?;
    let too_long = || {
        invalid(format_args!(
            "Policy Reason: the policy has {} bytes; at most {MAX_BYTES} are allowed",
            text.len()
        ))
    };
    if text.len() > MAX_BYTES { Err(too_long()) } else { Ok(text) }
}

/// Every policy that was read can be written and read again; a failure is a bug of this server.
fn broken(error: &serde_json::Error) -> QueryError {
    QueryError::new(500, "InternalError", format!("cannot store the policy: {error}"))
}
