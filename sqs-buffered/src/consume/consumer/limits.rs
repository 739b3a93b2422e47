//! The limits of a consumer: handlers, messages, rate.

use std::time::Duration;

use sqs_client::wire::limits::MAX_IN_FLIGHT;

use crate::consume::pool::{Concurrency, HandlerPool, RateLimit};
use crate::produce::BuildError;

/// AWS Lambda has the same limits.
const MAX_BATCH_SIZE: usize = 10_000;
const MAX_BATCH_WINDOW: Duration = Duration::from_secs(300);
const MAX_WEIGHT: u32 = 1_000;

/// Limits of running handlers, messages per handler, messages in addition to those, and starts per second.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) handlers: Handlers,
    pub(super) prefetch: usize,
    /// 1 without a batch handler.
    pub(super) batch_size: usize,
    /// How long the first message of a batch waits for others.
    pub(super) batch_window: Duration,
    pub(super) per_second: Option<f64>,
}

/// The bound on running handlers.
#[derive(Clone, Debug)]
pub(super) enum Handlers {
    Own(Concurrency),
    /// A pool, in which the consumer has this weight.
    Shared(HandlerPool, u32),
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handlers: Handlers::Own(Concurrency::default()),
            prefetch: 0,
            batch_size: 10,
            batch_window: Duration::from_millis(100),
            per_second: None,
        }
    }
}

impl Limits {
    pub(super) fn check(&self) -> Result<(), BuildError> {
        if !(1..=MAX_BATCH_SIZE).contains(&self.batch_size) {
            return Err(BuildError::new("batch_size", self.batch_size, format!("1 to {MAX_BATCH_SIZE}")));
        }
        if self.batch_window > MAX_BATCH_WINDOW {
            let window = format!("{:?}", self.batch_window);
            return Err(BuildError::new("batch_window", window, format!("at most {MAX_BATCH_WINDOW:?}")));
        }
        match self.handlers {
            Handlers::Own(concurrency) => self.check_concurrency(concurrency)?,
            Handlers::Shared(_, weight) if !(1..=MAX_WEIGHT).contains(&weight) => {
                return Err(BuildError::new("pool (weight)", weight, format!("1 to {MAX_WEIGHT}")));
            }
            Handlers::Shared(..) => self.check_together(1)?,
        }
        self.per_second.map(RateLimit::new).transpose().map(drop)
    }

    /// Checks whether this many handlers may run.
    pub(super) fn check_concurrency(&self, concurrency: Concurrency) -> Result<(), BuildError> {
        concurrency.check()?;
        self.check_together(concurrency.max())
    }

    fn check_together(&self, handlers: usize) -> Result<(), BuildError> {
        let running = handlers.saturating_mul(self.batch_size);
        if running > MAX_IN_FLIGHT {
            let allowed = format!("at most {MAX_IN_FLIGHT} divided by concurrency");
            return Err(BuildError::new("batch_size", self.batch_size, allowed));
        }
        if self.prefetch > MAX_IN_FLIGHT - running {
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
        let own = |handlers: usize| Handlers::Own(handlers.into());
        let pool = |weight| Handlers::Shared(HandlerPool::unchecked(5.into()), weight);
        let limits = || Limits { batch_size: 1, ..Limits::default() };
        let adaptive = Handlers::Own(Concurrency::Adaptive { min: 0, max: 10 });
        let table = [
            (Limits { handlers: own(0), ..limits() }, "concurrency is 0, allowed is 1 to 120000"),
            (Limits { handlers: own(120_001), ..limits() }, "concurrency is 120001, allowed is 1 to 120000"),
            (Limits { handlers: adaptive, ..limits() }, "concurrency (min) is 0, allowed is 1 to 120000"),
            (Limits { handlers: pool(0), ..limits() }, "pool (weight) is 0, allowed is 1 to 1000"),
            (Limits { handlers: pool(1_001), ..limits() }, "pool (weight) is 1001, allowed is 1 to 1000"),
            (
                Limits { prefetch: 119_991, ..limits() },
                "prefetch is 119991, allowed is at most 120000 together with concurrency",
            ),
            (
                Limits { handlers: pool(1), prefetch: usize::MAX, ..limits() },
                "prefetch is 18446744073709551615, allowed is at most 120000 together with concurrency",
            ),
            (Limits { batch_size: 10_001, ..limits() }, "batch_size is 10001, allowed is 1 to 10000"),
            (
                Limits { handlers: own(13), batch_size: 10_000, ..limits() },
                "batch_size is 10000, allowed is at most 120000 divided by concurrency",
            ),
            (
                Limits { per_second: Some(0.0), ..limits() },
                "rate_limit is 0, allowed is 0.001 to 1000000 messages per second",
            ),
        ];
        for (limits, text) in table {
            assert_eq!(limits.check().expect_err(text).to_string(), text);
        }
        assert!(Limits::default().check().is_ok());
    }
}
