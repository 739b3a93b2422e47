//! Tests of the capacity of a client.
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
fn hanging_lane_leaves_capacity_for_others_at_any_total() {
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
fn waiters_of_a_lane_at_its_share_are_skipped_and_served_in_order() {
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
    let (mut rounds, mut borrowed) = (0, Vec::new());
    let permit = loop {
        held.pop();
        rounds += 1;
        // Together with the waiter's, they fit into the capacity.
        borrowed.extend(std::iter::from_fn(|| small.try_enter(40)));
        assert!(borrowed.len() <= 2);
        if let Some(permit) = wait.as_mut().now_or_never() {
            break permit;
        }
    };
    assert!(permit.is_some() && rounds < 10);
}

#[test]
fn entry_that_waits_for_its_own_lane_does_not_block_other_lanes() {
    let (_, [dead, alive]) = lanes(10_000, 2_048);
    let _held = [dead.try_enter(1_024), dead.try_enter(1)];
    let mut wait = Box::pin(dead.enter(1_024, || {}));
    assert!(wait.as_mut().now_or_never().is_none());
    assert!(alive.try_enter(1).is_some());
}

#[test]
fn two_hanging_lanes_with_large_entries_leave_capacity_for_others() {
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
