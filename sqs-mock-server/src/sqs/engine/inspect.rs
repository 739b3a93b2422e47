//! Read-only views of queues and messages.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use sqs_client::types::QueueAttributeName;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::sqs::engine::messages::{Birth, Counts, Payload, SequenceNumber, Slot, State, Stored};
use crate::sqs::engine::order_standard::ServerSample;
use crate::sqs::engine::queue::Queue;

/// A queue without its messages.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueueDescription {
    /// All attributes, as `GetQueueAttributes` returns them.
    pub attributes: BTreeMap<QueueAttributeName, String>,
    /// The tags.
    pub tags: BTreeMap<String, String>,
    /// Message counts.
    pub counts: Counts,
    /// How many messages were ever stored: sent, moved here as dead letters, or moved back here.
    pub arrived: u64,
    /// Start of the retention of the oldest message; `None` without messages.
    pub oldest: Option<Timestamp>,
}

impl Queue {
    pub(crate) fn describe(&mut self, now: Timestamp) -> QueueDescription {
        QueueDescription {
            attributes: self.render(now, &[QueueAttributeName::All]).into_iter().collect(),
            tags: self.tags.all().clone(),
            counts: self.store.counts(),
            arrived: self.next_ticket,
            oldest: self.store.oldest(),
        }
    }

    /// The next time at which the queue changes without a request: a message becomes visible, or expires.
    pub(crate) fn next_change(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.settle(now);
        let expiry = self.store.oldest().map(|born| born + self.attributes.retention);
        self.store.next_return().into_iter().chain(expiry).min()
    }

    /// Why a receive would return nothing now. As for [`Receive`](crate::sqs::engine::receive::Receive), dead letters need a dead-letter queue
    /// that exists. Scans all messages of a FIFO queue whose groups are locked, and of a queue with a dead-letter queue.
    pub(crate) fn why_empty(&mut self, now: Timestamp, dead_letter_queue_exists: bool) -> WhyEmpty {
        let now = self.settle(now);
        let counts = self.store.counts();
        let until = self.store.next_return().unwrap_or(now);
        let (in_flight, delayed, available) = (counts.in_flight, counts.delayed, counts.available);
        if self.room() == 0 {
            return WhyEmpty::InFlightLimit { limit: self.settings.max_in_flight, available, until };
        }
        match (available, in_flight, delayed) {
            (0, 0, 0) => WhyEmpty::NoMessages,
            (0, messages, 0) => WhyEmpty::InFlight { messages, until },
            (0, 0, messages) => WhyEmpty::Delayed { messages, until },
            (0, ..) => WhyEmpty::InFlightOrDelayed { in_flight, delayed, until },
            _ if self.fifo.is_some() && self.store.next(now, ServerSample::ALL).is_none() => {
                self.obstacle(available).unwrap_or(WhyEmpty::NotEmpty { available })
            }
            _ if dead_letter_queue_exists && self.has_dead_letters_only() => {
                WhyEmpty::DeadLetters { available }
            }
            _ if self.aws_like.is_some() => WhyEmpty::OnSomeServers { available },
            _ => WhyEmpty::NotEmpty { available },
        }
    }

    fn has_dead_letters_only(&self) -> bool {
        let mut visible = self.seen().filter(|(_, visibility)| *visibility == Visibility::Visible);
        visible.all(|(message, _)| self.has_exhausted_receives(&message.core))
    }

    /// The obstacle of the oldest visible message.
    fn obstacle(&self, available: usize) -> Option<WhyEmpty> {
        self.seen().find_map(|(message, visibility)| match visibility {
            Visibility::GroupLockedBy { id, until } => Some(WhyEmpty::GroupsLocked {
                available,
                group: self.store.group_id(message.group)?,
                by: id,
                until,
            }),
            Visibility::BeyondWindow => {
                Some(WhyEmpty::BeyondWindow { available, window: self.settings.receive_window })
            }
            _ => None,
        })
    }

