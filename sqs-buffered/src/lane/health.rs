//! The back-off of a lane as a whole.
//!
//! While a queue is throttled or down, every batch would fail: the lane sends one at a time, with growing pauses, until one
//! succeeds. Retries of single entries pause by themselves.

use tokio::time::Instant;

use super::answer::{Answer, EntryAnswer};
use super::rules::RetryRules;
use crate::time::after;

/// Whether recent batches succeeded.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Batches that have failed as a whole since the last one that did not.
    failures: u32,
    /// When the next batch may go.
    until: Option<Instant>,
}

impl Health {
    /// Takes the answer to a batch into account. `chance` is from 0 to 1.
    pub(super) fn note<R>(&mut self, now: Instant, answer: &Answer<R>, retry: &RetryRules, chance: f64) {
        let is_throttle = match answer {
            Answer::Failed(failure) if failure.is_retryable => failure.is_throttle,
            Answer::Entries(answers) if !answers.is_empty() && answers.iter().all(is_throttled) => true,
            Answer::Entries(_) => return *self = Self::default(),
            // They say something about the entries, not about the queue.
            Answer::Failed(_) | Answer::Blamed(..) | Answer::TooLong(_) => return,
        };
        self.failures = self.failures.saturating_add(1);
        // A single failure without throttling may be that of one connection.
        if is_throttle || self.failures > 1 {
            let pause = retry.pause(self.failures, is_throttle, chance).min(retry.max_lane_pause);
            self.until = Some(after(now, pause));
        }
    }

    /// Whether the lane may have only one batch in flight.
    pub(super) fn is_poor(&self) -> bool {
        self.until.is_some()
    }

    /// The end of the pause, if there is one.
    pub(super) fn pause(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| now < *until)
    }
}

fn is_throttled<R>(answer: &EntryAnswer<R>) -> bool {
    matches!(answer, EntryAnswer::Refused(refusal) if refusal.is_throttle())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::{SendError, SendErrorKind};
    use crate::lane::Failure;

    const RULES: RetryRules = RetryRules {
        attempts: u32::MAX,
        first_pause: Duration::from_millis(50),
        max_pause: Duration::from_secs(5),
        max_lane_pause: Duration::from_secs(1),
    };

    fn failed(is_throttle: bool) -> Answer<()> {
        let error = SendError::new(SendErrorKind::Request);
        Answer::Failed(Failure { error, is_retryable: true, is_throttle, is_outcome_unknown: false })
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_with_each_failed_batch_and_end_with_one_that_succeeds() {
        let (now, mut health) = (Instant::now(), Health::default());
        let mut pause = |answer: Answer<()>| {
            health.note(now, &answer, &RULES, 1.0);
            health.pause(now).map(|until| until.duration_since(now).as_millis())
        };
        let pauses: Vec<_> = (0..8).map(|_| pause(failed(false))).collect();
        let expected = [None, Some(100), Some(200), Some(400), Some(800), Some(1000), Some(1000), Some(1000)];
        assert_eq!(pauses, expected);
        assert_eq!(pause(Answer::Entries(vec![EntryAnswer::Unaccounted])), None);
        assert_eq!(pause(failed(true)), Some(1000), "throttling counts at once");
        assert!(health.is_poor());
    }
}
