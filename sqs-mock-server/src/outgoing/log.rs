//! The latest requests that the server sent, for tests.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

use crate::control::clock::Timestamp;
use crate::control::metrics::{Counters, Exposition, Kind};

/// The maximum number of characters of an error, and of what follows.
const MAX_TEXT: usize = 500;

/// The status in metrics of requests without an answer.
const NO_STATUS: &str = "none";

/// A request that the server sent to a web hook or a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutgoingRequest {
    /// Counts the requests of the server from 1. A reset does not restart it.
    pub number: u64,
    /// What it is.
    pub kind: OutgoingKind,
    /// The ARN of the topic or the queue.
    pub source: String,
    /// Where it went, without a password.
    pub url: String,
    /// The id of the published message, or of the invocation.
    pub id: String,
    /// The messages in it: 1 for web hooks, the size of the batch for functions.
    pub messages: usize,
    /// Counts the attempts from 1.
    pub attempt: u32,
    /// The start of the attempt, by the clock of the server.
    pub time: Timestamp,
    /// The time until the answer in seconds, in real time.
    pub seconds: f64,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Why it counts as failed; `None` if it succeeded.
    pub error: Option<String>,
    /// What follows: a retry and its time, a dead letter, or messages that stay in their queue.
    pub follows: Option<String>,
}

/// What a request is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub enum OutgoingKind {
    /// A message of a topic.
    Notification,
    /// The request to confirm a subscription.
    SubscriptionConfirmation,
    /// Tells that a subscription was ended by somebody else than its owner.
    UnsubscribeConfirmation,
    /// A batch of messages of a queue for a function.
    Invocation,
}

impl OutgoingKind {
    /// All kinds.
    pub(crate) const ALL: [Self; 4] =
        [Self::Notification, Self::SubscriptionConfirmation, Self::UnsubscribeConfirmation, Self::Invocation];

    /// The kind with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The name, such as `Notification`. SNS has the same names in the header `x-amz-sns-message-type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notification => "Notification",
            Self::SubscriptionConfirmation => "SubscriptionConfirmation",
            Self::UnsubscribeConfirmation => "UnsubscribeConfirmation",
            Self::Invocation => "Invocation",
        }
    }
}

impl OutgoingRequest {
    /// Whether the receiver accepted it.
    pub fn succeeded(&self) -> bool {
        self.error.is_none()
    }
}

/// A bounded list of requests. Holders of its lock take no other.
#[derive(Debug)]
pub(crate) struct Log {
    capacity: usize,
    latest: Mutex<Latest>,
    /// Requests by kind and status.
    counts: Counters<2>,
}

#[derive(Debug, Default)]
struct Latest {
    requests: VecDeque<Arc<OutgoingRequest>>,
    /// The number of the last request.
    last: u64,
}

impl Log {
    /// A log of at most `capacity` requests; with 0 it records nothing.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, latest: Mutex::default(), counts: Counters::new(["kind", "status"]) }
    }

    /// Adds a request, and removes the oldest one over the limit.
    pub(crate) fn record(&self, mut request: OutgoingRequest) {
        let status = request.status.map_or_else(|| NO_STATUS.into(), |status| status.to_string().into());
        self.counts.count([request.kind.as_str().into(), status]);
        for text in [&mut request.error, &mut request.follows].into_iter().flatten() {
            if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
                text.truncate(end);
            }
        }
        let mut latest = self.latest.lock();
        latest.last += 1;
        request.number = latest.last;
        latest.requests.push_back(Arc::new(request));
        if latest.requests.len() > self.capacity {
            latest.requests.pop_front();
        }
    }

    /// The latest requests, oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<OutgoingRequest>> {
        self.latest.lock().requests.iter().map(Arc::clone).collect()
    }

    /// Writes the metrics.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        let name = "sqs_mock_outgoing_requests_total";
        text.family(name, Kind::Counter, "Requests to web hooks and functions by kind and status.");
        self.counts.write(text, name);
    }

    /// The number of the last request.
    pub(crate) fn last(&self) -> u64 {
        self.latest.lock().last
    }

    /// Removes all requests.
    pub(crate) fn clear(&self) {
        self.latest.lock().requests.clear();
    }
}