    /// Reads the next page. Returns whether there may be more.
    pub(crate) fn walk(&mut self, now: Timestamp, walk: &mut Walk<impl Fn(Visibility) -> bool>) -> bool {
        self.settle(now);
        let mut read = 0;
        for (slot, message) in self.store.after(walk.after).take(PAGE) {
            if walk.is_complete() {
                return false;
            }
            read += 1;
            walk.after = Some(message.birth());
            let visibility = self.visibility(slot, message, &mut walk.locks);
            if !(walk.is_shown)(visibility) {
                continue;
            }
            if walk.skip > 0 {
                walk.skip -= 1;
            } else {
                walk.found.push(self.show_message(message, visibility));
            }
        }
        read == PAGE && !walk.is_complete()
    }

    /// All messages with their visibility, oldest first.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (&Stored, Visibility)> {
        let mut locks = Locks::new();
        self.store
            .after(None)
            .map(move |(slot, message)| (message, self.visibility(slot, message, &mut locks)))
    }

    /// `locks` covers all older messages.
    fn visibility(&self, slot: Slot, message: &Stored, locks: &mut Locks) -> Visibility {
        let lock = self.lock_of(message.group, locks);
        if self.fifo.is_some() && lock.is_none() && message.state.hidden_until().is_some() {
            locks.insert(message.group, (slot, message.ticket));
        }
        match (message.state, lock) {
            (State::Delayed { until }, _) => Visibility::DelayedUntil(until),
            (State::InFlight { until }, _) => Visibility::InFlightUntil(until),
            (State::Available, Some(locked)) => locked,
            (State::Available, None) if self.store.is_in_window(message) => Visibility::Visible,
            (State::Available, None) => Visibility::BeyondWindow,
        }
    }

    /// The visibility of messages behind the lock of a group, unless it was released since an earlier page.
    fn lock_of(&self, group: Slot, locks: &Locks) -> Option<Visibility> {
        let (slot, ticket) = locks.get(&group)?;
        let lock = self.store.get(*slot).filter(|message| message.ticket == *ticket)?;
        Some(Visibility::GroupLockedBy { id: lock.core.id, until: lock.state.hidden_until()? })
    }

    pub(crate) fn show_message(&self, message: &Stored, visibility: Visibility) -> PeekedMessage {
        let core = &message.core;
        PeekedMessage {
            id: core.id,
            payload: Arc::clone(&core.payload),
            visibility,
            sent: core.sent,
            first_received: (core.receives > 0).then_some(core.first_received),
            receive_count: core.receives,
            group: self.store.group_id(message.group),
            deduplication_id: core.deduplication_id.clone(),
            sequence_number: self.sequence_number(message.ticket),
            dead_letter_source: core.source.clone(),
        }
    }
}

/// A message, as found by peeking.
#[derive(Clone, Debug)]
pub struct PeekedMessage {
    /// The id of the message.
    pub id: Uuid,
    /// The part that the sender set.
    pub payload: Arc<Payload>,
    /// Whether it can be received.
    pub visibility: Visibility,
    /// When it was sent.
    pub sent: Timestamp,
    /// When it was first received, if ever.
    pub first_received: Option<Timestamp>,
    /// Number of receives.
    pub receive_count: u32,
    /// Its message group.
    pub group: Option<Arc<str>>,
    /// Its deduplication id, on FIFO queues.
    pub deduplication_id: Option<Arc<str>>,
    /// Its sequence number, on FIFO queues.
    pub sequence_number: Option<SequenceNumber>,
    /// The source queue, if the message is a dead letter.
    pub dead_letter_source: Option<Arc<QueueArn>>,
}

