//! A queue and its messages.
//!
//! A queue has no lock and no clock. Each method takes the time and first applies all changes that are due by then. The
//! owner of a queue calls [`Queue::take_wakeups`] and [`Queue::take_expired`] after each call, before it unlocks the
//! queue:
//!
//! ```text
//! lock -> queue.receive(now, ..) -> Received { wake_at, .. } -> take_wakeups -> unlock -> wait for (wakeup | wake_at | deadline)
//!                                                               take_expired ----------> drop
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::QueueRules;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::{Seed, Uuid, UuidSeries};
use crate::sqs::engine::attributes::{
    Attributes, FifoAttributes, Requested, Tags, ThroughputLimit, all_names,
};
use crate::sqs::engine::change::{Creation, Delivered, QueueChange, QueueId};
use crate::sqs::engine::handles::HandleKey;
use crate::sqs::engine::messages::{Counts, SequenceNumber, Slot, State, Store, StoredMessage};
use crate::sqs::engine::order_standard::AwsLike;
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::receive::Attempts;
use crate::sqs::engine::send::{Deduplication, Known};
#[cfg(any(test, feature = "durable"))]
use crate::sqs::engine::state::QueueState;
use crate::sqs::engine::throughput::{Metered, Throughput, ThroughputQuotas};
use crate::sqs::engine::{DeliveryMode, Settings};

/// A queue with its messages.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) id: QueueId,
    pub(crate) attributes: Attributes,
    pub(crate) tags: Tags,
    pub(crate) settings: Settings,
    #[cfg(test)]
    seed: Seed,
    created: Timestamp,
    modified: Timestamp,
    /// The latest time that a caller passed; calls can be slightly out of order.
    now: Timestamp,
    pub(crate) store: Store,
    /// Random delivery, on standard queues that deliver like AWS.
    pub(crate) aws_like: Option<Box<AwsLike>>,
    /// Expired messages.
    expired: Dropped,
    pub(crate) fifo: Option<Box<FifoMemory>>,
    /// Present on FIFO queues with throughput quotas.
    throughput: Option<Box<Throughput>>,
    pub(crate) next_ticket: u64,
    pub(crate) handles: HandleKey,
    pub(crate) ids: UuidSeries,
    purged: Option<Timestamp>,
    pub(crate) deleted: bool,
    announced: Option<Timestamp>,
    /// A receive returned nothing because too many messages were in flight.
    pub(crate) lacked_room: bool,
    /// Lapses since [`take_lapses`](Self::take_lapses).
    lapses: Vec<Lapse>,
    /// Changes since [`take_changes`](Self::take_changes); `None` without a reader.
    pub(crate) changes: Option<Vec<QueueChange>>,
}

impl Queue {
    /// A queue without messages. Its seed is from [`Seed::of_queue`](crate::control::seed::Seed::of_queue). If
    /// `recorded`, [`take_changes`](Self::take_changes) returns its changes.
    pub(crate) fn new(id: QueueId, creation: Creation, settings: Settings, recorded: bool) -> Self {
        let changes = recorded.then(|| vec![QueueChange::Created(Box::new(creation.clone()))]);
        let Creation { at: now, seed, attributes, tags } = creation;
        let fifo = attributes.is_fifo();
        let is_aws_like = settings.delivery == DeliveryMode::AwsLike && !fifo;
        Self {
            store: Store::new(fifo, settings),
            aws_like: is_aws_like.then(|| Box::new(AwsLike::new(seed.generator("delivery")))),
            expired: Dropped::default(),
            fifo: attributes.fifo.map(|fifo| FifoMemory::new(fifo, seed)),
            throughput: None,
            id,
            attributes,
            tags,
            settings,
            #[cfg(test)]
            seed,
            created: now,
            modified: now,
            now,
            next_ticket: 0,
            handles: HandleKey { key: seed.generator("receipt handles").u64(..), fifo },
            ids: UuidSeries::new(seed.generator("message ids")),
            purged: None,
            deleted: false,
            announced: None,
            lacked_room: false,
            lapses: Vec::new(),
            changes,
        }
    }

    /// The ARN of the queue.
    pub(crate) fn arn(&self) -> &Arc<QueueArn> {
        &self.id.arn
    }

    /// The ARN, and the incarnation that distinguishes the queue from earlier ones of the same name.
    pub(crate) fn id(&self) -> &QueueId {
        &self.id
    }

