//! What a receiver or consumer has done, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{Event, Settled};
use crate::consume::outcome::Outcome;

/// Declares the counters once: as they count, and as they are read.
macro_rules! counters {
    ($( $(#[$meta:meta])* $name:ident, )*) => {
        /// What a receiver or a consumer has done since it was started.
        ///
        /// Each delivery ends in one way, so that `received` is the sum of `held`, `acked`, `nacked`, `released`, `kept`,
        /// `dead_lettered`, `returned`, `leases_lost` and `unsettled` once nothing is being settled.
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        #[non_exhaustive]
        pub struct ReceiveStats {
            $( $(#[$meta])* pub $name: u64, )*
            /// Messages that are here now and not settled.
            pub held: usize,
            /// Receives under way now.
            pub receiving: usize,
        }

        /// The same, while it happens.
        #[derive(Debug, Default)]
        pub(crate) struct Tally {
            $( pub(crate) $name: Count, )*
        }

        impl Tally {
            pub(crate) fn snapshot(&self, (held, receiving): (usize, usize)) -> ReceiveStats {
                ReceiveStats { $( $name: self.$name.get(), )* held, receiving }
            }
        }
    };
}

counters! {
    /// Receives that were answered.
    receives,
    /// Of these, those that brought nothing.
    empty_receives,
    /// Attempts to receive that failed.
    receive_errors,
    /// Receives that a shutdown cut off since they took too long, or whose answers were lost. Messages that they would have
    /// brought stay hidden until their visibility timeout is over.
    receives_abandoned,
    /// Deliveries, each of the same message counted.
    received,
    /// Deliveries with a wrong checksum. They were given back.
    damaged,
    /// Deliveries of messages that were here already; they went the way of the others.
    duplicates,
    /// Handlers that were started.
    started,
    /// Handlers that returned an error.
    failed,
    /// Handlers that panicked.
    panicked,
    /// Handlers that a shutdown stopped since they took too long for its grace.
    aborted,
    /// Handlers that returned [`Overloaded`](crate::Outcome::Overloaded): they run again.
    overloaded,
    /// Messages that were deleted after success.
    acked,
    /// Messages that were given back to be visible after a while, by their handler or because it failed.
    nacked,
    /// Messages that were made visible at once by their handler.
    released,
    /// Messages that were left as they are by their handler.
    kept,
    /// Messages that were brought to the dead-letter queue and deleted.
    dead_lettered,
    /// Messages that were made visible again without an outcome: not started, stopped, dropped, or not deleted.
    returned,
    /// Leases that were lost.
    leases_lost,
    /// Attempts to renew a lease that failed without its loss.
    renewal_failures,
    /// Messages that could not even be given back: they come back when their visibility timeout is over.
    unsettled,
    /// Deletes and changes of visibility that failed for good, other than by a lost lease.
    settle_errors,
    /// Messages that could not be brought to the dead-letter queue.
    dead_letter_errors,
}

impl Tally {
    /// Counts what happened.
    pub(super) fn count(&self, event: &Event<'_>) {
        let counter = match event {
            Event::Received { messages, .. } => {
                self.received.add(*messages);
                self.receives.one();
                if *messages > 0 {
                    return;
                }
                &self.empty_receives
            }
            Event::Handled { outcome: Some(Outcome::Overloaded), .. } => &self.overloaded,
            Event::Handled { .. } => return,
            Event::Settled { how, .. } => self.of(*how),
            Event::ReceiveFailed { .. } => &self.receive_errors,
            Event::Damaged { .. } => &self.damaged,
            Event::RenewalFailed { .. } => &self.renewal_failures,
            Event::LeaseLost { .. } => &self.leases_lost,
            Event::SettleFailed { .. } => &self.settle_errors,
            Event::HandlerFailed { .. } => &self.failed,
            Event::HandlerPanicked { .. } => &self.panicked,
            Event::DeadLetterFailed { .. } => &self.dead_letter_errors,
        };
        counter.one();
    }

    fn of(&self, how: Settled) -> &Count {
        match how {
            Settled::Acked => &self.acked,
            Settled::Nacked => &self.nacked,
            Settled::Released => &self.released,
            Settled::Kept => &self.kept,
            Settled::DeadLettered => &self.dead_lettered,
            Settled::Returned => &self.returned,
        }
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
