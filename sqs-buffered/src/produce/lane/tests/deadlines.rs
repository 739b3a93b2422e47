//! Deadlines of entries.

use std::collections::BTreeMap;

use super::*;

#[tokio::test(start_paused = true)]
async fn waiting_entries_end_at_their_deadlines() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules { in_flight: InFlight::Fixed(1), ..rules() });
    lane.push(entry(0, Some("a"), 1, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    for (number, group) in [(1, "a"), (2, "b"), (3, "c")] {
        lane.push(entry(number, Some(group), 1, now + Duration::from_secs(u64::try_from(number).unwrap())));
    }
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + TIMEOUT + Duration::from_secs(1))));
    assert_eq!(
        lane.poll(now + TIMEOUT + Duration::from_secs(2), Cause::Other),
        Step::Wait(Some(now + TIMEOUT + Duration::from_secs(3)))
    );
    let late: Vec<_> = settled(&mut lane).into_iter().map(|settled| settled.item).collect();
    assert_eq!(late.len(), 2, "{late:?}");
    assert!(late.contains(&1) && late.contains(&2));
}

#[tokio::test(start_paused = true)]
async fn entry_that_waits_for_its_retry_ends_at_its_deadline() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules { in_flight: InFlight::Fixed(1), ..rules() });
    let mut late = entry(0, None, 0, now);
    late.deadline = now + Duration::from_secs(20);
    lane.push(late);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    // While it is in flight, the last deadline of the waiting entries passes.
    let mut short = entry(1, None, 0, now);
    short.deadline = now + Duration::from_secs(5);
    lane.push(short);
    assert_eq!(dispatched(&mut lane, now + Duration::from_secs(6)), None);
    assert_eq!(settled(&mut lane).len(), 1);
    complete(&mut lane, now + Duration::from_secs(7), 0, Answer::Entries(vec![refusal(true)]), 1.0);
    assert_eq!(dispatched(&mut lane, now + Duration::from_secs(20)), None);
    assert_eq!(settled(&mut lane).pop().unwrap().result.unwrap_err().kind(), SendErrorKind::Timeout);
}

#[tokio::test(start_paused = true)]
async fn entry_that_expires_while_waiting_has_its_last_error() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules { in_flight: InFlight::Fixed(1), ..rules() });
    lane.push(entry(0, Some("a"), 0, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    let error = SendError::new(SendErrorKind::Request).of_entry(true, false).explained("slow down".into());
    complete(&mut lane, now, 0, Answer::Failed(error.maybe_sent(true)), 0.5);
    // Another entry hangs in the only slot.
    lane.push(entry(1, Some("b"), 0, now));
    lane.push(entry(2, Some("c"), 0, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![1, 2]));
    lane.push(entry(3, Some("d"), 0, now));
    assert_eq!(dispatched(&mut lane, now + TIMEOUT), None);
    let late = settled(&mut lane);
    let told: BTreeMap<_, _> = late
        .iter()
        .map(|settled| (settled.item, settled.result.as_ref().unwrap_err()))
        .map(|(item, error)| (item, (error.kind(), error.message(), error.is_maybe_sent())))
        .collect();
    let tried = (SendErrorKind::Timeout, Some("slow down"), true);
    assert_eq!(told, [(0, tried), (3, (SendErrorKind::Timeout, None, false))].into());
}

#[tokio::test(start_paused = true)]
async fn linger_leaves_half_of_the_delivery_timeout_for_retries() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> =
        Lane::new(Rules { linger: Linger::Fixed(TIMEOUT * 30), ..rules() });
    lane.push(entry(0, None, 1, now));
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + TIMEOUT / 2)));
    assert_eq!(dispatched(&mut lane, now + TIMEOUT / 2), Some(vec![0]));
}

#[tokio::test(start_paused = true)]
async fn nearest_deadline_wakes_the_lane_whatever_else_it_waits_for() {
    let now = Instant::now();
    let soon = now + Duration::from_secs(1);
    let urgent = |number, group| Pending { deadline: soon, ..entry(number, group, 1, now) };
    let mut lane: Lane<usize, usize, Stored> = Lane::new(rules());
    lane.push(entry(0, Some("g"), 1, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(urgent(1, Some("g")));
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(soon)), "its group is in flight");
    assert_eq!((dispatched(&mut lane, soon), settled(&mut lane).len()), (None, 1));
    assert_eq!(lane.poll(soon, Cause::Other), Step::Wait(None));
}

#[tokio::test(start_paused = true)]
async fn deadline_of_a_merged_entry_wakes_the_lane() {
    let now = Instant::now();
    let soon = now + Duration::from_secs(6);
    let key = Key::from("handle");
    let mut lane: Lane<usize, usize, Stored> =
        Lane::new(Rules { linger: Linger::Fixed(TIMEOUT / 4), ..rules() });
    lane.push(entry(0, Some("handle"), 0, now));
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + TIMEOUT / 4)));
    assert_eq!(lane.merge(&key, soon), Some((&mut Some(0), &mut 0)));
    let half = now + Duration::from_secs(3);
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(half)));
    assert_eq!(dispatched(&mut lane, half), Some(vec![0]));

    assert_eq!(lane.merge(&key, now + Duration::from_secs(4)), None, "it is in flight");
}