    pub(crate) fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The rules for messages.
    pub(crate) fn rules(&self) -> QueueRules {
        let Attributes { fifo, maximum_message_size, .. } = self.attributes;
        QueueRules {
            fifo: fifo.is_some(),
            content_based_deduplication: fifo.is_some_and(|fifo| fifo.content_based_deduplication),
            maximum_message_size,
        }
    }

    /// Whether the queue delivers like AWS.
    pub(crate) fn is_aws_like(&self) -> bool {
        self.aws_like.is_some()
    }

    /// Shuffles a list if the queue delivers like AWS.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        if let Some(aws_like) = &mut self.aws_like {
            aws_like.shuffle(list);
        }
    }

    /// Whether the queue was deleted. Parked receives must end then.
    pub(crate) fn is_deleted(&self) -> bool {
        self.deleted
    }

    /// Message counts.
    pub(crate) fn counts(&mut self, now: Timestamp) -> Counts {
        self.settle(now);
        self.store.counts()
    }

    /// Applies all changes that are due, and returns the effective time.
    pub(crate) fn settle(&mut self, now: Timestamp) -> Timestamp {
        self.now = self.now.max(now);
        self.expire();
        while let Some(slot) = self.store.next_due(self.now) {
            self.note_lapse(slot);
            self.set_state(slot, State::Available);
        }
        if let Some(fifo) = &mut self.fifo {
            fifo.forget(self.now);
        }
        if let Some(throughput) = &mut self.throughput {
            throughput.forget(self.now);
        }
        self.now
    }

    /// Removes messages whose retention period has ended.
    fn expire(&mut self) {
        let retention = self.attributes.retention;
        if self.store.is_expired(self.now, retention) {
            self.record(|queue| {
                let tickets = queue.store.after(None).map(|(_, message)| message.ticket).collect();
                QueueChange::MessagesExpired { tickets }
            });
            self.expired.stores.push(self.store.take_all());
        }
        let known = self.expired.messages.len();
        while let Some(slot) = self.store.oldest_slot(self.now, retention) {
            self.expired.messages.extend(self.store.remove(self.now, slot));
        }
        let expired = self.expired.messages.get(known..).unwrap_or_default();
        if self.changes.is_some() && !expired.is_empty() {
            let tickets = expired.iter().map(|message| message.ticket).collect();
            self.record(|_| QueueChange::MessagesExpired { tickets });
        }
    }

    pub(crate) fn set_state(&mut self, slot: Slot, state: State) {
        self.store.set_state(self.now, slot, state);
        self.record_visibility(slot);
    }

    pub(crate) fn take_ticket(&mut self) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        ticket
    }

    /// The sequence number; `None` on standard queues.
    pub(crate) fn sequence_number(&self, ticket: u64) -> Option<SequenceNumber> {
        Some(self.fifo.as_ref()?.sequence_number(ticket))
    }

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
    /// [`RedrivePolicy::check`](crate::sqs::engine::redrive::RedrivePolicy::check), which needs other queues.
    ///
    /// # Errors
    /// As [`Attributes::changed`](crate::sqs::engine::attributes::Attributes::changed).
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

    /// The error of AWS if the last purge was less than 60 seconds ago.
    pub(crate) fn too_soon_to_purge(&self, now: Timestamp) -> Option<ServiceError> {
        let interval = Duration::from_secs(limits::PURGE_INTERVAL_SECONDS);
        self.purged.filter(|purged| now < *purged + interval)?;
        let name = &self.id.arn.name;
        let text = format!("Only one PurgeQueue operation on {name} is allowed every 60 seconds.");
        Some(ServiceError::new(ErrorCode::PurgeQueueInProgress, text))
    }

    /// Removes all messages: visible, delayed and in flight. Deduplication ids can be used again.
    ///
    /// # Errors
    /// `PurgeQueueInProgress` within 60 seconds of the last purge, if the one-minute rules hold.
    pub(crate) fn purge(&mut self, now: Timestamp) -> Result<Dropped, ServiceError> {
        let now = self.settle(now);
        if self.settings.one_minute_rules {
            self.too_soon_to_purge(now).map_or(Ok(()), Err)?;
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

    /// Changes since the last call; empty without a reader.
    pub(crate) fn take_changes(&mut self) -> Vec<QueueChange> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records a change. `change` is called only if there is a reader.
    pub(crate) fn record(&mut self, change: impl FnOnce(&Self) -> QueueChange) {
        if self.changes.is_some() {
            let change = change(self);
            self.changes.get_or_insert_default().push(change);
        }
    }

    pub(crate) fn record_visibility(&mut self, slot: Slot) {
        if let (Some(changes), Some(message)) = (&mut self.changes, self.store.get(slot)) {
            let (ticket, state, turn) = (message.ticket, message.state, message.turn);
            changes.push(QueueChange::VisibilityChanged { ticket, state, turn });
        }
    }

    /// Records that messages were received.
    pub(crate) fn record_delivery(&mut self, slots: &[Slot]) {
        if let (Some(changes), false) = (&mut self.changes, slots.is_empty()) {
            let messages = slots.iter().filter_map(|slot| {
                let message = self.store.get(*slot)?;
                let State::InFlight { until } = message.state else { return None };
                Some(Delivered { ticket: message.ticket, receives: message.core.receives, until })
            });
            changes.push(QueueChange::MessagesDelivered { at: self.now, messages: messages.collect() });
        }
    }

    pub(crate) fn record_stored(&mut self, slot: Slot, deduplication: Option<Known>) {
        if self.changes.is_some()
            && let Some(message) = self.store.stored(slot)
        {
            let message = Box::new(message);
            self.record(|_| QueueChange::MessageStored { message, deduplication });
        }
    }

    /// Restores a queue. Receipt handles and deduplication ids stay valid; sequence numbers continue.
    #[cfg(any(test, feature = "durable"))]
    pub(crate) fn restore(now: Timestamp, id: QueueId, state: QueueState, settings: Settings) -> Self {
        let QueueState { seed, attributes, tags, .. } = state;
        let mut queue = Self::new(id, Creation { at: now, seed, attributes, tags }, settings, false);
        queue.created = state.created;
        queue.modified = state.modified;
        queue.purged = state.purged;
        queue.next_ticket = state.next_ticket;
        queue.changes = Some(Vec::new());
        if let Some(fifo) = &mut queue.fifo {
            fifo.deduplication.restore(now, state.deduplication_scope, state.deduplication);
        }
        let mut messages: Vec<_> = state.messages.into_values().collect();
        messages.sort_by_key(|message| (message.core.born, message.ticket));
        queue.store.restore(now, messages);
        queue
    }

    /// The state of the queue.
    #[cfg(test)]
    pub(crate) fn state(&mut self, now: Timestamp) -> QueueState {
        self.settle(now);
        let messages = self.store.slots().filter_map(|slot| self.store.stored(slot));
        let messages = messages.map(|message| (message.ticket, message)).collect();
        let deduplication = self.fifo.as_deref().map(FifoMemory::known).unwrap_or_default();
        QueueState {
            created: self.created,
            modified: self.modified,
            seed: self.seed,
            attributes: self.attributes.clone(),
            deduplication_scope: self
                .fifo
                .as_ref()
                .map(|fifo| fifo.deduplication.scope())
                .unwrap_or_default(),
            tags: self.tags.clone(),
            purged: self.purged,
            next_ticket: self.next_ticket,
            messages,
            deduplication,
        }
    }

    /// Lapses since the last call, if the settings are strict.
    pub(crate) fn take_lapses(&mut self) -> Vec<Lapse> {
        std::mem::take(&mut self.lapses)
    }

    /// Records the lapse of a message that a receive had hidden. Messages that a receive left visible do not lapse:
    /// those with a visibility timeout of zero, or with a fault that delivers them again.
    pub(crate) fn note_lapse(&mut self, slot: Slot) {
        if !self.settings.strict {
            return;
        }
        let Some(message) = self.store.get(slot) else { return };
        if let State::InFlight { until } = message.state
            && message.received < until
        {
            self.lapses.push(Lapse { id: message.core.id, receives: message.core.receives, at: until });
        }
    }

    /// The wakeups since the last call.
    pub(crate) fn take_wakeups(&mut self) -> Wakeups {
        let wake_at = self.wake_at();
        let sooner = wake_at.filter(|at| self.announced.is_none_or(|announced| *at < announced));
        self.announced = wake_at;
        let receivable = self.store.take_receivable().max(self.take_new_room());
        Wakeups { receivable, sooner }
    }

    /// Number of messages that became receivable because the number in flight fell below its limit, after a receive
    /// that reached the limit. The store counts them as receivable all the time.
    fn take_new_room(&mut self) -> usize {
        if !self.lacked_room || self.room() == 0 {
            return 0;
        }
        self.lacked_room = false;
        self.room().min(self.store.counts().available)
    }

    /// The next time at which a message can become receivable without a request.
    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        // The expiry of a hidden message unlocks its FIFO group and lowers the number of messages in flight.
        let hidden = self.store.next_return()?;
        let expiry = self.store.oldest().map(|born| born + self.attributes.retention);
        Some(expiry.map_or(hidden, |expiry| expiry.min(hidden)))
    }

    /// Sets or removes the quotas. Standard queues have none. Changed quotas start a new second.
    pub(crate) fn set_quotas(&mut self, quotas: Option<ThroughputQuotas>) {
        if quotas != self.quotas() {
            let quotas = quotas.filter(|_| self.fifo.is_some());
            self.throughput = quotas.map(|quotas| Box::new(Throughput::new(quotas)));
        }
    }

    /// The quotas, if any.
    pub(crate) fn quotas(&self) -> Option<ThroughputQuotas> {
        self.throughput.as_ref().map(|throughput| throughput.quotas)
    }

    /// Counts a call, of one message or of a batch.
    ///
    /// # Errors
    /// `RequestThrottled` for a call above the quota of its action.
    pub(crate) fn accept_call(&mut self, now: Timestamp, action: Metered) -> Result<(), ServiceError> {
        let is_high = self.has_high_throughput();
        match &mut self.throughput {
            Some(throughput) => throughput.accept_call(self.now.max(now), action, is_high),
            None => Ok(()),
        }
    }

    /// Counts a message that is sent to a group.
    ///
    /// # Errors
    /// `RequestThrottled` for a message above the quota of its group, on a queue with high throughput.
    pub(crate) fn accept_message(&mut self, now: Timestamp, group: Option<&str>) -> Result<(), ServiceError> {
        let is_high = self.has_high_throughput();
        match (&mut self.throughput, group) {
            (Some(throughput), Some(group)) if is_high => throughput.accept_message(self.now.max(now), group),
            _ => Ok(()),
        }
    }

    fn has_high_throughput(&self) -> bool {
        let limit = self.attributes.fifo.map(|fifo| fifo.throughput_limit);
        limit == Some(ThroughputLimit::PerMessageGroupId)
    }
}

