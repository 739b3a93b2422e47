//! The concurrency setting.

use sqs_client::wire::limits::MAX_IN_FLIGHT;

use crate::produce::BuildError;

/// How many handlers run at a time.
///
/// ```
/// use sqs_buffered::Concurrency;
///
/// let fixed: Concurrency = 32.into();
/// let adaptive = Concurrency::Adaptive { min: 2, max: 200 };
/// # let _ = (fixed, adaptive);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Concurrency {
    /// A fixed number: 1 to 120,000, the maximum number of in-flight messages of a queue.
    Fixed(usize),
    /// Between `min` and `max`, both 1 to 120,000, depending on the duration of handlers.
    ///
    /// It starts with 10, or the nearest bound. It grows while all handlers are busy and take as long as usual. It
    /// shrinks when they take more than twice as long, because something behind them is overloaded. It is halved when a
    /// handler returns [`Outcome::Overloaded`](crate::Outcome::Overloaded). If handlers take as long with half the
    /// limit, fewer of them do not help, and that duration becomes the usual one. The idea is that of the gradient
    /// limits in <https://github.com/Netflix/concurrency-limits>.
    Adaptive {
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
}

impl Default for Concurrency {
    /// `Fixed(10)`.
    fn default() -> Self {
        Self::Fixed(10)
    }
}

impl From<usize> for Concurrency {
    fn from(handlers: usize) -> Self {
        Self::Fixed(handlers)
    }
}

impl Concurrency {
    /// The maximum number of handlers that ever run at a time.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::Fixed(handlers) => handlers,
            Self::Adaptive { max, .. } => max,
        }
    }

    pub(crate) fn check(self) -> Result<(), BuildError> {
        let within = |setting, value, least| {
            if (least..=MAX_IN_FLIGHT).contains(&value) {
                return Ok(());
            }
            Err(BuildError::new(setting, value, format_args!("{least} to {MAX_IN_FLIGHT}")))
        };
        match self {
            Self::Fixed(handlers) => within("concurrency", handlers, 1),
            Self::Adaptive { min, max } => {
                within("concurrency (min)", min, 1)?;
                within("concurrency (max)", max, min)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_concurrency_is_named_with_what_is_allowed() {
        let error = |concurrency: Concurrency| concurrency.check().expect_err("invalid").to_string();
        assert_eq!(error(0.into()), "concurrency is 0, allowed is 1 to 120000");
        assert_eq!(error(120_001.into()), "concurrency is 120001, allowed is 1 to 120000");
        assert_eq!(
            error(Concurrency::Adaptive { min: 0, max: 9 }),
            "concurrency (min) is 0, allowed is 1 to 120000"
        );
        assert_eq!(
            error(Concurrency::Adaptive { min: 9, max: 8 }),
            "concurrency (max) is 8, allowed is 9 to 120000"
        );
        assert_eq!(Concurrency::default().check(), Ok(()));
        assert_eq!(Concurrency::Adaptive { min: 3, max: 3 }.check(), Ok(()));
    }
}
