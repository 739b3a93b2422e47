//! The back-off of a lane as a whole.
//!
//! While a queue is throttled or down, every batch would fail: the lane sends one at a time, with growing pauses, until one
//! succeeds. Retries of single entries pause by themselves.

use tokio::time::Instant;

use super::answer::{Answer, EntryAnswer};
use super::rules::RetryRules;
use crate::time::after;

/// So many batches in a row have to fail, and more than are still in flight: a share of failed requests is no outage.
const IN_A_ROW: usize = 4;

/// Whether recent batches succeeded.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Batches that have failed as a whole since the last one that did not.
    failures: usize,
    /// When the next batch may go.
    until: Option<Instant>,
}

impl Health {
    /// Takes the answer to a batch into account, beside which so many others are in flight. `chance` is from 0 to 1.
    pub(super) fn note<R>(
        &mut self,
        now: Instant,
        answer: &Answer<R>,
        others: usize,
        retry: &RetryRules,
        chance: f64,
    ) {
        let is_throttle = match answer {
            Answer::Failed(failure) if failure.is_retryable => failure.is_throttle,
            Answer::Entries(answers) if !answers.is_empty() && answers.iter().all(is_throttled) => true,
            Answer::Entries(_) => return *self = Self::default(),
            // They say something about the entries, not about the queue.
            Answer::Failed(_) | Answer::Blamed(..) | Answer::TooLong(_) => return,
        };
        self.failures = self.failures.saturating_add(1);
        if self.until.is_some() || self.failures >= IN_A_ROW.max(others + 1) {
            let attempts = u32::try_from(self.failures).unwrap_or(u32::MAX);
            let pause = retry.pause(attempts, is_throttle, chance).min(retry.max_lane_pause);
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
    use crate::produce::error::{SendError, SendErrorKind};
    use crate::produce::lane::Failure;

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
            health.note(now, &answer, 2, &RULES, 1.0);
            health.pause(now).map(|until| until.duration_since(now).as_millis())
        };
        let pauses: Vec<_> = (0..8).map(|_| pause(failed(false))).collect();
        let expected = [None, None, None, Some(400), Some(800), Some(1000), Some(1000), Some(1000)];
        assert_eq!(pauses, expected);
        assert_eq!(pause(Answer::Entries(vec![EntryAnswer::Unaccounted])), None);
        let throttled: Vec<_> = (0..5).map(|_| pause(failed(true))).collect();
        assert_eq!(throttled, [None, None, None, Some(1000), Some(1000)]);
        assert!(health.is_poor());
    }

    #[tokio::test(start_paused = true)]
    async fn more_batches_have_to_fail_than_are_in_flight() {
        let (now, mut health) = (Instant::now(), Health::default());
        for others in (0..10).rev() {
            health.note(now, &failed(true), others, &RULES, 1.0);
            assert_eq!(health.is_poor(), 10 - others > others, "{others} others are in flight");
        }
    }
}
