//! Capacity for entries and bytes, shared by the lanes of a client.
//!
//! ```text
//! enqueue -> Share of a lane, first come, first served -> Permit, inside the entry -> returned when the entry has ended
//! ```
//! A lane may hold up to eight times what it leaves free (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on
//! Networking 6(2), 1998), and always one entry that fits. So a queue that hangs holds at most 8/9 of the capacity, a second one 8/9
//! of the rest. Waiters hold no lock. An older waiter that only lacks free
//! capacity goes before younger ones of other lanes, so that a large entry does not starve.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use slab::Slab;
use tokio::sync::oneshot;

/// How many times as much as is free a lane may hold.
const FACTOR: usize = 8;

/// An amount of entries and bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Amount {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

/// How much may be buffered or in flight at a time.
#[derive(Debug)]
pub(crate) struct Capacity {
    total: Amount,
    is_closed: AtomicBool,
    /// Locked for a few instructions.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    total: Amount,
    free: Amount,
    lanes: Slab<Held>,
    arrivals: u64,
    /// Waiters of all lanes.
    waiting: usize,
    /// Whether a waiter of a lane that may take more needs the free capacity.
    is_reserved: bool,
}

/// The capacity that one lane holds, and its waiters.
#[derive(Debug, Default)]
struct Held {
    held: Amount,
    waiters: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    arrival: u64,
    bytes: usize,
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
        let state =
            State { total, free: total, lanes: Slab::new(), arrivals: 0, waiting: 0, is_reserved: false };
        Self { total, is_closed: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// The share of a new lane.
    pub(crate) fn share(self: &Arc<Self>) -> Share {
        let lane = self.state.lock().lanes.insert(Held::default());
        Share { capacity: Arc::clone(self), lane, waiting: AtomicUsize::new(0) }
    }

    /// Admits no more entries. Waiters are told.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        self.is_closed.store(true, Ordering::Release);
        state.waiting = 0;
        let lanes = state.lanes.iter_mut();
        let waiters: Vec<_> = lanes.flat_map(|(_, lane)| std::mem::take(&mut lane.waiters)).collect();
        for waiter in &waiters {
            waiter.share.count_out();
        }
        drop(state);
        drop(waiters);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// What is taken.
    pub(crate) fn taken(&self) -> Amount {
        let free = self.state.lock().free;
        Amount { entries: self.total.entries - free.entries, bytes: self.total.bytes - free.bytes }
    }

    /// Returns capacity, and gives it to waiters.
    fn release(&self, lane: usize, amount: Amount) {
        let mut state = self.state.lock();
        state.free.entries += amount.entries;
        state.free.bytes += amount.bytes;
        if let Some(lane) = state.lanes.get_mut(lane) {
            lane.held.entries -= amount.entries;
            lane.held.bytes -= amount.bytes;
        }
        grant(state);
    }
}

impl State {
    /// Whether a lane may hold that much more. A lane that holds nothing may take one entry.
    fn is_within_share(&self, lane: usize, bytes: usize) -> bool {
        let Some(Held { held, .. }) = self.lanes.get(lane) else { return false };
        let (entries, bytes) = (held.entries + 1, held.bytes.saturating_add(bytes));
        let left = Amount {
            entries: self.free.entries.saturating_sub(1),
            bytes: self.free.bytes.saturating_sub(bytes - held.bytes),
        };
        held.entries == 0
            || (entries <= left.entries.saturating_mul(FACTOR) && bytes <= left.bytes.saturating_mul(FACTOR))
    }

    /// Whether the entries of other lanes leave so much.
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
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.held.entries += 1;
            lane.held.bytes += bytes;
        }
    }

    /// Takes capacity for waiters: in the order of their arrival, past lanes that hold their share. A lane that is passed stays
    /// so: others only take.
    fn grant(&mut self) -> Vec<Waiter> {
        let mut granted = Vec::new();
        self.is_reserved = false;
        let head = |lane: usize, held: &Held| Some(Reverse((held.waiters.front()?.arrival, lane)));
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
            if !self.fits(bytes) {
                self.is_reserved = true;
                break;
            }
            self.take(lane, bytes);
            self.waiting -= 1;
            if let Some(held) = self.lanes.get_mut(lane) {
                granted.extend(held.waiters.pop_front().inspect(|waiter| waiter.share.count_out()));
                heads.extend(held.waiters.front().map(|next| Reverse((next.arrival, lane))));
            }
        }
        granted
    }
}

