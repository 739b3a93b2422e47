//! A subscription to a topic.
//!
//! Attributes of subscriptions.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_SetSubscriptionAttributes.html>

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::control::arn::{QueueArn, root};
use crate::control::clock::Timestamp;
use crate::outgoing::without_password;
use crate::query::QueryError;
use crate::sns::engine::delivery_policy::{
    DeliveryPolicy, PolicyOf, effective_of_subscription, shown_of_subscription,
};
use crate::sns::engine::{
    OVERHEAD, SubscriptionArn, are_equal, bytes_of, check_length, in_attributes, invalid, json_object,
};
use crate::sns::filter::{FilterPolicy, FilterScope};

/// How long a subscription waits for its confirmation, and how long its token restores it.
pub(crate) const CONFIRMATION: Duration = Duration::from_secs(48 * 3_600);

/// A subscription.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subscription {
    pub(crate) arn: SubscriptionArn,
    pub(crate) endpoint: Endpoint,
    /// The account that subscribed.
    pub(crate) owner: Box<str>,
    pub(crate) state: State,
    pub(crate) attributes: Attributes,
}

/// Whether a subscription gets messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// It needed no confirmation.
    Confirmed,
    /// It gets no messages.
    Pending { token: Box<str>, since: Timestamp },
    /// The token that confirmed it is still valid.
    ConfirmedBy { token: Box<str>, by: Confirmation },
}

/// The request that confirmed a subscription. The texts are those of stores.
#[derive(Clone, Copy, Debug, EnumString, Eq, IntoStaticStr, PartialEq, VariantArray)]
#[strum(const_into_str)]
pub(crate) enum Confirmation {
    /// Such as the link in a message.
    #[strum(serialize = "confirmed by token")]
    Unsigned,
    #[strum(serialize = "confirmed by signed request")]
    Signed,
    /// It was signed, and demands the same of the request that ends the subscription.
    #[strum(serialize = "confirmed by signed request, to be ended by another")]
    Protecting,
}

impl Subscription {
    /// Whether it gets messages.
    pub(crate) fn is_confirmed(&self) -> bool {
        !matches!(self.state, State::Pending { .. })
    }

    /// The approximate size in memory.
    pub(crate) fn bytes(&self) -> usize {
        // A filter policy is also there in its parsed form.
        let filter = self.attributes.set.get("FilterPolicy").map_or(0, String::len);
        let endpoint = match &self.endpoint {
            Endpoint::Queue(_) => 0,
            Endpoint::Outside(_, address) => address.len(),
        };
        let token = self.token().map_or(0, str::len);
        OVERHEAD + bytes_of(&self.attributes.set) + filter + endpoint + token
    }

    /// When it ends, unless it is confirmed before.
    pub(crate) fn lapse(&self) -> Option<Timestamp> {
        match self.state {
            State::Pending { since, .. } => Some(since + CONFIRMATION),
            State::Confirmed | State::ConfirmedBy { .. } => None,
        }
    }

    /// The token that confirms it.
    pub(crate) fn token(&self) -> Option<&str> {
        match &self.state {
            State::Confirmed => None,
            State::Pending { token, .. } | State::ConfirmedBy { token, .. } => Some(token),
        }
    }

    /// Confirms it. Its token stays valid.
    pub(crate) fn confirm(&mut self, by: Confirmation) {
        if let State::Pending { token, .. } = &mut self.state {
            self.state = State::ConfirmedBy { token: std::mem::take(token), by };
        }
    }

    /// Whether a request may end it. `caller` is the account that signed the request.
    pub(crate) fn may_be_ended_by(&self, caller: Option<&str>) -> bool {
        !matches!(self.state, State::ConfirmedBy { by: Confirmation::Protecting, .. })
            || self.belongs_to(caller)
    }

    /// Whether an account that signed a request owns the subscription or its topic.
    pub(crate) fn belongs_to(&self, caller: Option<&str>) -> bool {
        caller.is_some_and(|account| [&*self.owner, &*self.arn.topic.account].contains(&account))
    }

    /// The protocol.
    pub(crate) fn protocol(&self) -> Protocol {
        self.endpoint.protocol()
    }

    /// What applies to requests to its web hook. `topic_policy` is the delivery policy of the topic.
    pub(crate) fn delivery_policy(&self, topic_policy: Option<&str>) -> DeliveryPolicy {
        DeliveryPolicy::effective(topic_policy, self.attributes.delivery_policy())
    }

