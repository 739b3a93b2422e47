//! What parked receives have to be told.

use super::Queue;
use crate::service::clock::Timestamp;

/// What parked receives should know after something was done to a queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Wakeups {
    /// That many more receives can get something now: wake as many.
    pub receivable: usize,
    /// There may be something at this moment, earlier than any that a parked receive was told: one of them has
    /// to wait for it instead.
    pub sooner: Option<Timestamp>,
}

impl Queue {
    /// What parked receives should know about all that was done since this was last asked.
    pub(crate) fn take_wakeups(&mut self) -> Wakeups {
        let wake_at = self.wake_at();
        let sooner = wake_at.filter(|at| self.announced.is_none_or(|announced| *at < announced));
        self.announced = wake_at;
        let receivable = self.store.take_receivable().max(self.take_new_room());
        Wakeups { receivable, sooner }
    }

    /// How many messages can be received because others are not in flight any more, after a receive that found no
    /// room. For a store these were receivable all the time.
    fn take_new_room(&mut self) -> usize {
        if !self.lacked_room || self.room() == 0 {
            return 0;
        }
        self.lacked_room = false;
        self.room().min(self.store.counts().available)
    }

    /// The next moment at which something can become receivable by itself.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        // What is hidden or in flight can make room by getting too old: a FIFO group goes on behind it, and the
        // limit of messages in flight has a place again.
        let hidden = self.store.next_return()?;
        let expiry = self.store.oldest().map(|born| born + self.attributes.retention);
        Some(expiry.map_or(hidden, |expiry| expiry.min(hidden)))
    }
}
