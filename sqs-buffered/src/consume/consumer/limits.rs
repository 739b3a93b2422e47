//! How many messages a consumer takes.

use std::time::Duration;

use sqs_client::wire::limits::MAX_IN_FLIGHT;

use crate::produce::BuildError;

/// AWS Lambda has the same limits.
const MAX_BATCH_SIZE: usize = 10_000;
const MAX_BATCH_WINDOW: Duration = Duration::from_secs(300);

/// How many handlers run at a time, with how many messages each, and how many messages more may be here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) concurrency: usize,
    pub(super) prefetch: usize,
    /// 1 without a batch handler.
    pub(super) batch_size: usize,
    /// How long the first message of a batch waits for others.
    pub(super) batch_window: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 10, prefetch: 0, batch_size: 10, batch_window: Duration::from_millis(100) }
    }
}

impl Limits {
    /// Messages that may be here or asked for.
    pub(super) fn credits(self) -> usize {
        self.concurrency.saturating_mul(self.batch_size).saturating_add(self.prefetch)
    }

    pub(super) fn check(self) -> Result<(), BuildError> {
        if !(1..=MAX_IN_FLIGHT).contains(&self.concurrency) {
            let allowed = format!("1 to {MAX_IN_FLIGHT}");
            return Err(BuildError::new("concurrency", self.concurrency, allowed));
        }
        if !(1..=MAX_BATCH_SIZE).contains(&self.batch_size) {
            return Err(BuildError::new("batch_size", self.batch_size, format!("1 to {MAX_BATCH_SIZE}")));
        }
        if self.batch_window > MAX_BATCH_WINDOW {
            let window = format!("{:?}", self.batch_window);
            return Err(BuildError::new("batch_window", window, format!("at most {MAX_BATCH_WINDOW:?}")));
        }
        if self.concurrency.saturating_mul(self.batch_size) > MAX_IN_FLIGHT {
            let allowed = format!("at most {MAX_IN_FLIGHT} multiplied by concurrency");
            return Err(BuildError::new("batch_size", self.batch_size, allowed));
        }
        if self.credits() > MAX_IN_FLIGHT {
            let allowed = format!("at most {MAX_IN_FLIGHT} together with concurrency");
            return Err(BuildError::new("prefetch", self.prefetch, allowed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_limits_are_named_with_what_is_allowed() {
        let refusal = |concurrency, prefetch| {
            Limits { concurrency, prefetch, batch_size: 1, ..Limits::default() }
                .check()
                .expect_err("invalid limits")
                .to_string()
        };
        assert_eq!(refusal(0, 10), "concurrency is 0, allowed is 1 to 120000");
        assert_eq!(refusal(120_001, 0), "concurrency is 120001, allowed is 1 to 120000");
        assert_eq!(
            refusal(10, 119_991),
            "prefetch is 119991, allowed is at most 120000 together with concurrency"
        );
        assert!(refusal(1, usize::MAX).starts_with("prefetch is"));
        assert!(Limits::default().check().is_ok());
    }
}
