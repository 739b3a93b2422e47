//! The statistics of receivers and consumers.

use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{Event, Settled};
use crate::consume::outcome::Outcome;

/// Declares each counter once, for [`Tally`] and [`ReceiveStats`].
macro_rules! counters {
    ($( $(#[$meta:meta])* $name:ident, )*) => {
        /// The totals of a receiver or consumer since its start.
        ///
        /// Each delivery ends in one way. While nothing is being settled, `received` is the sum of `held`, `acked`, `nacked`,
        /// `released`, `kept`, `dead_lettered`, `discarded`, `returned`, `deleting`, `leases_lost` and `unsettled`.
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        #[non_exhaustive]
        pub struct ReceiveStats {
            $( $(#[$meta])* pub $name: u64, )*
            /// Messages that are held now and not settled.
            pub held: usize,
            /// Receives that run now.
            pub receiving: usize,
        }

        /// The counters behind [`ReceiveStats`].
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
    /// Completed receives.
    receives,
    /// Completed receives without messages.
    empty_receives,
    /// Failed attempts to receive.
    receive_errors,
    /// Receives that a shutdown cancelled, or whose responses were lost before it. Messages in them stay hidden until their
    /// visibility timeout is over.
    receives_abandoned,
    /// Deliveries. Repeated deliveries of a message count each time.
    received,
    /// Deliveries with a wrong checksum. They were made visible again.
    damaged,
    /// Deliveries of messages that could not be opened, and were not handled.
    unopened,
    /// Deliveries of messages that were already held. They share the end of the first delivery.
    duplicates,
    /// Messages whose handlers were started.
    started,
    /// Handlers that returned an error.
    failed,
    /// Handlers that panicked.
    panicked,
    /// Handlers that a shutdown stopped because its grace was over.
    aborted,
    /// Handlers that returned [`Retry`](crate::Outcome::Retry) and run again.
    retried,
    /// Handlers that returned [`Overloaded`](crate::Outcome::Overloaded) and run again.
    overloaded,
    /// Messages deleted after success.
    acked,
    /// Messages made visible after a delay: by their outcome, or because their handler failed.
    nacked,
    /// Messages made visible at once, by their outcome.
    released,
    /// Messages left hidden, by their outcome.
    kept,
    /// Messages sent to the dead-letter queue and deleted.
    dead_lettered,
    /// Messages deleted without an outcome, because their payloads are missing.
    discarded,
    /// Messages made visible again without an outcome: not started, not opened, stopped, dropped, or not deleted.
    returned,
    /// Messages whose deletes were under way when their run or receiver ended. The client completes them in the background;
    /// [`close`](crate::BufferedClient::close) waits for them.
    deleting,
    /// Lost leases.
    leases_lost,
    /// Failed renewals. They are retried.
    renewal_failures,
    /// Messages that could not be made visible again. They become visible when their visibility timeout is over.
    unsettled,
    /// Deletes and visibility changes that failed for good, except by a lost lease.
    settle_errors,
    /// Messages that could not be sent to the dead-letter queue.
    dead_letter_errors,
}

impl Tally {
    /// Counts an event.
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
            Event::Handled { outcome: Some(Outcome::Retry(_)), .. } => &self.retried,
            Event::Handled { outcome: Some(Outcome::Overloaded), .. } => &self.overloaded,
            Event::Handled { .. } => return,
            Event::Settled { how, .. } => self.of(*how),
            Event::ReceiveFailed { .. } => &self.receive_errors,
            Event::Damaged { .. } => &self.damaged,
            Event::Unopened { .. } => &self.unopened,
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
            Settled::Discarded => &self.discarded,
            Settled::Returned => &self.returned,
        }
    }
}

/// A monotonic counter.
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
