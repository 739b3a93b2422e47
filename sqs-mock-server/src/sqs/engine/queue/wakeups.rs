//! Wakeups of parked receives.

use super::Queue;
use crate::service::clock::Timestamp;

/// Which parked receives to wake after an operation on a queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Wakeups {
    /// Number of receives that can return messages now: wake this many.
    pub receivable: usize,
    /// A message can become receivable at this time, earlier than all parked receives know: wake one of them to wait
    /// for it.
    pub sooner: Option<Timestamp>,
}

impl Queue {
    /// The wakeups since the last call.
    pub(crate) fn take_wakeups(&mut self) -> Wakeups {
        let wake_at = self.wake_at();
        let sooner = wake_at.filter(|at| self.announced.is_none_or(|announced| *at < announced));
        self.announced = wake_at;
        let receivable = self.store.take_receivable().max(self.take_new_room());
        Wakeups { receivable, sooner }
    }

    /// Number of messages that became receivable because the number in flight fell below its limit, after a receive
    /// that reached the limit. The store counts them as receivable all the time.
    fn take_new_room(&mut self) -> usize {
        if !self.lacked_room || self.room() == 0 {
            return 0;
        }
        self.lacked_room = false;
        self.room().min(self.store.counts().available)
    }

    /// The next time at which a message can become receivable without a request.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        // The expiry of a hidden message unlocks its FIFO group and lowers the number of messages in flight.
        let hidden = self.store.next_return()?;
        let expiry = self.store.oldest().map(|born| born + self.attributes.retention);
        Some(expiry.map_or(hidden, |expiry| expiry.min(hidden)))
    }
}
