//! Why a receive gets nothing.

use std::fmt;
use std::sync::Arc;

use super::{Queue, Visibility};
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::aws_like::Asked;

/// Why a receive would get nothing now, from [`QueueView::why_empty`](crate::QueueView::why_empty). It shows as a sentence.
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
/// assert!(why.to_string().starts_with("all 1 message delayed, the first until"), "{why}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WhyEmpty {
    /// There is no such queue.
    NoSuchQueue,
    /// It would get something.
    NotEmpty {
        /// How many messages are visible, also those behind others of a locked group.
        available: usize,
    },
    /// There is no message at all.
    NoMessages,
    /// All messages were received and are hidden.
    InFlight {
        /// How many.
        messages: usize,
        /// When the first comes back.
        until: Timestamp,
    },
    /// All messages are delayed.
    Delayed {
        /// How many.
        messages: usize,
        /// When the first becomes visible.
        until: Timestamp,
    },
    /// Some messages are in flight, the others delayed.
    InFlightOrDelayed {
        /// How many are in flight.
        in_flight: usize,
        /// How many are delayed.
        delayed: usize,
        /// When the first of all becomes visible.
        until: Timestamp,
    },
    /// On a FIFO queue, all visible messages are behind hidden ones of their group.
    GroupsLocked {
        /// How many are visible.
        available: usize,
        /// The group of the oldest of them.
        group: Arc<str>,
        /// The message that locks this group.
        by: Uuid,
        /// When that message becomes visible, unless it is deleted earlier.
        until: Timestamp,
    },
    /// On a FIFO queue, receives look at the first messages only, and those of them that are visible are behind hidden
    /// ones or there are none.
    BeyondWindow {
        /// How many are visible.
        available: usize,
        /// How many messages a receive looks at.
        window: usize,
    },
    /// On a standard queue that delivers as AWS does, a receive that waits gets something, one that does not may miss
    /// it.
    OnSomeServers {
        /// How many are visible.
        available: usize,
    },
    /// All visible messages were received as often as the redrive policy allows: a receive gets none of them, but moves
    /// them to the dead-letter queue, if that exists.
    DeadLetters {
        /// How many there are.
        available: usize,
    },
    /// As many messages are in flight as a queue allows.
    InFlightLimit {
        /// How many that is.
        limit: usize,
        /// How many more are visible.
        available: usize,
        /// When the first comes back, unless one is deleted earlier.
        until: Timestamp,
    },
}

impl Queue {
    /// Why a receive would get nothing now. It takes time for all messages of a FIFO queue
    /// whose groups are locked, and of a queue with a redrive policy.
    pub(crate) fn why_empty(&mut self, now: Timestamp) -> WhyEmpty {
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
            _ if self.fifo.is_some() && self.store.next(now, Asked::ALL).is_none() => {
                self.obstacle(available).unwrap_or(WhyEmpty::NotEmpty { available })
            }
            _ if self.attributes.redrive.is_some() && self.has_dead_letters_only() => {
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

    /// What keeps back the oldest visible message.
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
            Self::InFlight { messages, until } => {
                write!(f, "all {} in flight, the first until {until}", Messages(*messages))
            }
            Self::Delayed { messages, until } => {
                write!(f, "all {} delayed, the first until {until}", Messages(*messages))
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
                "{} visible, but a short poll asks some servers only; long polls find them",
                Messages(*available)
            ),
            Self::DeadLetters { available } => write!(
                f,
                "{} visible, but received as often as the redrive policy allows; the next receive moves them to the \
                 dead-letter queue, if that exists",
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

/// A number of messages in words.
struct Messages(usize);

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 message"),
            count => write!(f, "{count} messages"),
        }
    }
}
