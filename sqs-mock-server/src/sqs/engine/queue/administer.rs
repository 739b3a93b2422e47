//! Attributes, permissions, tags, purge and deletion of a queue.

use std::collections::HashMap;
use std::time::Duration;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::Queue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::attributes::{Requested, all_names};
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::message::{State, StoredMessage};
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::store::Store;
use crate::sqs::engine::tags::Tags;

/// Removed messages. There may be a million: drop them after releasing the lock of the queue.
#[derive(Debug, Default)]
pub(crate) struct Dropped {
    pub(super) stores: Vec<Store>,
    pub(super) messages: Vec<StoredMessage>,
}

impl Dropped {
    /// Whether dropping this takes long enough to delay other requests.
    pub(crate) fn is_large(&self) -> bool {
        const LARGE: usize = 10_000;
        self.messages.len() >= LARGE || self.stores.iter().any(|store| store.len() >= LARGE)
    }
}

impl Queue {
    /// The requested attributes; those that are not set are omitted.
    pub(crate) fn render(&mut self, now: Timestamp, names: &[Name]) -> Requested {
        self.settle(now);
        let shown = |name: Name| Some((name.clone(), self.show(&name)?));
        if names.contains(&Name::All) {
            all_names().filter_map(shown).collect()
        } else {
            names.iter().cloned().filter_map(shown).collect()
        }
    }

    fn show(&self, name: &Name) -> Option<String> {
        let counts = self.store.counts();
        Some(match name {
            Name::ApproximateNumberOfMessages => counts.available.to_string(),
            Name::ApproximateNumberOfMessagesDelayed => counts.delayed.to_string(),
            Name::ApproximateNumberOfMessagesNotVisible => counts.in_flight.to_string(),
            Name::CreatedTimestamp => self.created.as_secs().to_string(),
            Name::LastModifiedTimestamp => self.modified.as_secs().to_string(),
            Name::QueueArn => self.id.arn.to_string(),
            _ => return self.attributes.show(name),
        })
    }

    /// Changes attributes, all or none. The caller checks redrive policies with
    /// [`RedrivePolicy::check`](crate::sqs::engine::RedrivePolicy::check), which needs other queues.
    ///
    /// # Errors
    /// As [`Attributes::changed`](crate::sqs::engine::Attributes::changed).
    pub(crate) fn change_attributes(
        &mut self,
        now: Timestamp,
        requested: &Requested,
    ) -> Result<(), ServiceError> {
        let now = self.settle(now);
        let delay = self.attributes.delay;
        self.attributes = self.attributes.changed(requested)?;
        self.note_attributes(now);
        self.settle(now);
        if self.fifo.is_some() && self.attributes.delay != delay {
            self.delay_again(now, delay.max(self.attributes.delay));
        }
        Ok(())
    }

    /// A FIFO queue applies a new delay to its existing messages too. Only messages younger than the longer of the two
    /// delays are affected.
    fn delay_again(&mut self, now: Timestamp, longer: Duration) {
        for slot in self.store.younger_than(now.saturating_before(longer)) {
            let Some(message) = self.store.get(slot) else {
                continue;
            };
            let until = message.core.born + self.attributes.delay;
            if message.core.receives == 0 {
                let state = if until > now { State::Delayed { until } } else { State::Available };
                self.set_state(slot, state);
            }
        }
    }

    /// Adds a statement to the access policy.
    ///
    /// # Errors
    /// As [`Policy::with_permission`].
    pub(crate) fn add_permission(
        &mut self,
        now: Timestamp,
        label: &str,
        accounts: &[String],
        actions: &[String],
    ) -> Result<(), ServiceError> {
        let policy = self.attributes.policy.as_ref();
        self.attributes.policy =
            Some(Policy::with_permission(policy, &self.id.arn, label, accounts, actions)?);
        let now = self.settle(now);
        self.note_attributes(now);
        Ok(())
    }

    /// Removes a statement from the access policy.
    ///
    /// # Errors
    /// As [`Policy::without_permission`].
    pub(crate) fn remove_permission(&mut self, now: Timestamp, label: &str) -> Result<(), ServiceError> {
        self.attributes.policy = Policy::without_permission(self.attributes.policy.as_ref(), label)?;
        let now = self.settle(now);
        self.note_attributes(now);
        Ok(())
    }

    fn note_attributes(&mut self, now: Timestamp) {
        self.modified = now;
        let attributes = |queue: &Self| Box::new(queue.attributes.clone());
        self.record(|queue| QueueChange::AttributesSet { attributes: attributes(queue), at: now });
    }

    pub(crate) fn tags(&self) -> &Tags {
        &self.tags
    }

    /// See [`Tags::add`].
    ///
    /// # Errors
    /// See [`Tags::add`].
    pub(crate) fn tag(&mut self, tags: HashMap<String, String>) -> Result<(), ServiceError> {
        self.tags.add(tags)?;
        self.record(|queue| QueueChange::TagsSet(queue.tags.clone()));
        Ok(())
    }

    /// See [`Tags::remove`].
    pub(crate) fn untag<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>) {
        self.tags.remove(keys);
        self.record(|queue| QueueChange::TagsSet(queue.tags.clone()));
    }

    /// Removes all messages: visible, delayed and in flight. Deduplication ids can be used again.
    ///
    /// # Errors
    /// `PurgeQueueInProgress` within 60 seconds of the last purge, unless the timing is relaxed.
    pub(crate) fn purge(&mut self, now: Timestamp) -> Result<Dropped, ServiceError> {
        let now = self.settle(now);
        let interval = Duration::from_secs(limits::PURGE_INTERVAL_SECONDS);
        let too_early = self.purged.is_some_and(|purged| now < purged + interval);
        if too_early && !self.settings.relaxed_timing {
            let name = &self.id.arn.name;
            let text = format!("Only one PurgeQueue operation on {name} is allowed every 60 seconds.");
            return Err(ServiceError::new(ErrorCode::PurgeQueueInProgress, text));
        }
        self.purged = Some(now);
        self.record(|_| QueueChange::Purged { at: now });
        Ok(self.drop_messages())
    }

    /// Marks the queue as deleted and removes all messages. Callers that still hold it find it empty.
    pub(crate) fn close(&mut self, now: Timestamp) -> Dropped {
        self.deleted = true;
        self.record(|_| QueueChange::Deleted { at: now });
        self.drop_messages()
    }

    /// Memory of messages, deduplication ids and receive attempts.
    pub(crate) fn stored_bytes(&self) -> usize {
        let fifo = self.fifo.as_ref().map_or(0, |fifo| fifo.stored_bytes());
        self.store.bytes() + fifo
    }

    /// Start of the retention of the oldest message.
    pub(crate) fn oldest(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.settle(now);
        self.store.oldest()
    }

    fn drop_messages(&mut self) -> Dropped {
        if let Some(fifo) = &mut self.fifo {
            fifo.clear();
        }
        Dropped { stores: vec![self.store.take_all()], messages: Vec::new() }
    }

    /// Messages that expired since the last call.
    pub(crate) fn take_expired(&mut self) -> Option<Dropped> {
        let Dropped { stores, messages } = &self.expired;
        (!stores.is_empty() || !messages.is_empty()).then(|| std::mem::take(&mut self.expired))
    }
}