/// Gives free capacity to the waiters that may have it, skipping those that were dropped.
fn grant(mut state: MutexGuard<'_, State>) {
    if state.waiting == 0 {
        state.is_reserved = false;
        return;
    }
    let granted = state.grant();
    drop(state);
    for waiter in granted {
        let permit = Permit { share: Some(waiter.share), bytes: waiter.bytes };
        // An error returns the permit, which is dropped here, without a lock.
        drop(waiter.granted.send(permit));
    }
}

impl Share {
    /// Capacity for an entry, if there is some now and no entry waits for it. An entry that is larger than the whole capacity
    /// takes all of it.
    pub(crate) fn try_enter(self: &Arc<Self>, bytes: usize) -> Option<Permit> {
        let bytes = bytes.min(self.capacity.total.bytes);
        let mut state = self.capacity.state.lock();
        let may_enter = !self.capacity.is_closed()
            && !self.is_starving()
            && !state.is_reserved
            && state.is_within_share(self.lane, bytes)
            && state.fits(bytes);
        may_enter.then(|| {
            state.take(self.lane, bytes);
            Permit { share: Some(Arc::clone(self)), bytes }
        })
    }

    /// One waiter less. The state is locked meanwhile.
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
            let mut state = self.capacity.state.lock();
            if self.capacity.is_closed() {
                return None;
            }
            state.arrivals += 1;
            let arrival = state.arrivals;
            let bytes = bytes.min(self.capacity.total.bytes);
            let waiter = Waiter { arrival, bytes, share: Arc::clone(self), granted };
            state.lanes.get_mut(self.lane)?.waiters.push_back(waiter);
            state.waiting += 1;
            self.waiting.fetch_add(1, Ordering::AcqRel);
            // There may be capacity now.
            grant(state);
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
    /// Permits and waiters hold it: nothing is held any more.
    fn drop(&mut self) {
        self.capacity.state.lock().lanes.try_remove(self.lane);
    }
}

