//! The settings that receivers and consumers have in common.

use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::wire::limits::{VISIBILITY_TIMEOUT_SECONDS, WAIT_TIME_SECONDS};

use crate::error::BuildError;
use crate::receive::back_off::BackOff;

/// How long a lease is renewed by default.
const MAX_LEASE: Duration = Duration::from_secs(3_600);

/// SQS hides no message for longer after its receive.
const LONGEST_LEASE: Duration = Duration::from_hours(12);

/// How long an attempt to receive may take in addition to its wait time.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a receive waits for more free places by default.
const POLL_DELAY: Duration = Duration::from_millis(500);

/// The longest poll delay: if a handler hangs, ten places may never be free together.
const MAX_POLL_DELAY: Duration = Duration::from_secs(60);

/// The setters that receivers and consumers have in common, for builders with `settings`. Takes the field of the hook.
macro_rules! receive_setters {
    ($($hook:ident).+) => {
        /// Sets how long a receive and each renewal hide a message: 1 second to 12 hours, whole seconds. By default, the
        /// visibility timeout of the queue, which is read once. It need not be as long as the work takes, because leases are
        /// renewed. It is how long a message stays hidden if the process dies.
        pub fn visibility_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.settings.visibility_timeout = Some(timeout);
            self
        }

        /// Sets how long a receive waits for messages: 0 to 20 whole seconds, 20 by default. With zero (short polls), one
        /// receive runs at a time while the queue is empty, with pauses of up to 2 seconds. A shutdown waits for running
        /// receives.
        pub fn wait_time(mut self, wait: std::time::Duration) -> Self {
            self.settings.wait_time = wait;
            self
        }

        /// Sets how long an attempt to receive may take in addition to its [wait time](Self::wait_time): more than zero, 10
        /// seconds by default. Then it is retried, whatever the timeouts of the client below are: if a connection dies
        /// silently, a client without timeouts would wait for ever.
        pub fn attempt_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.settings.attempt_timeout = timeout;
            self
        }

        /// Sets how long free places wait for more free places before a receive starts: 0 to 60 seconds, 500 ms by default.
        /// A receive starts when ten places are free (or all, if there are fewer), or when one has been free for a fifth of
        /// the mean time of a message, at most this long. Longer delays save requests. With zero, each free place starts
        /// a receive.
        pub fn max_poll_delay(mut self, delay: std::time::Duration) -> Self {
            self.settings.max_poll_delay = delay;
            self
        }

        /// Sets how long a lease is renewed, from the receive: an hour by default, at most 12 hours. Then the lease is lost.
        pub fn max_lease(mut self, longest: std::time::Duration) -> Self {
            self.settings.max_lease = longest;
            self
        }

        /// Renews leases on a thread of their own, with this client. So leases live on while handlers block all threads of their
        /// runtime, for example by computing. All visibility changes go through it.
        ///
        /// Create another client for it, not a clone: clones share connections, which belong to the blocked runtime. Receives and
        /// deletes stay on that runtime, so a response that waits there for longer than the visibility timeout is too late. Each
        /// consumer or receiver has its own thread, with the settings of its buffered client but without its event hook.
        ///
        /// By default, leases are renewed on the runtime of the handlers, and a warning is logged if that runtime is blocked.
        pub fn renewal_thread(mut self, client: H) -> Self {
            self.renewals = Some(client);
            self
        }

        /// Sets a hook that gets each [event](crate::observe::receives::ReceiveEvent). It must not block. A panic in it is logged.
        pub fn on_event(mut self, hook: impl Fn(&$crate::ReceiveEvent<'_>) + Send + Sync + 'static) -> Self {
            self.$($hook).+ = Some(std::sync::Arc::new(hook));
            self
        }
    };
}

pub(crate) use receive_setters;

/// The settings that receivers and consumers have in common.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) visibility_timeout: Option<Duration>,
    pub(crate) wait_time: Duration,
    pub(crate) max_poll_delay: Duration,
    pub(crate) max_lease: Duration,
    pub(crate) back_off: BackOff,
    pub(crate) attempt_timeout: Duration,
    pub(crate) cancels_receives: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            visibility_timeout: None,
            wait_time: Duration::from_secs(u64::try_from(*WAIT_TIME_SECONDS.end()).unwrap_or_default()),
            max_poll_delay: POLL_DELAY,
            max_lease: MAX_LEASE,
            back_off: BackOff::default(),
            attempt_timeout: RECEIVE_TIMEOUT,
            cancels_receives: false,
        }
    }
}