/// Whether a message can be received, and if not, why.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Visibility {
    /// It can be received.
    Visible,
    /// It is new and delayed.
    DelayedUntil(Timestamp),
    /// It was received.
    InFlightUntil(Timestamp),
    /// It is visible, but behind a hidden message of its group.
    GroupLockedBy {
        /// The hidden message.
        id: Uuid,
        /// When the hidden message becomes visible, unless it is deleted or changed earlier.
        until: Timestamp,
    },
    /// It is visible, but behind more messages of a FIFO queue than a receive looks at.
    BeyondWindow,
}

impl PeekedMessage {
    /// The body.
    pub fn body(&self) -> &str {
        &self.payload.body
    }

    /// The text or number of a message attribute; `None` if there is no such attribute, or it is binary.
    /// [`Payload::attributes`] has all.
    pub fn message_attribute(&self, name: &str) -> Option<&str> {
        self.payload.attributes()?.get(name)?.string_value()
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible => f.write_str("visible"),
            Self::DelayedUntil(until) => write!(f, "delayed until {until}"),
            Self::InFlightUntil(until) => write!(f, "in flight until {until}"),
            Self::BeyondWindow => f.write_str("beyond the receive window"),
            Self::GroupLockedBy { id, until } => write!(f, "group locked by {id} until {until}"),
        }
    }
}

/// Why a receive would return nothing now, from [`QueueView::why_empty`](crate::mock::queue::QueueView::why_empty). It displays as a
/// sentence.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// # let server = MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// client.send_message().queue_url(&url).message_body("tea").delay_seconds(60).send().await?;
/// let why = server.queue("orders").why_empty();
/// assert!(why.to_string().starts_with("the only message is delayed until"), "{why}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WhyEmpty {
    /// The queue does not exist.
    NoSuchQueue,
    /// A receive would return messages.
    NotEmpty {
        /// Number of visible messages, including those behind others of a locked group.
        available: usize,
    },
    /// The queue has no messages.
    NoMessages,
    /// The queue has no messages, and its [enforced](crate::control::policies::Policies::Enforce) access policy denied a delivery from a topic
    /// or bucket.
    Denied {
        /// What the policy requires, for the latest such delivery. A later one of the same topic or bucket that arrives
        /// ends this.
        why: Arc<str>,
    },
    /// The queue has no messages, and AWS would have refused a purge or a creation of it. See
    /// [`MockSqsBuilder::one_minute_rules`](crate::mock::builder::MockSqsBuilder::one_minute_rules).
    OneMinuteRule {
        /// When it succeeded.
        time: Timestamp,
        /// What AWS would have answered.
        why: Arc<str>,
    },
    /// All messages were received and are hidden.
    InFlight {
        /// Number of messages.
        messages: usize,
        /// When the first becomes visible.
        until: Timestamp,
    },
    /// All messages are delayed.
    Delayed {
        /// Number of messages.
        messages: usize,
        /// When the first becomes visible.
        until: Timestamp,
    },
    /// Some messages are in flight, the others delayed.
    InFlightOrDelayed {
        /// Number of messages in flight.
        in_flight: usize,
        /// Number of delayed messages.
        delayed: usize,
        /// When the first of them becomes visible.
        until: Timestamp,
    },
    /// On a FIFO queue, all visible messages are behind hidden ones of their group.
    GroupsLocked {
        /// Number of visible messages.
        available: usize,
        /// The group of the oldest of them.
        group: Arc<str>,
        /// The message that locks this group.
        by: Uuid,
        /// When that message becomes visible, unless it is deleted earlier.
        until: Timestamp,
    },
    /// On a FIFO queue, no message within the receive window can be received: each is hidden, or behind a hidden one of
    /// its group.
    BeyondWindow {
        /// Number of visible messages.
        available: usize,
        /// Number of messages that a receive looks at.
        window: usize,
    },
    /// On a standard queue that delivers like AWS, a long poll returns messages, but a short poll can miss them.
    OnSomeServers {
        /// Number of visible messages.
        available: usize,
    },
    /// All visible messages were received as often as the redrive policy allows: a receive returns none of them, but
    /// moves them to the dead-letter queue.
    DeadLetters {
        /// Number of visible messages.
        available: usize,
    },
    /// The limit of messages in flight is reached.
    InFlightLimit {
        /// The limit.
        limit: usize,
        /// Number of visible messages.
        available: usize,
        /// When the first becomes visible, unless one is deleted earlier.
        until: Timestamp,
    },
}

