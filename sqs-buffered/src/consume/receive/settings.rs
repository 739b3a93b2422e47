//! What can be set of receivers and consumers alike, and what cannot.

use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::wire::limits::{VISIBILITY_TIMEOUT_SECONDS, WAIT_TIME_SECONDS};

use super::error::{ReceiveError, ReceiveErrorKind};

/// The longest that a lease is renewed when nothing else is said.
const MAX_LEASE: Duration = Duration::from_secs(3_600);

/// How long a receive waits for more free places when nothing else is said.
const POLL_DELAY: Duration = Duration::from_millis(500);
/// The longest such wait that can be set: with a handler that hangs, places might never be free together.
const MAX_POLL_DELAY: Duration = Duration::from_secs(60);

/// The setters that receivers and consumers have in common, for builders with `settings` and a `hook`.
macro_rules! receive_setters {
    () => {
        /// How long messages are hidden by a receive and by each renewal: 1 second to 12 hours, whole seconds. By default
        /// what the queue says; it is asked once. It need not be as long as the work takes, as it is renewed meanwhile; it
        /// is how long a message stays away when this process ends without a word.
        pub fn visibility_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.settings.visibility_timeout = Some(timeout);
            self
        }

        /// How long SQS waits for messages before it answers a receive: 0 to 20 whole seconds, 20 by default. With zero
        /// (short polls), one receive runs at a time while the queue is empty, with pauses of up to 2 seconds. A shutdown
        /// waits for receives under way.
        pub fn wait_time(mut self, wait: std::time::Duration) -> Self {
            self.settings.wait_time = wait;
            self
        }

        /// How long a receive waits for more free places: 0 to 60 seconds, 500 ms by default. A receive begins when ten
        /// places are free (or all, if there are fewer), or when one has been free for this long. Longer delays save
        /// requests while handlers are slow; zero begins a receive for each free place.
        pub fn max_poll_delay(mut self, delay: std::time::Duration) -> Self {
            self.settings.max_poll_delay = delay;
            self
        }

        /// For how long a lease is renewed, from the receive on; an hour by default, at most 12 hours count. Then it is
        /// lost.
        pub fn max_lease(mut self, longest: std::time::Duration) -> Self {
            self.settings.max_lease = longest;
            self
        }

        /// Is called with what happens in the background. It must not block. Its panics are logged, and harm nothing.
        pub fn on_event(mut self, hook: impl Fn(&$crate::Event<'_>) + Send + Sync + 'static) -> Self {
            self.hook = Some(std::sync::Arc::new(hook));
            self
        }
    };
}

pub(crate) use receive_setters;

/// What can be set of receivers and consumers alike.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) visibility_timeout: Option<Duration>,
    pub(crate) wait_time: Duration,
    pub(crate) max_poll_delay: Duration,
    pub(crate) max_lease: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            visibility_timeout: None,
            wait_time: Duration::from_secs(u64::try_from(*WAIT_TIME_SECONDS.end()).unwrap_or_default()),
            max_poll_delay: POLL_DELAY,
            max_lease: MAX_LEASE,
        }
    }
}

impl Settings {
    /// Refuses what cannot work, and says what can.
    pub(crate) fn check(&self, queue_url: &str) -> Result<(), ReceiveError> {
        let refuse = |text: String| Err(ReceiveError::new(ReceiveErrorKind::Invalid, text));
        if let Err(refusal) = sqs_client::wire::validate::error::require_queue_url(Some(queue_url)) {
            return refuse(format!("{queue_url:?} is no queue URL: {}", refusal.message.unwrap_or_default()));
        }
        if let Some(timeout) = self.visibility_timeout {
            let range = 1..=*VISIBILITY_TIMEOUT_SECONDS.end();
            seconds("the visibility timeout", timeout, &range)?;
        }
        seconds("the wait time", self.wait_time, &WAIT_TIME_SECONDS)?;
        if self.max_poll_delay > MAX_POLL_DELAY {
            let delay = self.max_poll_delay;
            return refuse(format!("the poll delay must be 0 to {MAX_POLL_DELAY:?}, not {delay:?}"));
        }
        if self.max_lease.is_zero() {
            return refuse("the longest lease must be longer than nothing".into());
        }
        Ok(())
    }
}

/// Whole seconds within a range.
pub(crate) fn seconds(what: &str, value: Duration, range: &RangeInclusive<i32>) -> Result<u32, ReceiveError> {
    let whole = i32::try_from(value.as_secs()).ok().filter(|_| value.subsec_nanos() == 0);
    whole
        .filter(|seconds| range.contains(seconds))
        .and_then(|seconds| u32::try_from(seconds).ok())
        .ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            let text = format!("{what} must be {least} to {most} whole seconds, not {value:?}");
            ReceiveError::new(ReceiveErrorKind::Invalid, text)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_refused_with_the_reason() {
        type Change = fn(&mut Settings);
        let table: [(Change, &str); 6] = [
            (
                |settings| settings.visibility_timeout = Some(Duration::ZERO),
                "1 to 43200 whole seconds, not 0ns",
            ),
            (|settings| settings.visibility_timeout = Some(Duration::from_millis(1_500)), "not 1.5s"),
            (|settings| settings.visibility_timeout = Some(Duration::from_secs(43_201)), "not 43201s"),
            (|settings| settings.wait_time = Duration::from_secs(21), "the wait time must be 0 to 20"),
            (|settings| settings.max_poll_delay = Duration::from_secs(61), "0 to 60s, not 61s"),
            (|settings| settings.max_lease = Duration::ZERO, "longest lease"),
        ];
        for (change, reason) in table {
            let mut settings = Settings::default();
            settings.check("http://h/0/q").expect("the defaults work");
            change(&mut settings);
            let error = settings.check("http://h/0/q").expect_err(reason);
            assert_eq!(error.kind(), ReceiveErrorKind::Invalid);
            assert!(error.to_string().contains(reason), "{error}");
        }
        assert!(Settings::default().check("").is_err());
    }
}
