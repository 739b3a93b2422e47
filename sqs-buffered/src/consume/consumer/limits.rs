//! How many messages a consumer takes.

use sqs_client::wire::limits::MAX_IN_FLIGHT;

use crate::consume::receive::{ReceiveError, ReceiveErrorKind};

/// How many handlers run at a time, and how many messages more may be here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) concurrency: usize,
    pub(super) prefetch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 10, prefetch: 0 }
    }
}

impl Limits {
    /// Messages that may be here or asked for.
    pub(super) fn credits(self) -> usize {
        self.concurrency.saturating_add(self.prefetch)
    }

    /// Refuses what cannot work, and says what can.
    pub(super) fn check(self) -> Result<(), ReceiveError> {
        let Self { concurrency, prefetch } = self;
        let refuse = |text: String| Err(ReceiveError::new(ReceiveErrorKind::Invalid, text));
        if concurrency == 0 {
            return refuse("concurrency must be at least 1: with 0 no message would ever be handled".into());
        }
        if self.credits() > MAX_IN_FLIGHT {
            return refuse(format!(
                "concurrency ({concurrency}) and prefetch ({prefetch}) must be at most {MAX_IN_FLIGHT} together: a \
                 queue has no more messages in flight"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_refused_with_the_reason() {
        let refusal = |concurrency, prefetch| {
            Limits { concurrency, prefetch }.check().expect_err("it cannot work").to_string()
        };
        assert!(refusal(0, 10).contains("concurrency must be at least 1"));
        assert!(refusal(10, 120_000).contains("at most 120000 together"));
        assert!(refusal(usize::MAX, 1).contains("at most 120000 together"));
        assert!(Limits::default().check().is_ok());
    }
}
