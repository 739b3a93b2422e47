//! Delivers messages to subscribers: to queues, again while SQS is unavailable, and through [`hooks`](super::hooks).
//!
//! ```text
//! deliver -> queue | unavailable -> backlog -> at once, then by the clock -> queue | at the end: dead-letter queue, dropped
//! ```

use std::cell::OnceCell;
use std::fmt::Display;
use std::sync::Arc;

use http::StatusCode;
use parking_lot::Mutex;

use crate::control::arn::{QueueArn, Resource, TopicArn};
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::delivery::{Delivery, KeptDelivery, Queues, Source, Undelivered};
use crate::control::journal::{Journal, PendingRecord};
use crate::control::metrics::{Counters, Exposition, Kind};
use crate::control::operation::ServiceName;
use crate::control::policies::Why;
use crate::control::seed::Uuid;
use crate::outgoing::log::OutgoingKind;
use crate::query::Origin;
use crate::sns::engine::backlog::{Backlog, Group};
use crate::sns::engine::hooks::HookRequest;
use crate::sns::engine::message::{Envelope, Message, Notification};
use crate::sns::engine::subscription::{Endpoint, Protocol, Subscription};
use crate::sns::engine::topic::{Receipt, Topic, TopicReader, WaitingChange, WaitingDelivery, is_recipient};
use crate::sns::retry_task::{Retries, RetryTask};
use crate::sns::{SharedTopic, Sns};

/// The attempts that are made under one lock.
const ATTEMPTS: usize = 100;

/// The operation of records of late deliveries, which no request asks for.
const LATE: &str = "Retry";

/// The deliveries of a server, with those that wait for a retry.
#[derive(Debug)]
pub(crate) struct Deliveries {
    queues: Arc<dyn Queues>,
    clock: Clock,
    journal: Arc<Journal>,
    /// Messages by outcome, once for each subscription.
    outcomes: Counters<1>,
    /// While it is locked, queues may be locked, topics not.
    state: Mutex<State>,
    /// Records which deliveries wait.
    reader: Option<Arc<dyn TopicReader>>,
    /// It starts when the first delivery waits.
    task: RetryTask,
}

#[derive(Debug, Default)]
struct State {
    backlog: Backlog<Arc<WaitingDelivery>>,
    /// The number of the last delivery.
    last: u64,
}

impl Sns {
    /// Writes the metrics of deliveries.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        let name = "sqs_mock_sns_deliveries_total";
        text.family(name, Kind::Counter, "Messages of topics by outcome, once for each subscription.");
        self.deliveries.outcomes.write(text, name);
    }
}

impl Deliveries {
    pub(crate) fn new(
        queues: Arc<dyn Queues>,
        clock: Clock,
        journal: Arc<Journal>,
        reader: Option<Arc<dyn TopicReader>>,
    ) -> Arc<Self> {
        let (outcomes, state) = (Counters::new(["outcome"]), Mutex::default());
        Arc::new(Self { queues, clock, journal, outcomes, state, reader, task: RetryTask::new() })
    }

    /// Adds the deliveries of an earlier process, whose retries start anew.
    pub(crate) fn restore(self: &Arc<Self>, all: Vec<WaitingDelivery>) {
        if all.is_empty() {
            return;
        }
        let State { backlog, last } = &mut *self.state.lock();
        for waiting in all {
            *last = waiting.number.max(*last);
            let (group, bytes) = (waiting.group.clone(), waiting.delivery.bytes());
            // There is room: the earlier process had it.
            let _ = backlog.add(self.clock.now(), group, (bytes, Arc::new(waiting)));
        }
        self.task.start(self);
    }

    /// Counts a message for one subscription.
    pub(crate) fn count(&self, outcome: &'static str) {
        self.outcomes.count([outcome.into()]);
    }

