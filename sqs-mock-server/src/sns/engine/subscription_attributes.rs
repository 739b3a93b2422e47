//! Attributes of subscriptions.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_SetSubscriptionAttributes.html>

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::json;
use super::protocol::Endpoint;
use super::refusal::{check_length, in_attributes, invalid};
use crate::service::arn::QueueArn;
use crate::service::query_error::QueryError;
use crate::sns::filter::{FilterPolicy, FilterScope};

/// A limit of this server that bounds memory. Filter policies, the longest values, have at most 256 KiB on AWS.
const MAX_VALUE: usize = 262_144;
/// What SNS applies to HTTP endpoints without a delivery policy of their own.
const EFFECTIVE_DELIVERY_POLICY: &str = r#"{"healthyRetryPolicy":null,"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":{"headerContentType":"text/plain; charset=UTF-8"},"guaranteed":false}"#;

/// The attributes of a subscription.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    /// Whether the subscriber gets messages without an envelope.
    pub(crate) raw: bool,
    pub(super) filter: Option<Arc<FilterPolicy>>,
    /// The scope of the next policy.
    scope: FilterScope,
    redrive: Option<Redrive>,
    /// Attributes that have no effect here: delivery policies, roles.
    others: BTreeMap<String, String>,
}

/// The dead-letter queue of a subscription.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Redrive {
    queue: QueueArn,
    /// As it was given.
    text: Box<str>,
}

impl Attributes {
    /// The attributes of a new subscription.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(super) fn create(
        endpoint: &Endpoint,
        of_fifo: bool,
        requested: &[(&str, &str)],
    ) -> Result<Self, QueryError> {
        let mut attributes = Self::default();
        // The scope first, since it decides which policies are valid.
        let (scopes, others): (Vec<_>, Vec<_>) =
            requested.iter().partition(|(name, _)| *name == "FilterPolicyScope");
        for (name, value) in scopes.into_iter().chain(others) {
            attributes.set(endpoint, of_fifo, name, value).map_err(in_attributes)?;
        }
        Ok(attributes)
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(super) fn set(
        &mut self,
        endpoint: &Endpoint,
        of_fifo: bool,
        name: &str,
        value: &str,
    ) -> Result<(), QueryError> {
        check_length(name, value, MAX_VALUE)?;
        let protocol = endpoint.protocol();
        match name {
            "RawMessageDelivery" => {
                let raw = truth(value).ok_or_else(|| {
                    invalid(format_args!(
                        "RawMessageDelivery: Invalid value [{value}]. Must be true or false."
                    ))
                })?;
                if raw && !protocol.can_be_raw() {
                    let protocol = protocol.as_str();
                    return Err(invalid(format_args!(
                        "Delivery protocol [{protocol}] does not support raw message delivery."
                    )));
                }
                self.raw = raw;
            }
            "FilterPolicy" if value.is_empty() => self.filter = None,
            "FilterPolicy" => self.filter = Some(filter(value, self.scope)?),
            "FilterPolicyScope" => {
                let scope = FilterScope::parse(value).map_err(invalid)?;
                if let Some(policy) = &self.filter {
                    self.filter = Some(filter(policy.text(), scope)?);
                }
                self.scope = scope;
            }
            "RedrivePolicy" if value.is_empty() => self.redrive = None,
            "RedrivePolicy" => {
                let redrive = Redrive::parse(value, of_fifo && endpoint.is_fifo());
                self.redrive = Some(redrive.map_err(|text| invalid(format_args!("RedrivePolicy: {text}")))?);
            }
            "DeliveryPolicy" if protocol.is_http() => {
                json::object(value).map_err(|text| invalid(format_args!("DeliveryPolicy: {text}")))?;
                self.others.insert(name.to_owned(), value.to_owned());
            }
            "DeliveryPolicy" | "SubscriptionRoleArn" | "ReplayPolicy" => {
                self.others.insert(name.to_owned(), value.to_owned());
            }
            _ => return Err(invalid("AttributeName")),
        }
        Ok(())
    }

    /// The dead-letter queue.
    pub(crate) fn dead_letter_queue(&self) -> Option<&QueueArn> {
        self.redrive.as_ref().map(|redrive| &redrive.queue)
    }

    /// Whether each of `requested` has the value that the subscription has.
    pub(super) fn include(&self, requested: &[(&str, &str)]) -> bool {
        let shown = self.shown();
        requested.iter().all(|(name, value)| match *name {
            "RawMessageDelivery" => truth(value) == Some(self.raw),
            "FilterPolicyScope" => self.scope.as_str() == *value,
            name => shown.get(name).is_some_and(|own| json::are_equal(own, value)),
        })
    }

    /// The attributes that a request can set, as `GetSubscriptionAttributes` returns them.
    pub(super) fn shown(&self) -> BTreeMap<String, String> {
        let mut shown = self.others.clone();
        shown.insert("RawMessageDelivery".to_owned(), self.raw.to_string());
        if let Some(filter) = &self.filter {
            shown.insert("FilterPolicy".to_owned(), filter.text().to_owned());
            shown.insert("FilterPolicyScope".to_owned(), filter.scope().as_str().to_owned());
        }
        if let Some(redrive) = &self.redrive {
            shown.insert("RedrivePolicy".to_owned(), redrive.text.to_string());
        }
        shown
    }

    /// The attributes that make the same subscription. Unlike the shown ones, they include the scope of the next policy.
    #[cfg(feature = "durable")]
    pub(crate) fn to_requested(&self) -> BTreeMap<String, String> {
        let mut requested = self.shown();
        requested.insert("FilterPolicyScope".to_owned(), self.scope.as_str().to_owned());
        requested
    }

    /// The delivery policy that applies to an HTTP endpoint.
    pub(super) fn effective_delivery_policy(&self) -> String {
        self.others.get("DeliveryPolicy").map_or(EFFECTIVE_DELIVERY_POLICY, String::as_str).to_owned()
    }
}

impl Redrive {
    fn parse(text: &str, needs_fifo: bool) -> Result<Self, String> {
        let object = json::object(text)?;
        let queue = object.get("deadLetterTargetArn").and_then(Value::as_str);
        let queue = queue.and_then(|arn| arn.parse::<QueueArn>().ok());
        let queue = queue.ok_or_else(|| "deadLetterTargetArn is an invalid arn".to_owned())?;
        if needs_fifo && !queue.is_fifo() {
            return Err("must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.".to_owned());
        }
        Ok(Self { queue, text: text.into() })
    }
}

fn filter(text: &str, scope: FilterScope) -> Result<Arc<FilterPolicy>, QueryError> {
    FilterPolicy::parse(text, scope).map(Arc::new).map_err(invalid)
}

/// `true` or `false` in any case.
fn truth(text: &str) -> Option<bool> {
    [true, false].into_iter().find(|value| text.eq_ignore_ascii_case(if *value { "true" } else { "false" }))
}