impl fmt::Display for WhyEmpty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchQueue => f.write_str("there is no such queue"),
            Self::NotEmpty { available } => write!(f, "not empty: {} visible", Messages(*available)),
            Self::NoMessages => f.write_str("the queue has no messages"),
            Self::Denied { why } => write!(f, "the queue has no messages: {why}"),
            Self::OneMinuteRule { time, why } => write!(f, "the queue has no messages; at {time}, {why}"),
            Self::InFlight { messages: 1, until } => write!(f, "the only message is in flight until {until}"),
            Self::InFlight { messages, until } => {
                write!(f, "all {messages} messages are in flight, the first until {until}")
            }
            Self::Delayed { messages: 1, until } => write!(f, "the only message is delayed until {until}"),
            Self::Delayed { messages, until } => {
                write!(f, "all {messages} messages are delayed, the first until {until}")
            }
            Self::InFlightOrDelayed { in_flight, delayed, until } => {
                write!(f, "{} in flight and {delayed} delayed, the first until {until}", Messages(*in_flight))
            }
            Self::GroupsLocked { available, group, by, until } => write!(
                f,
                "{} visible, but behind hidden ones of their group: group {group:?} is locked by message {by} \
                 until {until}",
                Messages(*available)
            ),
            Self::BeyondWindow { available, window } => write!(
                f,
                "{} visible, but a receive looks at the first {window} messages only",
                Messages(*available)
            ),
            Self::OnSomeServers { available } => write!(
                f,
                "{} visible, but a short poll queries only some servers; long polls find them",
                Messages(*available)
            ),
            Self::DeadLetters { available } => write!(
                f,
                "{} visible, but received as often as the redrive policy allows; the next receive moves them to the \
                 dead-letter queue",
                Messages(*available)
            ),
            Self::InFlightLimit { limit, available, until } => write!(
                f,
                "{limit} messages are in flight, which is the limit, the first until {until}; {available} more \
                 are visible"
            ),
        }
    }
}

/// Displays a number of messages.
struct Messages(usize);

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 message"),
            count => write!(f, "{count} messages"),
        }
    }
}

/// The maximum number of messages in a page. Other requests wait for the lock of the queue while it is read.
pub(crate) const PAGE: usize = 1_000;

/// The first hidden message of each group of a FIFO queue, by its slot and ticket.
type Locks = HashMap<Slot, (Slot, u64)>;

/// A walk over the messages of a queue, oldest first.
///
/// The queue may change between two pages. A message that is added, changed or removed meanwhile may be found as it was
/// before or after the change, or not at all; no message is found twice.
#[derive(Debug)]
pub(crate) struct Walk<F> {
    skip: usize,
    at_most: usize,
    is_shown: F,
    /// The last message so far.
    after: Option<Birth>,
    locks: Locks,
    found: Vec<PeekedMessage>,
}

impl<F: Fn(Visibility) -> bool> Walk<F> {
    /// A walk to the messages whose visibility satisfies `is_shown`: `at_most` after the first `skip`.
    pub(crate) fn new(skip: usize, at_most: usize, is_shown: F) -> Self {
        Self { skip, at_most, is_shown, after: None, locks: Locks::new(), found: Vec::new() }
    }

    /// The messages found so far.
    pub(crate) fn into_messages(self) -> Vec<PeekedMessage> {
        self.found
    }

    fn is_complete(&self) -> bool {
        self.found.len() >= self.at_most
    }
}