    /// The attributes that `GetSubscriptionAttributes` returns. `topic_policy` is the delivery policy of the topic.
    pub(crate) fn shown(&self, topic_policy: Option<&str>) -> BTreeMap<String, String> {
        let mut shown = self.attributes.shown();
        let was_authenticated = match self.state {
            State::Confirmed => true,
            State::Pending { .. } => false,
            State::ConfirmedBy { by, .. } => by != Confirmation::Unsigned,
        };
        let fields = [
            ("SubscriptionArn", self.arn.to_string()),
            ("TopicArn", self.arn.topic.to_string()),
            ("Endpoint", self.endpoint.shown()),
            ("Protocol", self.protocol().into_str().to_owned()),
            ("Owner", self.owner.to_string()),
            ("PendingConfirmation", (!self.is_confirmed()).to_string()),
            ("ConfirmationWasAuthenticated", was_authenticated.to_string()),
            ("SubscriptionPrincipal", root(&self.arn.topic.region, &self.owner)),
        ];
        shown.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        if self.protocol().is_http() {
            let own = self.attributes.delivery_policy();
            let shown_own = own.map(|own| ("DeliveryPolicy".to_owned(), shown_of_subscription(own)));
            let effective = effective_of_subscription(topic_policy, own);
            shown.extend(shown_own.into_iter().chain([("EffectiveDeliveryPolicy".to_owned(), effective)]));
        }
        shown
    }
}

/// A limit of this server that bounds memory. Filter policies, the longest values, have at most 256 KiB on AWS.
const MAX_VALUE: usize = 262_144;

/// The attributes of a subscription.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    /// Whether the subscriber gets messages without an envelope.
    pub(crate) raw: bool,
    pub(crate) filter: Option<Arc<FilterPolicy>>,
    pub(crate) dead_letter_queue: Option<QueueArn>,
    /// All that a request has set. Roles have no effect here.
    pub(crate) set: BTreeMap<String, String>,
}

impl Attributes {
    /// The attributes of a new subscription.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn create(
        endpoint: &Endpoint,
        of_fifo: bool,
        requested: &[(&str, &str)],
    ) -> Result<Self, QueryError> {
        let mut attributes = Self::default();
        // The scope first, since it decides which policies are valid.
        let (scopes, others): (Vec<_>, Vec<_>) =
            requested.iter().partition(|(name, _)| *name == "FilterPolicyScope");
        for (name, value) in scopes.into_iter().chain(others) {
            attributes.set(endpoint, of_fifo, name, Some(value)).map_err(in_attributes)?;
        }
        Ok(attributes)
    }

    /// Sets an attribute. A redrive policy without a value is removed, but an empty one is an error, as on AWS.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn set(
        &mut self,
        endpoint: &Endpoint,
        of_fifo: bool,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), QueryError> {
        if name == "RedrivePolicy" && value.is_none() {
            self.dead_letter_queue = None;
            self.set.remove(name);
            return Ok(());
        }
        let mut value = value.unwrap_or_default().to_owned();
        check_length(name, &value, MAX_VALUE)?;
        let protocol = endpoint.protocol();
        match name {
            "RawMessageDelivery" => {
                let raw = truth(&value).ok_or_else(|| {
                    invalid(format_args!(
                        "RawMessageDelivery: Invalid value [{value}]. Must be true or false."
                    ))
                })?;
                if raw && !protocol.can_be_raw() {
                    let protocol = protocol.into_str();
                    return Err(invalid(format_args!(
                        "Delivery protocol [{protocol}] does not support raw message delivery."
                    )));
                }
                self.raw = raw;
                value = raw.to_string();
            }
            "FilterPolicy" if is_no_filter(&value) => {
                self.filter = None;
                self.set.remove(name);
                return Ok(());
            }
            "FilterPolicy" => self.filter = Some(filter(&value, self.scope())?),
            "FilterPolicyScope" => {
                let scope = FilterScope::parse(&value).map_err(invalid)?;
                if let Some(policy) = self.set.get("FilterPolicy") {
                    self.filter = Some(filter(policy, scope)?);
                }
            }
            "RedrivePolicy" => {
                let queue = dead_letter_queue(&value, of_fifo && endpoint.is_fifo());
                self.dead_letter_queue =
                    Some(queue.map_err(|text| invalid(format_args!("RedrivePolicy: {text}")))?);
            }
            "DeliveryPolicy" if protocol.is_http() && value.is_empty() => {
                self.set.remove(name);
                return Ok(());
            }
            "DeliveryPolicy" if protocol.is_http() => {
                let checked =
                    DeliveryPolicy::parse(&value, PolicyOf::Subscription, &DeliveryPolicy::default());
                checked.map_err(|text| invalid(format_args!("DeliveryPolicy: {text}")))?;
            }
            "DeliveryPolicy" | "SubscriptionRoleArn" | "ReplayPolicy" => {}
            _ => return Err(invalid("AttributeName")),
        }
        self.set.insert(name.to_owned(), value);
        Ok(())
    }

    /// The scope of the next filter policy.
    fn scope(&self) -> FilterScope {
        let scope = self.set.get("FilterPolicyScope");
        scope.and_then(|scope| scope.parse().ok()).unwrap_or_default()
    }

    /// Whether each of `requested` has the value that the subscription has.
    pub(crate) fn include(&self, requested: &[(&str, &str)]) -> bool {
        requested.iter().all(|(name, value)| match *name {
            "RawMessageDelivery" => truth(value) == Some(self.raw),
            "FilterPolicyScope" => self.scope().into_str() == *value,
            "FilterPolicy" if is_no_filter(value) => self.filter.is_none(),
            name => self.set.get(name).is_some_and(|own| are_equal(own, value)),
        })
    }

    /// The attributes that a request can set, as `GetSubscriptionAttributes` returns them.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let mut shown = self.set.clone();
        shown.insert("RawMessageDelivery".to_owned(), self.raw.to_string());
        // Without a policy, the scope of the next one is not shown.
        match self.filter {
            Some(_) => shown.insert("FilterPolicyScope".to_owned(), self.scope().into_str().to_owned()),
            None => shown.remove("FilterPolicyScope"),
        };
        shown
    }

    /// The delivery policy that a request has set.
    pub(crate) fn delivery_policy(&self) -> Option<&str> {
        self.set.get("DeliveryPolicy").map(String::as_str)
    }
}