/// Removes a waiter that gave up.
struct Waiting<'a> {
    share: &'a Arc<Share>,
    arrival: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let capacity = &self.share.capacity;
        let mut state = capacity.state.lock();
        let waiters = state.lanes.get_mut(self.share.lane).map(|lane| &mut lane.waiters);
        let Some(waiters) = waiters else { return };
        let Ok(index) = waiters.binary_search_by_key(&self.arrival, |waiter| waiter.arrival) else { return };
        let gone = waiters.remove(index);
        state.waiting -= 1;
        self.share.count_out();
        grant(state);
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn lanes<const N: usize>(entries: usize, bytes: usize) -> (Arc<Capacity>, [Arc<Share>; N]) {
        let capacity = Arc::new(Capacity::new(entries, bytes));
        let lanes = std::array::from_fn(|_| Arc::new(capacity.share()));
        (capacity, lanes)
    }

    fn taken(capacity: &Capacity) -> (usize, usize) {
        let Amount { entries, bytes } = capacity.taken();
        (entries, bytes)
    }

    fn fill(lane: &Arc<Share>, bytes: usize) -> Vec<Permit> {
        std::iter::from_fn(|| lane.try_enter(bytes)).collect()
    }

    #[tokio::test]
    async fn capacity_is_returned_by_permits_and_by_waits_that_are_dropped() {
        let (capacity, [lane]) = lanes(2, 10);
        let first = lane.try_enter(6).unwrap();
        assert!(lane.try_enter(5).is_none(), "too many bytes");
        assert_eq!(taken(&capacity), (1, 6));
        let mut wait = Box::pin(lane.enter(5, || {}));
        assert!(wait.as_mut().now_or_never().is_none());
        assert!(lane.is_starving());
        drop(wait);
        assert_eq!((lane.is_starving(), taken(&capacity)), (false, (1, 6)));
        drop(first);
        let whole = lane.enter(1000, || {}).await.unwrap();
        assert_eq!(taken(&capacity), (1, 10), "it gets all there is");
        Permit::release_all([whole]);
        assert_eq!(taken(&capacity), (0, 0));
    }

    #[tokio::test]
    async fn permit_of_a_dropped_waiter_goes_to_the_next() {
        let (capacity, [lane]) = lanes(1, 10);
        let held = lane.try_enter(1).unwrap();
        let (mut first, mut second) = (Box::pin(lane.enter(1, || {})), Box::pin(lane.enter(1, || {})));
        assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
        drop(held);
        drop(first);
        assert!(second.now_or_never().flatten().is_some());
        assert_eq!(taken(&capacity), (0, 0));
    }

    #[test]
    fn lane_that_hangs_leaves_capacity_for_others_in_any_capacity() {
        for entries in [2, 3, 10, 25, 1_000, 10_000] {
            let (_, [dead, alive]) = lanes(entries, usize::MAX);
            let held = fill(&dead, 1);
            let share = entries * 8 / 9;
            assert_eq!(held.len(), share.max(1), "{} of {entries}", held.len());
            assert!(alive.try_enter(1).is_some());
        }
        let (_, [dead, alive]) = lanes(usize::MAX, 9_000);
        let held = fill(&dead, 100);
        assert_eq!(held.len(), 80);
        assert_eq!(fill(&alive, 100).len(), 8);
    }

    #[test]
    fn waiters_of_a_lane_with_its_share_are_passed_by_and_served_in_order() {
        let (_, [dead, alive]) = lanes(9, 9);
        let mut held = fill(&dead, 1);
        assert_eq!(held.len(), 8);
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(dead.enter(1, || {}))).collect();
        for wait in &mut waits {
            assert!(wait.as_mut().now_or_never().is_none());
        }
        let passing = alive.try_enter(1).expect("waiters of another lane do not stop it");
        held.truncate(4);
        assert!(waits.remove(0).now_or_never().flatten().is_some(), "first come, first served");
        drop(passing);
    }

    #[test]
    fn large_entry_does_not_starve_behind_small_ones_of_other_lanes() {
        let (_, [large, small]) = lanes(100, 1_000);
        let mut held = fill(&small, 100);
        let mut wait = Box::pin(large.enter(900, || {}));
        assert!(wait.as_mut().now_or_never().is_none());
        let mut rounds = 0;
        let permit = loop {
            held.pop();
            rounds += 1;
            assert!(small.try_enter(1).is_none(), "an older waiter has the right to what is free");
            if let Some(permit) = wait.as_mut().now_or_never() {
                break permit;
            }
        };
        assert!(permit.is_some() && rounds < 10);
    }

    #[test]
    fn entry_that_only_its_own_lane_leaves_no_room_for_stops_no_other_lane() {
        let (_, [dead, alive]) = lanes(10_000, 2_048);
        let _held = [dead.try_enter(1_024), dead.try_enter(1)];
        let mut wait = Box::pin(dead.enter(1_024, || {}));
        assert!(wait.as_mut().now_or_never().is_none());
        assert!(alive.try_enter(1).is_some());
    }

    #[test]
    fn two_lanes_that_hang_with_large_entries_leave_capacity_for_others() {
        let (_, [first, second, alive]) = lanes(10_000, 32 << 20);
        let _held = [fill(&first, 1 << 20), fill(&second, 1 << 20)];
        assert!(alive.try_enter(100).is_some());
    }

    #[tokio::test]
    async fn closing_ends_waits() {
        let (capacity, [lane]) = lanes(1, 10);
        let inside = lane.try_enter(1);
        let (waited, ()) = tokio::join!(lane.enter(1, || {}), async { capacity.close() });
        assert!(inside.is_some() && waited.is_none());
        assert!(!lane.is_starving() && lane.enter(1, || {}).await.is_none());
    }
}
