//! Capacity for entries and bytes, shared by the lanes of a client.
//!
//! ```text
//! enqueue -> Share of a lane, first come, first served -> Permit, inside the entry -> returned when the entry has ended
//! ```
//! A lane may hold up to eight times what it leaves free (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on
//! Networking 6(2), 1998), and always one entry that fits. So a queue that hangs holds at most 8/9 of the capacity, a second one 8/9
//! of the rest. Waiters hold no lock. An older waiter that only lacks free capacity goes before younger ones of other lanes, so
//! that a large entry does not starve.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use slab::Slab;
use tokio::sync::oneshot;

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

/// A lane may hold this many times the free capacity.
const FACTOR: usize = 8;

/// An amount of entries and bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Amount {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

/// The capacity of all lanes, and their waiters.
#[derive(Debug)]
pub(crate) struct Shares<W> {
    total: Amount,
    free: Amount,
    lanes: Slab<Lane<W>>,
    arrivals: u64,
    /// Waiters of all lanes.
    waiting: usize,
    /// The bytes that the first waiter of a lane that may take more needs. They are not free yet.
    reserved: Option<usize>,
}

/// The capacity that one lane holds, and its waiters.
#[derive(Debug)]
struct Lane<W> {
    held: Amount,
    /// The bytes of these that it took while they were reserved for a waiter of another lane.
    borrowed: usize,
    waiters: VecDeque<Queued<W>>,
}

#[derive(Debug)]
struct Queued<W> {
    arrival: u64,
    bytes: usize,
    ticket: W,
}

impl<W> Shares<W> {
    pub(crate) fn new(total: Amount) -> Self {
        Self { total, free: total, lanes: Slab::new(), arrivals: 0, waiting: 0, reserved: None }
    }

    /// A new lane.
    pub(crate) fn open(&mut self) -> usize {
        self.lanes.insert(Lane { held: Amount::default(), borrowed: 0, waiters: VecDeque::new() })
    }

    /// Forgets a lane that holds nothing.
    pub(crate) fn close(&mut self, lane: usize) {
        self.lanes.try_remove(lane);
    }

    pub(crate) fn taken(&self) -> Amount {
        Amount { entries: self.total.entries - self.free.entries, bytes: self.total.bytes - self.free.bytes }
    }

    /// Takes capacity, if the lane may have it now and no entry waits for it.
    fn try_take(&mut self, lane: usize, bytes: usize) -> bool {
        let may_take = self.lanes.get(lane).is_some_and(|lane| lane.waiters.is_empty())
            && self.is_within_share(lane, bytes)
            && self.fits(bytes)
            && self.may_borrow(bytes);
        if may_take {
            self.take(lane, bytes);
        }
        may_take
    }

    /// Adds a waiter. Returns the number of its arrival.
    fn wait(&mut self, lane: usize, bytes: usize, waiter: W) -> Option<u64> {
        let waiters = &mut self.lanes.get_mut(lane)?.waiters;
        self.arrivals += 1;
        waiters.push_back(Queued { arrival: self.arrivals, bytes, ticket: waiter });
        self.waiting += 1;
        Some(self.arrivals)
    }

    /// Removes a dropped waiter, unless it was granted capacity before.
    fn give_up(&mut self, lane: usize, arrival: u64) -> Option<W> {
        let waiters = &mut self.lanes.get_mut(lane)?.waiters;
        let index = waiters.binary_search_by_key(&arrival, |waiter| waiter.arrival).ok()?;
        self.waiting -= 1;
        waiters.remove(index).map(|gone| gone.ticket)
    }

    /// Removes all waiters.
    fn give_up_all(&mut self) -> Vec<W> {
        self.waiting = 0;
        let waiters = self.lanes.iter_mut().flat_map(|(_, lane)| lane.waiters.drain(..));
        waiters.map(|waiter| waiter.ticket).collect()
    }