    /// Delivers to a queue, or else to the dead-letter queue. `group` is that of a FIFO topic, whose order is kept. Returns
    /// a note if the message is not in the queue, or AWS denies the delivery.
    pub(crate) fn deliver(
        self: &Arc<Self>,
        group: Option<Group>,
        delivery: Delivery<'_>,
        dead_letter_queue: Option<&QueueArn>,
    ) -> Option<String> {
        // Nobody else adds to the group meanwhile: its topic is locked.
        let is_blocked = group.as_ref().is_some_and(|group| self.state.lock().backlog.is_blocked(group));
        let attempt = if is_blocked {
            Err("an earlier message of the group is not delivered".to_owned())
        } else {
            self.attempt(delivery, dead_letter_queue)
        };
        let reason = match attempt {
            Ok(note) => return note,
            Err(reason) => reason,
        };
        let kept = KeptDelivery::of(delivery);
        let (bytes, now) = (kept.bytes(), self.clock.now());
        let State { backlog, last } = &mut *self.state.lock();
        *last += 1;
        let waiting = Arc::new(WaitingDelivery {
            number: *last,
            group: group.clone(),
            delivery: kept,
            dead_letter_queue: dead_letter_queue.cloned(),
        });
        let Some(lane) = backlog.add(now, group, (bytes, Arc::clone(&waiting))) else {
            let reason = format!("{reason}; the server has no room to keep it for later attempts");
            return Some(self.give_up(delivery, dead_letter_queue, &reason));
        };
        // The immediate retries.
        backlog.begin(now, lane, |waiting| self.retry(waiting), |waiting| self.end(&waiting));
        if !backlog.has(lane) {
            return None;
        }
        self.tell(WaitingChange::Added(waiting));
        self.task.wake();
        self.task.start(self);
        Some(format!("not yet delivered to {}, but tried again: {reason}", delivery.queue))
    }

    /// Forgets all deliveries that wait.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        state.backlog = Backlog::default();
        self.tell(WaitingChange::Cleared);
        self.task.wake();
    }

    /// Makes some of the attempts that are due.
    fn run(&self, now: Timestamp) {
        // The store has a message in a queue or here.
        let _whole = self.queues.whole();
        let backlog = &mut self.state.lock().backlog;
        backlog.run(now, ATTEMPTS, |waiting| self.retry(waiting), |waiting| self.end(&waiting));
    }

    /// Returns whether the delivery is settled.
    fn retry(&self, waiting: &WaitingDelivery) -> bool {
        let WaitingDelivery { number, delivery, dead_letter_queue, .. } = waiting;
        let attempt = self.attempt(delivery.as_delivery(), dead_letter_queue.as_ref());
        let Ok(note) = attempt else { return false };
        if let Some((topic, note)) = TopicArn::of(&delivery.source_arn).zip(note) {
            self.report(&topic, &number.to_string(), note);
        }
        self.tell(WaitingChange::Ended(*number));
        true
    }

    /// After the last attempt.
    fn end(&self, waiting: &WaitingDelivery) {
        let WaitingDelivery { number, delivery, dead_letter_queue, .. } = waiting;
        let reason = "SQS was unavailable for 23 days";
        let note = self.give_up(delivery.as_delivery(), dead_letter_queue.as_ref(), reason);
        if let Some(topic) = TopicArn::of(&delivery.source_arn) {
            self.report(&topic, &number.to_string(), note);
        }
        self.tell(WaitingChange::Ended(*number));
    }

    fn tell(&self, change: WaitingChange) {
        if let Some(reader) = &self.reader {
            reader.read_waiting(change);
        }
    }

    /// Logs and records what the publish could not tell.
    pub(crate) fn report(&self, topic: &TopicArn, id: &str, note: String) {
        tracing::warn!("late delivery of a topic: {note}");
        let mut record = PendingRecord::open(&self.journal, &self.clock, ServiceName::Sns, id, None);
        record.asked(LATE);
        record.note(|record| {
            record.resource = Some(Resource::Topic(topic.clone()));
            record.warnings = [note].into();
        });
        record.answered(Some(StatusCode::OK));
    }

    /// Settles a delivery, and returns a note if the message is not in the queue, or AWS denies the delivery.
    ///
    /// # Errors
    /// SQS is unavailable; the text says why.
    fn attempt(
        &self,
        delivery: Delivery<'_>,
        dead_letter_queue: Option<&QueueArn>,
    ) -> Result<Option<String>, String> {
        match self.queues.deliver(delivery) {
            Ok(denial) => {
                self.count("delivered");
                Ok(denial.map(|why| delivered_anyway(delivery.queue, &why)))
            }
            Err(Undelivered::Unavailable(error)) => Err(error.to_string()),
            Err(undelivered) => Ok(Some(self.give_up(delivery, dead_letter_queue, &undelivered.to_string()))),
        }
    }

    /// Delivers to the dead-letter queue, if there is one. Returns a note.
    fn give_up(&self, delivery: Delivery<'_>, dead_letter_queue: Option<&QueueArn>, reason: &str) -> String {
        let dead_letter = dead_letter_queue.map(|queue| Delivery { queue, ..delivery });
        self.finish(&delivery.queue, dead_letter, reason)
    }

    /// Ends the delivery to an endpoint. Returns a note.
    pub(crate) fn finish(
        &self,
        endpoint: &dyn Display,
        dead_letter: Option<Delivery<'_>>,
        reason: &str,
    ) -> String {
        let Some(dead_letter) = dead_letter else {
            self.count("dropped");
            return format!("dropped for {endpoint}: {reason}");
        };
        let dead_letter_queue = dead_letter.queue;
        match self.queues.deliver(dead_letter) {
            Ok(denial) => {
                self.count("dead_lettered");
                let denial = denial.map(|why| format!("; {}", delivered_anyway(dead_letter_queue, &why)));
                let denial = denial.unwrap_or_default();
                format!(
                    "moved from {endpoint} to the dead-letter queue {dead_letter_queue}: {reason}{denial}"
                )
            }
            Err(undelivered) => {
                self.count("dropped");
                format!(
                    "dropped for {endpoint}: {reason}; dead-letter queue {dead_letter_queue}: {undelivered}"
                )
            }
        }
    }
}