impl Settings {
    /// Checks the ranges of all settings, and the queue URL.
    pub(crate) fn check(&self, queue_url: &str) -> Result<(), BuildError> {
        if let Err(refusal) = sqs_client::wire::validate::error::require_queue_url(Some(queue_url)) {
            let allowed = refusal.message.unwrap_or_else(|| "a queue URL".into());
            return Err(BuildError::new("queue_url", format_args!("{queue_url:?}"), allowed));
        }
        self.visibility_seconds()?;
        whole_seconds_within("wait_time", self.wait_time, &WAIT_TIME_SECONDS)?;
        if self.max_poll_delay > MAX_POLL_DELAY {
            let (delay, allowed) = (self.max_poll_delay, format!("0 to {MAX_POLL_DELAY:?}"));
            return Err(BuildError::new("max_poll_delay", format_args!("{delay:?}"), allowed));
        }
        if self.attempt_timeout.is_zero() {
            return Err(BuildError::new("attempt_timeout", "zero", "more than zero"));
        }
        if self.max_lease.is_zero() || self.max_lease > LONGEST_LEASE {
            let lease = self.max_lease;
            return Err(BuildError::new(
                "max_lease",
                format_args!("{lease:?}"),
                "more than zero, up to 12 hours",
            ));
        }
        Ok(())
    }

    /// The visibility timeout that the user set, in seconds.
    pub(crate) fn visibility_seconds(&self) -> Result<Option<u32>, BuildError> {
        let range = 1..=*VISIBILITY_TIMEOUT_SECONDS.end();
        self.visibility_timeout
            .map(|timeout| whole_seconds_within("visibility_timeout", timeout, &range))
            .transpose()
    }
}

fn whole_seconds_within(
    setting: &'static str,
    value: Duration,
    range: &RangeInclusive<i32>,
) -> Result<u32, BuildError> {
    let seconds = i32::try_from(value.as_secs()).ok().filter(|_| value.subsec_nanos() == 0);
    let seconds = seconds.filter(|seconds| range.contains(seconds));
    seconds.and_then(|seconds| u32::try_from(seconds).ok()).ok_or_else(|| {
        let allowed = format!("{} to {} whole seconds", range.start(), range.end());
        BuildError::new(setting, format_args!("{value:?}"), allowed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_setting_is_named_with_its_value_and_what_is_allowed() {
        type Change = fn(&mut Settings);
        let table: [(Change, &str); 8] = [
            (
                |settings| settings.attempt_timeout = Duration::ZERO,
                "attempt_timeout is zero, allowed is more than zero",
            ),
            (
                |settings| settings.visibility_timeout = Some(Duration::ZERO),
                "visibility_timeout is 0ns, allowed is 1 to 43200 whole seconds",
            ),
            (
                |settings| settings.visibility_timeout = Some(Duration::from_millis(1_500)),
                "visibility_timeout is 1.5s, allowed is 1 to 43200 whole seconds",
            ),
            (
                |settings| settings.visibility_timeout = Some(Duration::from_secs(43_201)),
                "visibility_timeout is 43201s, allowed is 1 to 43200 whole seconds",
            ),
            (
                |settings| settings.wait_time = Duration::from_secs(21),
                "wait_time is 21s, allowed is 0 to 20 whole seconds",
            ),
            (
                |settings| settings.max_poll_delay = Duration::from_secs(61),
                "max_poll_delay is 61s, allowed is 0 to 60s",
            ),
            (
                |settings| settings.max_lease = Duration::ZERO,
                "max_lease is 0ns, allowed is more than zero, up to 12 hours",
            ),
            (
                |settings| settings.max_lease = Duration::from_hours(13),
                "max_lease is 46800s, allowed is more than zero, up to 12 hours",
            ),
        ];
        for (change, text) in table {
            let mut settings = Settings::default();
            settings.check("http://h/0/q").expect("the defaults are valid");
            change(&mut settings);
            assert_eq!(settings.check("http://h/0/q").expect_err(text).to_string(), text);
        }
        let error = Settings::default().check("").expect_err("an empty URL").to_string();
        assert!(error.starts_with("queue_url is \"\""), "{error}");
    }
}
