//! A topic with its subscriptions.

mod publish;
mod subscriptions;

use std::collections::BTreeMap;

use super::change::{Recorder, TopicChange, TopicState};
use super::fifo::FifoMemory;
use super::settings::TopicSettings;
use super::subscription::Subscription;
use crate::service::arn::TopicArn;
use crate::service::clock::Timestamp;
use crate::service::query_error::QueryError;

pub(crate) use subscriptions::NewSubscription;

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    settings: TopicSettings,
    /// By id.
    subscriptions: BTreeMap<Box<str>, Subscription>,
    unsubscribed: u64,
    /// Before this time, no subscription lapses for want of a confirmation; `None` if none can.
    lapse: Option<Timestamp>,
    /// On FIFO topics.
    fifo: Option<FifoMemory>,
    changes: Recorder,
}

impl Topic {
    /// Creates a topic.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn new(
        arn: TopicArn,
        requested: &[(&str, &str)],
        tags: BTreeMap<String, String>,
    ) -> Result<Self, QueryError> {
        let fifo = arn.is_fifo().then(FifoMemory::default);
        let settings = TopicSettings::new(arn, requested, tags)?;
        let (subscriptions, changes) = (BTreeMap::new(), Recorder::default());
        Ok(Self { settings, subscriptions, unsubscribed: 0, lapse: None, fifo, changes })
    }

    /// Restores a topic.
    pub(crate) fn restore(state: TopicState, changes: Recorder) -> Self {
        let TopicState { settings, subscriptions, unsubscribed, numbered, known } = state;
        let fifo = settings.arn.is_fifo().then(|| FifoMemory::restore(numbered, known));
        let lapse = first_lapse(&subscriptions);
        Self { settings, subscriptions, unsubscribed, lapse, fifo, changes }
    }

    /// Records its creation and all later changes.
    pub(crate) fn record_changes(&mut self, changes: Recorder) {
        self.changes = changes;
        self.changes.record(|| TopicChange::Created(Box::new(self.settings.clone())));
    }

    /// Its ARN.
    pub(crate) fn arn(&self) -> &TopicArn {
        &self.settings.arn
    }

    /// Its attributes and tags.
    pub(crate) fn settings(&self) -> &TopicSettings {
        &self.settings
    }

    /// Changes attributes or tags.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn set(
        &mut self,
        change: impl FnOnce(&mut TopicSettings) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        change(&mut self.settings)?;
        self.changes.record(|| TopicChange::Set(Box::new(self.settings.clone())));
        Ok(())
    }

    /// The attributes that `GetTopicAttributes` returns.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let confirmed = self.subscriptions().filter(|subscription| subscription.is_confirmed()).count();
        let pending = self.subscriptions.len() - confirmed;
        let mut shown = self.settings.shown();
        shown.insert("SubscriptionsConfirmed".to_owned(), confirmed.to_string());
        shown.insert("SubscriptionsPending".to_owned(), pending.to_string());
        shown.insert("SubscriptionsDeleted".to_owned(), self.unsubscribed.to_string());
        shown
    }

    /// The state of the topic.
    #[cfg(test)]
    pub(super) fn state(&self) -> TopicState {
        let fifo = self.fifo.as_ref();
        TopicState {
            settings: self.settings.clone(),
            subscriptions: self.subscriptions.clone(),
            unsubscribed: self.unsubscribed,
            numbered: fifo.map_or(0, FifoMemory::numbered),
            known: fifo.map(|fifo| fifo.known().cloned().collect()).unwrap_or_default(),
        }
    }
}

/// When the first of the subscriptions lapses, unless it is confirmed before.
fn first_lapse(subscriptions: &BTreeMap<Box<str>, Subscription>) -> Option<Timestamp> {
    subscriptions.values().filter_map(Subscription::lapse).min()
}