impl Retries for Deliveries {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.state.lock().backlog.next_due()
    }

    fn run_due(self: Arc<Self>, now: Timestamp) {
        self.run(now);
    }
}

fn delivered_anyway(queue: &QueueArn, why: &Why) -> String {
    format!("delivered to {queue}, but AWS denies it: {why}")
}

/// The sender that queues show for messages of SNS.
const SENDER: &str = "AROAJFWZWTE5KRAMGW5A2:AWS-CLOUDCAST";

/// The maximum number of notes about one message.
const MAX_NOTES: usize = 20;

/// The protocols whose subscribers get notifications from here. Most messages have one text for all of them.
const PROTOCOLS: [Protocol; 3] = [Protocol::Sqs, Protocol::Http, Protocol::Https];

/// The id of a message, with the notifications that its subscribers need.
pub(crate) struct Signed {
    pub(crate) id: Uuid,
    notifications: Notifications,
}

/// The notifications of a message, one for each of its texts.
#[derive(Default)]
struct Notifications([OnceCell<Notification>; PROTOCOLS.len()]);

impl Notifications {
    /// The notification for a protocol, which is made when the first subscriber needs it.
    fn get(
        &self,
        protocol: Protocol,
        message: &Message,
        make: impl Fn(Protocol) -> Notification,
    ) -> &Notification {
        let text = message.text(protocol);
        let cells = PROTOCOLS.into_iter().zip(&self.0);
        let mut same = cells.filter(|(other, _)| std::ptr::eq(message.text(*other), text));
        // At least the protocol itself.
        let (protocol, cell) = same.next().unwrap_or((protocol, &self.0[0]));
        cell.get_or_init(|| make(protocol))
    }
}

/// Prepares a message before its topic is locked for deliveries: a signature takes longer than all the rest. FIFO topics do
/// not sign.
pub(crate) fn sign(sns: &Sns, origin: Origin<'_>, topic: &SharedTopic, message: &Message) -> Signed {
    let (id, notifications) = (sns.new_id(), Notifications::default());
    let mut enveloped = PROTOCOLS.to_vec();
    let (arn, signature_version) = {
        let topic = sns.lock(topic);
        enveloped.retain(|protocol| !topic.arn().is_fifo() && topic.has_envelope(*protocol, message));
        if enveloped.is_empty() {
            return Signed { id, notifications };
        }
        (topic.arn().clone(), topic.settings().signature_version().to_owned())
    };
    let envelope = envelope(sns.clock.now(), origin, &arn, &signature_version);
    let receipt = Receipt { id, sequence_number: None };
    for protocol in enveloped {
        notifications.get(protocol, message, |protocol| envelope.notification(protocol, receipt, message));
    }
    Signed { id, notifications }
}