    pub(crate) fn release(&mut self, lane: usize, amount: Amount) {
        self.free.entries += amount.entries;
        self.free.bytes += amount.bytes;
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.held.entries -= amount.entries;
            lane.held.bytes -= amount.bytes;
            // What it held before the reservation counts as returned first, so that the waiter gets it in the end.
            lane.borrowed = lane.borrowed.min(lane.held.bytes);
        }
    }

    /// Takes capacity for waiters in the order of their arrival, but skips lanes that hold their share. A lane that is
    /// skipped remains so, because the others only take capacity. Returns the waiters with their bytes.
    fn grant(&mut self) -> Vec<(W, usize)> {
        let mut granted = Vec::new();
        let reserved = self.reserved.take();
        if self.waiting == 0 {
            self.end_reservation();
            return granted;
        }
        let head = |lane: usize, held: &Lane<W>| Some(Reverse((held.waiters.front()?.arrival, lane)));
        let mut heads: BinaryHeap<_> =
            self.lanes.iter().filter_map(|(lane, held)| head(lane, held)).collect();
        while self.free.entries > 0
            && let Some(Reverse((_, lane))) = heads.pop()
        {
            let Some(bytes) = self.lanes.get(lane).and_then(|held| Some(held.waiters.front()?.bytes)) else {
                continue;
            };
            if !self.is_within_share(lane, bytes) || !self.can_fit(lane, bytes) {
                continue;
            }
            if self.reserved.is_none() && !self.fits(bytes) {
                self.reserved = Some(bytes);
                if reserved.is_none() {
                    self.end_reservation();
                }
                continue;
            }
            if !self.fits(bytes) || !self.may_borrow(bytes) {
                continue;
            }
            self.take(lane, bytes);
            self.waiting -= 1;
            if let Some(held) = self.lanes.get_mut(lane) {
                granted.extend(held.waiters.pop_front().map(|waiter| (waiter.ticket, bytes)));
                heads.extend(held.waiters.front().map(|next| Reverse((next.arrival, lane))));
            }
        }
        if self.reserved.is_none() {
            // Without a free entry, the waiter with the reservation was not looked at.
            let waits = |Reverse((_, lane)): &Reverse<(u64, usize)>| {
                self.lanes.get(*lane).and_then(|held| held.waiters.front()).map(|waiter| waiter.bytes)
                    == reserved
            };
            if reserved.is_some() && self.free.entries == 0 && heads.iter().any(waits) {
                self.reserved = reserved;
            } else {
                self.end_reservation();
            }
        }
        granted
    }

    /// Whether a lane may take this much although a waiter of another lane needs more than is free: what all lanes borrow leaves
    /// enough for the waiter once the rest is returned. So a lane that hangs blocks nobody but that waiter.
    fn may_borrow(&self, bytes: usize) -> bool {
        self.reserved.is_none_or(|needed| {
            let borrowed: usize = self.lanes.iter().map(|(_, lane)| lane.borrowed).sum();
            borrowed.saturating_add(bytes) <= self.total.bytes.saturating_sub(needed)
        })
    }

    fn end_reservation(&mut self) {
        self.lanes.iter_mut().for_each(|(_, lane)| lane.borrowed = 0);
    }

    /// Whether a lane may hold this much more. A lane that holds nothing may take one entry.
    fn is_within_share(&self, lane: usize, bytes: usize) -> bool {
        let Some(Lane { held, .. }) = self.lanes.get(lane) else { return false };
        let (entries, bytes) = (held.entries + 1, held.bytes.saturating_add(bytes));
        let left = Amount {
            entries: self.free.entries.saturating_sub(1),
            bytes: self.free.bytes.saturating_sub(bytes - held.bytes),
        };
        held.entries == 0
            || (entries <= left.entries.saturating_mul(FACTOR) && bytes <= left.bytes.saturating_mul(FACTOR))
    }

    /// Whether the entries of other lanes leave this much.
    fn can_fit(&self, lane: usize, bytes: usize) -> bool {
        let held = self.lanes.get(lane).map_or(0, |lane| lane.held.bytes);
        held.saturating_add(bytes) <= self.total.bytes
    }

    fn fits(&self, bytes: usize) -> bool {
        self.free.entries > 0 && bytes <= self.free.bytes
    }

    fn take(&mut self, lane: usize, bytes: usize) {
        self.free.entries -= 1;
        self.free.bytes -= bytes;
        let is_borrowed = self.reserved.is_some();
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.held.entries += 1;
            lane.held.bytes += bytes;
            lane.borrowed += if is_borrowed { bytes } else { 0 };
        }
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod admission_tests;

