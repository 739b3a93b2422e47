//! Receive attempts of FIFO queues: a receive that is retried with the same attempt id returns the same messages.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use sqs_client::wire::limits;

use super::handle::Handle;
use crate::service::clock::Timestamp;

const VALIDITY: Duration = Duration::from_secs(limits::RECEIVE_ATTEMPT_SECONDS);

/// The result of a receive.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) handles: Vec<Handle>,
    /// When its messages become visible. A message that is hidden until another time was changed since.
    pub(super) hidden_until: Timestamp,
    made: Timestamp,
}

/// The attempts of the last five minutes.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    by_id: HashMap<Box<str>, Attempt>,
    in_order: VecDeque<(Timestamp, Box<str>)>,
    bytes: usize,
}

impl Attempts {
    pub(super) fn find(&mut self, now: Timestamp, id: &str) -> Option<Attempt> {
        self.forget(now);
        self.by_id.get(id).cloned()
    }

    pub(super) fn remember(
        &mut self,
        now: Timestamp,
        id: &str,
        handles: Vec<Handle>,
        hidden_until: Timestamp,
    ) {
        self.forget(now);
        self.bytes += bytes(id);
        self.by_id.insert(id.into(), Attempt { handles, hidden_until, made: now });
        self.in_order.push_back((now, id.into()));
    }

    /// Removes an attempt, so that a retry is a new receive.
    pub(super) fn drop_attempt(&mut self, id: &str) {
        self.by_id.remove(id);
    }

    /// A retry hides the messages again, but does not extend the validity of the attempt.
    pub(super) fn hidden_again(&mut self, id: &str, until: Timestamp) {
        if let Some(attempt) = self.by_id.get_mut(id) {
            attempt.hidden_until = until;
        }
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.by_id = HashMap::new();
        self.in_order = VecDeque::new();
        self.bytes = 0;
    }

    /// Removes expired attempts.
    pub(super) fn forget(&mut self, now: Timestamp) {
        while let Some((made, id)) = self.in_order.pop_front_if(|(made, _)| *made + VALIDITY <= now) {
            self.bytes -= bytes(&id);
            // A later receive may have used the same id.
            if self.by_id.get(&id).is_some_and(|attempt| attempt.made == made) {
                self.by_id.remove(&id);
            }
        }
    }
}

/// Estimated memory of an attempt: its id twice, and the maximum number of handles.
pub(super) fn bytes(id: &str) -> usize {
    let handles = usize::try_from(*limits::RECEIVE_MESSAGES.end()).unwrap_or(0) * size_of::<Handle>();
    2 * (id.len() + size_of::<Box<str>>()) + size_of::<(Attempt, Timestamp)>() + handles + 32
}