/// Removed messages. There may be a million: drop them after releasing the lock of the queue.
#[derive(Debug, Default)]
pub(crate) struct Dropped {
    pub(crate) stores: Vec<Store>,
    pub(crate) messages: Vec<StoredMessage>,
}

impl Dropped {
    /// Whether dropping this takes long enough to delay other requests.
    pub(crate) fn is_large(&self) -> bool {
        const LARGE: usize = 10_000;
        self.messages.len() >= LARGE || self.stores.iter().any(|store| store.len() >= LARGE)
    }
}

/// The visibility timeout of a received message has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lapse {
    /// The message.
    pub id: Uuid,
    /// Number of receives.
    pub receives: u32,
    /// The end of the visibility timeout.
    pub at: Timestamp,
}

/// Which parked receives to wake after an operation on a queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Wakeups {
    /// Number of receives that can return messages now: wake this many.
    pub receivable: usize,
    /// A message can become receivable at this time, earlier than all parked receives know: wake one of them to wait
    /// for it.
    pub sooner: Option<Timestamp>,
}

/// Sequence numbers increase by a multiple of this.
const SEQUENCE_STEP: u128 = 256;

/// Sequence numbers start above this, so that they have 20 digits.
const SEQUENCE_BASE: u128 = 18_800_000_000_000_000_000;