#[cfg(test)]
mod shares_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lane_that_hangs_does_not_block_others_behind_a_waiter() {
        let mut shares = Shares::new(Amount { entries: 100, bytes: 100 });
        let [hangs, waits, other] = std::array::from_fn(|_| shares.open());
        assert!(shares.try_take(hangs, 80));
        shares.wait(waits, 60, "the waiter");
        assert!(shares.grant().is_empty());
        assert!(shares.try_take(other, 1));
        assert!(shares.try_take(other, 15), "within its share");
        shares.release(hangs, Amount { entries: 1, bytes: 80 });
        assert_eq!(shares.grant(), [("the waiter", 60)]);
    }

    #[test]
    fn reservation_outlives_a_time_without_free_entries() {
        let mut shares = Shares::new(Amount { entries: 3, bytes: 100 });
        let [first, waits, second, third] = std::array::from_fn(|_| shares.open());
        assert!(shares.try_take(first, 60));
        shares.wait(waits, 70, "the waiter");
        assert!(shares.grant().is_empty());
        assert!(shares.try_take(second, 15) && shares.try_take(third, 10), "what is borrowed leaves enough");
        assert!(shares.grant().is_empty(), "no entry is free");
        shares.release(third, Amount { entries: 1, bytes: 10 });
        assert!(shares.grant().is_empty());
        assert!(!shares.try_take(third, 16), "the rest is for the waiter");
    }

    #[test]
    fn busy_lanes_leave_enough_for_a_waiter() {
        let mut shares = Shares::new(Amount { entries: 100, bytes: 100 });
        let [first, waits, second] = std::array::from_fn(|_| shares.open());
        (0..80).for_each(|_| assert!(shares.try_take(first, 1)));
        shares.wait(waits, 60, "the waiter");
        shares.grant();
        let mut granted = Vec::new();
        for _ in 0..80 {
            shares.release(first, Amount { entries: 1, bytes: 1 });
            granted.extend(shares.grant());
            // Both take whatever they may.
            while shares.try_take(first, 1) || shares.try_take(second, 1) {}
            if !granted.is_empty() {
                return;
            }
        }
        panic!("the waiter got nothing: {shares:?}");
    }

    #[derive(Clone, Debug)]
    enum Step {
        Take(usize, usize),
        Wait(usize, usize),
        GiveUp(usize),
        Release(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0_usize..3, 0_usize..60).prop_map(|(lane, bytes)| Step::Take(lane, bytes)),
            (0_usize..3, 0_usize..60).prop_map(|(lane, bytes)| Step::Wait(lane, bytes)),
            any::<usize>().prop_map(Step::GiveUp),
            any::<usize>().prop_map(Step::Release),
        ]
    }

    proptest! {
        /// No capacity leaks. The first waiter of a lane waits only if it may not take what it needs.
        #[test]
        fn capacity_is_held_free_or_granted_to_waiters(steps in prop::collection::vec(step(), 1..200)) {
            let total = Amount { entries: 7, bytes: 100 };
            let mut shares = Shares::new(total);
            let lanes: [usize; 3] = std::array::from_fn(|_| shares.open());
            let (mut held, mut waiting) = (Vec::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Take(lane, bytes) => {
                        held.extend(shares.try_take(lanes[lane], bytes).then_some((lanes[lane], bytes)));
                    }
                    Step::Wait(lane, bytes) => {
                        let arrival = shares.wait(lanes[lane], bytes, lanes[lane]).unwrap();
                        waiting.push((lanes[lane], arrival));
                    }
                    Step::GiveUp(index) if !waiting.is_empty() => {
                        let (lane, arrival) = waiting.swap_remove(index % waiting.len());
                        shares.give_up(lane, arrival);
                    }
                    Step::Release(index) if !held.is_empty() => {
                        let (lane, bytes) = held.swap_remove(index % held.len());
                        shares.release(lane, Amount { entries: 1, bytes });
                    }
                    _ => {}
                }
                held.extend(shares.grant());
                let bytes: usize = held.iter().map(|(_, bytes)| bytes).sum();
                prop_assert_eq!(shares.taken(), Amount { entries: held.len(), bytes });
                let queued: usize = shares.lanes.iter().map(|(_, lane)| lane.waiters.len()).sum();
                prop_assert_eq!(shares.waiting, queued);
                let oldest = shares.lanes.iter().filter_map(|(id, lane)| {
                    let head = lane.waiters.front()?;
                    shares.is_within_share(id, head.bytes).then_some((head.arrival, head.bytes))
                });
                let oldest = oldest.min();
                prop_assert!(oldest.is_none_or(|(_, bytes)| !shares.fits(bytes)), "{:?} waits", oldest);
            }
        }
    }
}
