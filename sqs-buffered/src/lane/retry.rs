//! The back-off of a lane as a whole.
//!
//! While a queue is down or throttles every request, the lane sends one batch at a time, with growing pauses, until one
//! succeeds. Retries of single entries have their own pauses.

use tokio::time::Instant;

use crate::lane::queue::Answer;
use crate::settings::RetryRules;
use crate::time::after;

/// An outage needs this many failed batches in a row, and more than are still in flight: a few failed requests are no
/// outage.
const IN_A_ROW: usize = 4;

/// Whether recent batches succeeded.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Batches that have failed as a whole since the last one that did not.
    failures: usize,
    /// Pauses since then.
    pauses: u32,
    /// When the next batch may go.
    until: Option<Instant>,
}

impl Health {
    /// Notes the result of a batch; `others` are still in flight. `chance` is from 0 to 1.
    pub(crate) fn note<R>(
        &mut self,
        now: Instant,
        answer: &Answer<R>,
        others: usize,
        retry: &RetryRules,
        chance: f64,
    ) {
        match answer {
            Answer::Failed(error) if error.is_transient() => {}
            Answer::Entries(_) if answer.is_throttle() || answer.is_outage() => {}
            Answer::Entries(_) => return *self = Self::default(),
            // These failures are about the entries, not about the queue.
            Answer::Failed(_) | Answer::TooLong(_) => return,
        }
        self.failures = self.failures.saturating_add(1);
        if self.is_poor() || self.failures >= IN_A_ROW.max(others + 1) {
            self.pauses = self.pauses.saturating_add(1);
            let pause = retry.pause(self.pauses, false, chance).min(retry.max_lane_pause);
            self.until = Some(after(now, pause));
        }
    }

    /// Whether the lane may have only one batch in flight.
    pub(crate) fn is_poor(&self) -> bool {
        self.until.is_some()
    }

    /// The end of the pause, if there is one.
    pub(crate) fn pause(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::{SendError, SendErrorKind};

    const RULES: RetryRules = RetryRules {
        attempts: u32::MAX,
        first_pause: Duration::from_millis(50),
        max_pause: Duration::from_secs(5),
        max_lane_pause: Duration::from_secs(1),
    };

    fn failed() -> Answer<()> {
        Answer::Failed(SendError::new(SendErrorKind::Request).of_entry(true, true))
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_with_each_failed_batch_and_end_with_one_that_succeeds() {
        let (now, mut health) = (Instant::now(), Health::default());
        let mut pause = |answer: Answer<()>| {
            health.note(now, &answer, 2, &RULES, 1.0);
            health.pause(now).map(|until| until.duration_since(now).as_millis())
        };
        let pauses: Vec<_> = (0..10).map(|_| pause(failed())).collect();
        let growing = [50, 100, 200, 400, 800, 1000, 1000].map(Some);
        assert_eq!(pauses, [[None; 3].as_slice(), &growing].concat());
        assert_eq!(pause(Answer::Entries(vec![Ok(())])), None);
        assert_eq!(pause(failed()), None);
    }

    #[tokio::test(start_paused = true)]
    async fn more_batches_have_to_fail_than_are_in_flight() {
        let (now, mut health) = (Instant::now(), Health::default());
        for others in (0..10).rev() {
            health.note(now, &failed(), others, &RULES, 1.0);
            assert_eq!(health.is_poor(), 10 - others > others, "{others} others are in flight");
        }
    }
}
