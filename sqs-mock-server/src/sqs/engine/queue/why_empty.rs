//! Why a receive returns nothing.

use std::fmt;
use std::sync::Arc;

use super::{Queue, Visibility};
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::aws_like::ServerSample;

/// Why a receive would return nothing now, from [`QueueView::why_empty`](crate::QueueView::why_empty). It displays as a
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
    /// The queue has no messages, and its [enforced](crate::Policies::Enforce) access policy denied a delivery from a topic
    /// or bucket.
    Denied {
        /// What the policy requires, for the latest such delivery. A later one of the same topic or bucket that arrives
        /// ends this.
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

impl Queue {
    /// Why a receive would return nothing now. As for [`Receive`](super::Receive), dead letters need a dead-letter queue
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
}

impl fmt::Display for WhyEmpty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchQueue => f.write_str("there is no such queue"),
            Self::NotEmpty { available } => write!(f, "not empty: {} visible", Messages(*available)),
            Self::NoMessages => f.write_str("the queue has no messages"),
            Self::Denied { why } => write!(f, "the queue has no messages: {why}"),
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
