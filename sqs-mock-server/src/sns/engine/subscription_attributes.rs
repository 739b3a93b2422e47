//! Attributes of subscriptions.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_SetSubscriptionAttributes.html>

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::protocol::Endpoint;
use super::refusal::{are_equal, check_length, in_attributes, invalid, json_object};
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
    pub(crate) dead_letter_queue: Option<QueueArn>,
    /// All that a request has set. Delivery policies and roles have no effect here.
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
        let mut value = value.to_owned();
        match name {
            "RawMessageDelivery" => {
                let raw = truth(&value).ok_or_else(|| {
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
                value = raw.to_string();
            }
            "FilterPolicy" if value.is_empty() => self.filter = None,
            "FilterPolicy" => self.filter = Some(filter(&value, self.scope())?),
            "FilterPolicyScope" => {
                let scope = FilterScope::parse(&value).map_err(invalid)?;
                if let Some(policy) = self.set.get("FilterPolicy") {
                    self.filter = Some(filter(policy, scope)?);
                }
            }
            "RedrivePolicy" if value.is_empty() => self.dead_letter_queue = None,
            "RedrivePolicy" => {
                let queue = dead_letter_queue(&value, of_fifo && endpoint.is_fifo());
                self.dead_letter_queue =
                    Some(queue.map_err(|text| invalid(format_args!("RedrivePolicy: {text}")))?);
            }
            "DeliveryPolicy" if protocol.is_http() => {
                json_object(&value).map_err(|text| invalid(format_args!("DeliveryPolicy: {text}")))?;
            }
            "DeliveryPolicy" | "SubscriptionRoleArn" | "ReplayPolicy" => {}
            _ => return Err(invalid("AttributeName")),
        }
        if value.is_empty() && matches!(name, "FilterPolicy" | "RedrivePolicy") {
            self.set.remove(name);
        } else {
            self.set.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// The scope of the next filter policy.
    fn scope(&self) -> FilterScope {
        let scope = self.set.get("FilterPolicyScope");
        scope.and_then(|scope| FilterScope::from_text(scope)).unwrap_or_default()
    }

    /// Whether each of `requested` has the value that the subscription has.
    pub(super) fn include(&self, requested: &[(&str, &str)]) -> bool {
        requested.iter().all(|(name, value)| match *name {
            "RawMessageDelivery" => truth(value) == Some(self.raw),
            "FilterPolicyScope" => self.scope().as_str() == *value,
            name => self.set.get(name).is_some_and(|own| are_equal(own, value)),
        })
    }

    /// The attributes that a request can set, as `GetSubscriptionAttributes` returns them.
    pub(super) fn shown(&self) -> BTreeMap<String, String> {
        let mut shown = self.set.clone();
        shown.insert("RawMessageDelivery".to_owned(), self.raw.to_string());
        // Without a policy, the scope of the next one is not shown.
        match self.filter {
            Some(_) => shown.insert("FilterPolicyScope".to_owned(), self.scope().as_str().to_owned()),
            None => shown.remove("FilterPolicyScope"),
        };
        shown
    }

    /// The delivery policy that applies to an HTTP endpoint.
    pub(super) fn effective_delivery_policy(&self) -> &str {
        self.set.get("DeliveryPolicy").map_or(EFFECTIVE_DELIVERY_POLICY, String::as_str)
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

fn filter(text: &str, scope: FilterScope) -> Result<Arc<FilterPolicy>, QueryError> {
    FilterPolicy::parse(text, scope).map(Arc::new).map_err(invalid)
}

/// `true` or `false` in any case.
fn truth(text: &str) -> Option<bool> {
    text.to_ascii_lowercase().parse().ok()
}
