//! A subscription to a topic.

use std::collections::BTreeMap;
use std::time::Duration;

use super::arn::SubscriptionArn;
use super::protocol::{Endpoint, Protocol};
use super::subscription_attributes::Attributes;
use crate::service::clock::Timestamp;

/// How long a subscription waits for its confirmation.
const CONFIRMATION: Duration = Duration::from_secs(48 * 3_600);

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
    ConfirmedBy { token: Box<str>, is_signed: bool },
}

impl Subscription {
    /// Whether it gets messages.
    pub(crate) fn is_confirmed(&self) -> bool {
        !matches!(self.state, State::Pending { .. })
    }

    /// When it ends, unless it is confirmed before.
    pub(super) fn lapse(&self) -> Option<Timestamp> {
        match self.state {
            State::Pending { since, .. } => Some(since + CONFIRMATION),
            State::Confirmed | State::ConfirmedBy { .. } => None,
        }
    }

    /// The token that confirms it.
    pub(super) fn token(&self) -> Option<&str> {
        match &self.state {
            State::Confirmed => None,
            State::Pending { token, .. } | State::ConfirmedBy { token, .. } => Some(token),
        }
    }

    /// Confirms it. Its token stays valid.
    pub(super) fn confirm(&mut self, is_signed: bool) {
        if let State::Pending { token, .. } = &mut self.state {
            self.state = State::ConfirmedBy { token: std::mem::take(token), is_signed };
        }
    }

    /// The protocol.
    pub(crate) fn protocol(&self) -> Protocol {
        self.endpoint.protocol()
    }

    /// The attributes that `GetSubscriptionAttributes` returns.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let mut shown = self.attributes.shown();
        let was_authenticated = match self.state {
            State::Confirmed => true,
            State::Pending { .. } => false,
            State::ConfirmedBy { is_signed, .. } => is_signed,
        };
        let fields = [
            ("SubscriptionArn", self.arn.to_string()),
            ("TopicArn", self.arn.topic.to_string()),
            ("Endpoint", self.endpoint.to_string()),
            ("Protocol", self.protocol().as_str().to_owned()),
            ("Owner", self.owner.to_string()),
            ("PendingConfirmation", (!self.is_confirmed()).to_string()),
            ("ConfirmationWasAuthenticated", was_authenticated.to_string()),
            ("SubscriptionPrincipal", format!("arn:aws:iam::{}:root", self.owner)),
        ];
        shown.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        if self.protocol().is_http() {
            let policy = self.attributes.effective_delivery_policy().to_owned();
            shown.insert("EffectiveDeliveryPolicy".to_owned(), policy);
        }
        shown
    }
}