/// The memory of a FIFO queue besides its messages.
#[derive(Debug)]
pub(crate) struct FifoMemory {
    sequence_start: u128,
    pub(crate) deduplication: Deduplication,
    pub(crate) attempts: Attempts,
}

impl FifoMemory {
    pub(crate) fn new(attributes: FifoAttributes, seed: Seed) -> Box<Self> {
        let mut generator = seed.generator("fifo");
        Box::new(Self {
            sequence_start: SEQUENCE_BASE + u128::from(generator.u32(..)) * SEQUENCE_STEP,
            deduplication: Deduplication::new(attributes.deduplication_scope, generator.u64(..)),
            attempts: Attempts::default(),
        })
    }

    pub(crate) fn sequence_number(&self, ticket: u64) -> SequenceNumber {
        SequenceNumber(self.sequence_start + u128::from(ticket) * SEQUENCE_STEP)
    }

    /// All deduplication ids, oldest first.
    #[cfg(test)]
    pub(crate) fn known(&self) -> Vec<crate::sqs::engine::send::Known> {
        self.deduplication.known()
    }

    /// Removes expired entries.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        self.deduplication.forget(now);
        self.attempts.forget(now);
    }

    pub(crate) fn clear(&mut self) {
        self.deduplication.clear();
        self.attempts.clear();
    }

    pub(crate) fn stored_bytes(&self) -> usize {
        self.deduplication.stored_bytes() + self.attempts.stored_bytes()
    }
}

#[cfg(test)]
mod tests;