fn dead_letter_queue(text: &str, needs_fifo: bool) -> Result<QueueArn, String> {
    let object = json_object(text)?;
    let queue = object.get("deadLetterTargetArn").and_then(Value::as_str);
    let queue = queue.and_then(|arn| arn.parse::<QueueArn>().ok());
    let queue = queue.ok_or("deadLetterTargetArn is an invalid arn")?;
    if needs_fifo && !queue.is_fifo() {
        return Err("must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.".to_owned());
    }
    Ok(queue)
}

/// Whether a filter policy takes every message. Setting it removes the policy.
pub(crate) fn is_no_filter(text: &str) -> bool {
    text.is_empty() || json_object(text).is_ok_and(|object| object.is_empty())
}

fn filter(text: &str, scope: FilterScope) -> Result<Arc<FilterPolicy>, QueryError> {
    FilterPolicy::parse(text, scope).map(Arc::new).map_err(invalid)
}

/// `true` or `false` in any case.
fn truth(text: &str) -> Option<bool> {
    text.to_ascii_lowercase().parse().ok()
}

/// A limit of this server that bounds memory; the longest endpoints are URLs.
const MAX_ENDPOINT: usize = 2_048;

/// How a subscriber gets messages. The texts are also the keys in messages with a text for each protocol.
#[derive(Clone, Copy, Debug, EnumString, Eq, IntoStaticStr, PartialEq, VariantArray)]
#[strum(const_into_str, serialize_all = "kebab-case")]
pub(crate) enum Protocol {
    Http,
    Https,
    Email,
    EmailJson,
    Sms,
    Sqs,
    Application,
    Lambda,
    Firehose,
}

impl Protocol {
    /// Finds a protocol by its name on the wire.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn find(name: &str) -> Result<Self, QueryError> {
        let unknown = |_| invalid(format_args!("Amazon SNS does not support this protocol string: {name}"));
        name.parse().map_err(unknown)
    }

    /// Whether the endpoint is a URL.
    pub(crate) fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Whether the owner of the endpoint must confirm the subscription.
    pub(crate) fn needs_confirmation(self) -> bool {
        self.is_http() || matches!(self, Self::Email | Self::EmailJson)
    }

    /// Whether the subscriber can get the message without an envelope.
    pub(crate) fn can_be_raw(self) -> bool {
        self.is_http() || matches!(self, Self::Sqs | Self::Firehose)
    }

    /// Whether it can subscribe to FIFO topics.
    pub(crate) fn takes_fifo(self) -> bool {
        matches!(self, Self::Sqs | Self::Lambda | Self::Firehose)
    }

    /// Whether the subscriber takes messages over 256 KiB.
    pub(crate) fn takes_large_messages(self) -> bool {
        matches!(self, Self::Sqs | Self::Lambda | Self::Firehose)
    }
}

/// Where a subscriber gets messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Endpoint {
    Queue(QueueArn),
    /// An endpoint outside of this server. Of these, only web hooks get messages.
    Outside(Protocol, Box<str>),
}

impl Endpoint {
    /// Reads an endpoint.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn read(protocol: Protocol, text: &str) -> Result<Self, QueryError> {
        if protocol == Protocol::Sqs {
            let arn = text.parse().map_err(|_| invalid("SQS endpoint ARN"))?;
            return Ok(Self::Queue(arn));
        }
        let is_legal = match protocol {
            Protocol::Http => text.starts_with("http://"),
            Protocol::Https => text.starts_with("https://"),
            Protocol::Email | Protocol::EmailJson => text.contains('@'),
            _ => !text.is_empty(),
        };
        if !is_legal || text.len() > MAX_ENDPOINT {
            return Err(invalid("Endpoint must match the specified protocol"));
        }
        Ok(Self::Outside(protocol, text.into()))
    }

    /// The protocol.
    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Self::Queue(_) => Protocol::Sqs,
            Self::Outside(protocol, _) => *protocol,
        }
    }

    /// The endpoint as SNS shows it: without the password of a URL.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Queue(queue) => queue.to_string(),
            Self::Outside(_, address) => without_password(address),
        }
    }

    /// Whether it is a FIFO queue.
    pub(crate) fn is_fifo(&self) -> bool {
        matches!(self, Self::Queue(arn) if arn.is_fifo())
    }
}

/// The endpoint as the subscriber gave it.
impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Queue(arn) => arn.fmt(f),
            Self::Outside(_, text) => f.write_str(text),
        }
    }
}