/// A message that a topic took, on its way to the subscribers.
pub(crate) struct Departure {
    /// When the topic took it.
    pub(crate) time: Timestamp,
    pub(crate) message: Message,
    pub(crate) receipt: Receipt,
    signed: Signed,
    /// The id of the last subscription that was looked at.
    after: Option<Box<str>>,
    notes: Notes,
}

impl Departure {
    pub(crate) fn new(time: Timestamp, message: Message, receipt: Receipt, signed: Signed) -> Self {
        Self { time, message, receipt, signed, after: None, notes: Notes::default() }
    }

    /// Looks at subscriptions, at most `most` of them, and delivers to those that get the message. Returns their number,
    /// which is smaller than `most` after the last one.
    pub(crate) fn proceed(&mut self, sns: &Sns, origin: Origin<'_>, topic: &Topic, most: usize) -> usize {
        let Self { time, message, receipt, signed, after, notes } = self;
        let envelope = envelope(*time, origin, topic.arn(), topic.settings().signature_version());
        let notification = |protocol: Protocol| {
            // Not made yet on FIFO topics, and if a subscription is new.
            let make = |protocol| envelope.notification(protocol, *receipt, message);
            signed.notifications.get(protocol, message, make)
        };
        let topic_arn = topic.arn().to_string();
        let is_recipient = is_recipient(message);
        let (mut count, mut last) = (0, None);
        for subscription in topic.subscriptions_after(after.as_deref()).take(most) {
            (count, last) = (count + 1, Some(subscription));
            if is_recipient(subscription) {
                let to = (topic, &*topic_arn, subscription);
                notes.extend(deliver(sns, origin, to, (message, receipt.id), &notification));
            }
        }
        if let Some(last) = last {
            *after = Some(last.arn.id.clone());
        }
        count
    }

    /// About the subscribers that did not get it.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.texts()
    }
}

/// Delivers a message to a subscriber. Returns a note if it does not get it.
fn deliver<'n>(
    sns: &Sns,
    origin: Origin<'_>,
    (topic, topic_arn, subscription): (&Topic, &str, &Subscription),
    (message, id): (&Message, Uuid),
    notification: &impl Fn(Protocol) -> &'n Notification,
) -> Option<String> {
    let (protocol, is_raw) = (subscription.protocol(), subscription.attributes.raw);
    let enveloped = || (!is_raw).then(|| notification(protocol).text(&subscription.arn));
    let attributes = Some(&message.attributes).filter(|all| is_raw && !all.is_empty());
    let queue = match &subscription.endpoint {
        Endpoint::Queue(queue) => queue,
        Endpoint::Outside(protocol, url) if protocol.is_http() => {
            let request = HookRequest {
                message_id: id.to_string().into(),
                body: enveloped().unwrap_or_else(|| message.text(*protocol).to_owned()).into(),
                attributes: attributes.cloned(),
                group: message.group.as_deref().map(Into::into),
                trace_header: origin.trace_header.map(Into::into),
                ..request(OutgoingKind::Notification, topic, subscription, url)
            };
            return sns.hooks.deliver(request);
        }
        Endpoint::Outside(protocol, address) => {
            sns.deliveries.count("not_sent");
            return Some(format!("{} to {address} is recorded, not sent", protocol.into_str()));
        }
    };
    let enveloped = enveloped();
    let of_fifo = topic.arn().is_fifo();
    // Standard queues get neither id from a FIFO topic, but the group from a standard topic.
    let keeps_group = queue.is_fifo() || !of_fifo;
    let delivery = Delivery {
        body: enveloped.as_deref().unwrap_or_else(|| message.text(Protocol::Sqs)),
        attributes,
        group: message.group.as_deref().filter(|_| keeps_group),
        deduplication_id: message.deduplication_id.as_deref().filter(|_| queue.is_fifo()),
        trace_header: origin.trace_header,
        ..empty(queue, topic.arn(), topic_arn)
    };
    let group = of_fifo.then(|| Group {
        subscription: subscription.arn.id.clone(),
        name: message.group.as_deref().unwrap_or_default().into(),
    });
    sns.deliveries.deliver(group, delivery, subscription.attributes.dead_letter_queue.as_ref())
}

