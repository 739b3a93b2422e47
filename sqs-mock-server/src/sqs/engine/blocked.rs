//! Names of deleted queues, which cannot be reused for 60 seconds.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::service::clock::Timestamp;

/// Maximum number of blocked names. Beyond it, the oldest become free early: a stopped clock never frees any.
const MAX_NAMES: usize = 100_000;

/// How long the name of a deleted queue is blocked.
pub(crate) const COOL_DOWN: Duration = Duration::from_secs(limits::DELETE_COOLDOWN_SECONDS);

#[derive(Debug, Default)]
pub(super) struct Blocked {
    since: HashMap<Arc<str>, Timestamp>,
    /// Oldest first. A name that was blocked twice is listed twice.
    in_order: VecDeque<(Timestamp, Arc<str>)>,
}

impl Blocked {
    /// Blocks a name for 60 seconds.
    pub(super) fn block(&mut self, now: Timestamp, name: Arc<str>) {
        self.since.insert(Arc::clone(&name), now);
        self.in_order.push_back((now, name));
        while let Some((since, name)) = self.in_order.front()
            && (*since + COOL_DOWN <= now || self.in_order.len() > MAX_NAMES)
        {
            if self.since.get(name) == Some(since) {
                self.since.remove(name);
            }
            self.in_order.pop_front();
        }
    }

    /// Ends the block of a name.
    #[cfg(feature = "durable")]
    pub(super) fn unblock(&mut self, name: &str) {
        self.since.remove(name);
    }

    /// Checks that a name is not blocked.
    ///
    /// # Errors
    /// `QueueDeletedRecently` while it is blocked.
    pub(super) fn check(&self, now: Timestamp, name: &str) -> Result<(), ServiceError> {
        if self.since.get(name).is_none_or(|since| *since + COOL_DOWN <= now) {
            return Ok(());
        }
        let text = "You must wait 60 seconds after deleting a queue before you can create another with the same name.";
        Err(ServiceError::new(ErrorCode::QueueDeletedRecently, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    #[test]
    fn number_of_names_is_bounded_while_the_clock_is_stopped() {
        let mut blocked = Blocked::default();
        for number in 0..=MAX_NAMES {
            blocked.block(START, number.to_string().into());
        }
        assert_eq!((blocked.since.len(), blocked.in_order.len()), (MAX_NAMES, MAX_NAMES));
        assert!(blocked.check(START, "0").is_ok());
        assert!(blocked.check(START, "1").is_err());
    }

    #[test]
    fn names_are_forgotten_after_sixty_seconds() {
        let mut blocked = Blocked::default();
        blocked.block(START, "a".into());
        blocked.block(START + COOL_DOWN, "b".into());
        assert_eq!((blocked.since.len(), blocked.in_order.len()), (1, 1));
    }
}
