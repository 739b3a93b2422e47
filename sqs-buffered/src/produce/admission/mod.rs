//! Capacity for entries and bytes, shared by the lanes of a client.
//!
//! ```text
//! enqueue -> Share of a lane, first come, first served -> Permit, inside the entry -> returned when the entry has ended
//! ```
//! A lane may hold up to eight times what it leaves free (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on
//! Networking 6(2), 1998), and always one entry that fits. So a queue that hangs holds at most 8/9 of the capacity, a second one 8/9
//! of the rest. Waiters hold no lock. An older waiter that only lacks free capacity goes before younger ones of other lanes, so
//! that a large entry does not starve.

mod shares;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

pub(crate) use shares::Amount;
use shares::Shares;

/// How much may be buffered or in flight at a time.
#[derive(Debug)]
pub(crate) struct Capacity {
    total: Amount,
    is_closed: AtomicBool,
    /// Locked for a few instructions.
    shares: Mutex<Shares<Waiter>>,
}

/// A waiter, and the channel for its permit.
#[derive(Debug)]
struct Waiter {
    share: Arc<Share>,
    granted: oneshot::Sender<Permit>,
}

/// The share of one lane.
#[derive(Debug)]
pub(crate) struct Share {
    capacity: Arc<Capacity>,
    lane: usize,
    waiting: AtomicUsize,
}

/// The capacity of one entry. Dropping it returns the capacity.
#[derive(Debug)]
pub(crate) struct Permit {
    /// `None` once the capacity is returned.
    share: Option<Arc<Share>>,
    bytes: usize,
}

impl Capacity {
    pub(crate) fn new(entries: usize, bytes: usize) -> Self {
        let total = Amount { entries: entries.max(1), bytes: bytes.max(1) };
        Self { total, is_closed: AtomicBool::new(false), shares: Mutex::new(Shares::new(total)) }
    }

    /// The share of a new lane.
    pub(crate) fn share(self: &Arc<Self>) -> Share {
        let lane = self.shares.lock().open();
        Share { capacity: Arc::clone(self), lane, waiting: AtomicUsize::new(0) }
    }

    /// Admits no more entries, and tells the waiters.
    pub(crate) fn close(&self) {
        let mut shares = self.shares.lock();
        self.is_closed.store(true, Ordering::Release);
        let waiters = shares.give_up_all();
        for waiter in &waiters {
            waiter.share.count_out();
        }
        drop(shares);
        drop(waiters);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// The capacity in use.
    pub(crate) fn taken(&self) -> Amount {
        self.shares.lock().taken()
    }

    /// Returns capacity, and gives it to waiters.
    fn release(&self, lane: usize, amount: Amount) {
        let mut shares = self.shares.lock();
        shares.release(lane, amount);
        grant(shares);
    }
}

/// Gives free capacity to the waiters that may have it, skipping those that were dropped.
fn grant(mut shares: MutexGuard<'_, Shares<Waiter>>) {
    let granted = shares.grant();
    for (waiter, _) in &granted {
        waiter.share.count_out();
    }
    drop(shares);
    for (Waiter { share, granted }, bytes) in granted {
        let permit = Permit { share: Some(share), bytes };
        // An error returns the permit, which is dropped here, without a lock.
        drop(granted.send(permit));
    }
}

impl Share {
    /// Capacity for an entry, if there is some now and no entry waits for it. An entry that is larger than the whole capacity
    /// takes all of it.
    pub(crate) fn try_enter(self: &Arc<Self>, bytes: usize) -> Option<Permit> {
        let bytes = bytes.min(self.capacity.total.bytes);
        let mut shares = self.capacity.shares.lock();
        let is_in = !self.capacity.is_closed() && shares.try_take(self.lane, bytes);
        drop(shares);
        is_in.then(|| Permit { share: Some(Arc::clone(self)), bytes })
    }

    /// Removes one waiter from the count. The caller holds the lock.
    fn count_out(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }

    /// Waits for capacity; `None` if the client is closed. Calls `starving` before it waits.
    ///
    /// # Cancel safety
    /// If the future is dropped, it has taken no capacity.
    pub(crate) async fn enter(self: &Arc<Self>, bytes: usize, starving: impl FnOnce()) -> Option<Permit> {
        let (granted, permit) = oneshot::channel();
        let waiting = {
            let mut shares = self.capacity.shares.lock();
            if self.capacity.is_closed() {
                return None;
            }
            let waiter = Waiter { share: Arc::clone(self), granted };
            let bytes = bytes.min(self.capacity.total.bytes);
            let arrival = shares.wait(self.lane, bytes, waiter)?;
            self.waiting.fetch_add(1, Ordering::AcqRel);
            // Capacity may have become free.
            grant(shares);
            Waiting { share: self, arrival }
        };
        if self.is_starving() {
            starving();
        }
        let permit = permit.await.ok();
        drop(waiting);
        permit
    }

    /// Whether an entry waits for capacity of this lane.
    pub(crate) fn is_starving(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }
}

impl Drop for Share {
    /// Permits and waiters keep the share alive, so it holds no capacity now.
    fn drop(&mut self) {
        self.capacity.shares.lock().close(self.lane);
    }
}

/// Drop guard: removes a waiter that is dropped.
struct Waiting<'a> {
    share: &'a Arc<Share>,
    arrival: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut shares = self.share.capacity.shares.lock();
        let Some(gone) = shares.give_up(self.share.lane, self.arrival) else { return };
        self.share.count_out();
        grant(shares);
        drop(gone);
    }
}

impl Permit {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The capacity of several entries.
    pub(crate) fn sum(permits: &[Self]) -> Amount {
        Amount { entries: permits.len(), bytes: permits.iter().map(|permit| permit.bytes).sum() }
    }

    /// Returns the capacity of several entries at once.
    pub(crate) fn release_all(permits: impl IntoIterator<Item = Self>) {
        let mut of_lane: Option<(Arc<Share>, Amount)> = None;
        for mut permit in permits {
            let Some(share) = permit.share.take() else { continue };
            let (other, sum) = of_lane.get_or_insert_with(|| (Arc::clone(&share), Amount::default()));
            if Arc::ptr_eq(other, &share) {
                sum.entries += 1;
                sum.bytes += permit.bytes;
            } else {
                permit.share = Some(share);
            }
        }
        if let Some((share, sum)) = of_lane {
            share.capacity.release(share.lane, sum);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(share) = self.share.take() {
            share.capacity.release(share.lane, Amount { entries: 1, bytes: self.bytes });
        }
    }
}
