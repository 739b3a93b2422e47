//! Names of deleted queues, which nobody can use for a minute.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::service::clock::Timestamp;

/// How many names are blocked at most; then the oldest are free early. A clock that stands still frees none.
const MOST: usize = 100_000;

const COOL_DOWN: Duration = Duration::from_secs(limits::DELETE_COOLDOWN_SECONDS);

/// The names that are blocked.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    since: HashMap<Arc<str>, Timestamp>,
    /// The oldest first. A name that was blocked twice is in it twice.
    in_order: VecDeque<(Timestamp, Arc<str>)>,
}

impl Blocked {
    /// Blocks a name from now on.
    pub(super) fn block(&mut self, now: Timestamp, name: Arc<str>) {
        self.since.insert(Arc::clone(&name), now);
        self.in_order.push_back((now, name));
        while let Some((since, name)) = self.in_order.front()
            && (*since + COOL_DOWN <= now || self.in_order.len() > MOST)
        {
            if self.since.get(name) == Some(since) {
                self.since.remove(name);
            }
            self.in_order.pop_front();
        }
    }

    /// Checks that a name is free.
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
    fn number_of_names_is_bounded_while_the_clock_stands_still() {
        let mut blocked = Blocked::default();
        for number in 0..=MOST {
            blocked.block(START, number.to_string().into());
        }
        assert_eq!((blocked.since.len(), blocked.in_order.len()), (MOST, MOST));
        assert!(blocked.check(START, "0").is_ok());
        assert!(blocked.check(START, "1").is_err());
    }

    #[test]
    fn names_whose_minute_is_over_are_forgotten() {
        let mut blocked = Blocked::default();
        blocked.block(START, "a".into());
        blocked.block(START + COOL_DOWN, "b".into());
        assert_eq!((blocked.since.len(), blocked.in_order.len()), (1, 1));
    }
}