/// A request to the web hook of a subscription, without a message.
fn request(kind: OutgoingKind, topic: &Topic, subscription: &Subscription, url: &str) -> HookRequest {
    let attributes = &subscription.attributes;
    let is_notification = kind == OutgoingKind::Notification;
    HookRequest {
        // The receiver sets it.
        number: 0,
        kind,
        topic: topic.arn().clone(),
        subscription: subscription.arn.id.clone(),
        url: url.into(),
        message_id: Box::default(),
        is_raw: attributes.raw && is_notification,
        policy: subscription.delivery_policy(topic.settings().delivery_policy()),
        body: Box::default(),
        dead_letter_queue: attributes.dead_letter_queue.clone().filter(|_| is_notification),
        attributes: None,
        group: None,
        trace_header: None,
    }
}

/// Sends the request for confirmation to a web hook, or to a queue of another account. Returns notes: the link, and why a
/// queue does not get it.
pub(crate) fn ask_to_confirm(
    sns: &Sns,
    origin: Origin<'_>,
    (topic, subscription): (&Topic, &Subscription),
    token: &str,
) -> Vec<String> {
    let envelope = envelope(sns.clock.now(), origin, topic.arn(), topic.settings().signature_version());
    let link =
        format!("{} is pending; confirm it with {}", subscription.arn, envelope.confirmation_url(token));
    let id = sns.new_id();
    let body = envelope.confirmation(id, token);
    let note = match &subscription.endpoint {
        Endpoint::Queue(queue) => {
            let topic_arn = topic.arn().to_string();
            let delivery = Delivery { body: &body, ..empty(queue, topic.arn(), &topic_arn) };
            sns.deliveries.deliver(None, delivery, None)
        }
        Endpoint::Outside(protocol, url) if protocol.is_http() => sns.hooks.deliver(HookRequest {
            message_id: id.to_string().into(),
            body: body.into(),
            ..request(OutgoingKind::SubscriptionConfirmation, topic, subscription, url)
        }),
        Endpoint::Outside(..) => None,
    };
    note.into_iter().chain([link]).collect()
}

/// Tells a web hook that somebody else than the owner has ended its subscription, with a link that restores it.
pub(crate) fn tell_of_end(
    sns: &Sns,
    origin: Origin<'_>,
    (topic, subscription): (&Topic, &Subscription),
    token: &str,
) -> Option<String> {
    let Endpoint::Outside(protocol, url) = &subscription.endpoint else { return None };
    if !protocol.is_http() {
        return None;
    }
    let envelope = envelope(sns.clock.now(), origin, topic.arn(), topic.settings().signature_version());
    let id = sns.new_id();
    sns.hooks.deliver(HookRequest {
        message_id: id.to_string().into(),
        body: envelope.end(id, &subscription.arn, token).into(),
        ..request(OutgoingKind::UnsubscribeConfirmation, topic, subscription, url)
    })
}

fn envelope<'a>(
    time: Timestamp,
    origin: Origin<'a>,
    topic: &'a TopicArn,
    signature_version: &'a str,
) -> Envelope<'a> {
    Envelope { topic, time, base_url: origin.base_url, signature_version }
}

/// A delivery of a topic without a message.
pub(crate) fn empty<'a>(queue: &'a QueueArn, topic: &'a TopicArn, topic_arn: &'a str) -> Delivery<'a> {
    Delivery {
        queue,
        // Policies see it.
        source: Source { service: "sns.amazonaws.com", arn: topic_arn, account: &topic.account },
        body: "",
        attributes: None,
        group: None,
        deduplication_id: None,
        trace_header: None,
        sender: SENDER,
        keeps_size_limit: false,
    }
}

/// The first notes, and the number of the others.
#[derive(Debug, Default)]
struct Notes {
    first: Vec<String>,
    others: usize,
}

impl Extend<String> for Notes {
    fn extend<T: IntoIterator<Item = String>>(&mut self, notes: T) {
        for note in notes {
            if self.first.len() < MAX_NOTES { self.first.push(note) } else { self.others += 1 }
        }
    }
}

impl Notes {
    fn texts(&self) -> Vec<String> {
        let others = (self.others > 0).then(|| format!("and {} more", self.others));
        self.first.iter().cloned().chain(others).collect()
    }
}
