//! Entries with a key.

use std::collections::BTreeMap;

use super::*;

#[tokio::test(start_paused = true)]
async fn arrivals_join_the_open_batch_that_has_their_group() {
    let now = Instant::now();
    for (ordering, first) in [(FifoOrdering::Grouped, vec![0, 1, 2]), (FifoOrdering::Strict, vec![0, 1])] {
        let mut lane = Lane::new(Rules { ordering, linger: Linger::Fixed(LINGER), ..rules() });
        for (number, group) in ["a", "b", "a"].into_iter().enumerate() {
            lane.push(entry(number, Some(group), 1, now));
            assert_eq!(dispatched(&mut lane, now), None);
        }
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(first));
    }
}

#[tokio::test(start_paused = true)]
async fn refused_entry_is_not_retried_after_a_later_one_was_accepted() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
    for number in 0..4 {
        lane.push(entry(number, Some("g"), 1, now));
    }
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1, 2, 3]));
    lane.push(entry(4, Some("g"), 1, now));
    let mut queue = Queue::default();
    let answers = vec![Ok(queue.store(0)), refusal(true), Ok(queue.store(2)), refusal(true)];
    complete(&mut lane, now, 0, Answer::Entries(answers), 1.0);
    let kinds: BTreeMap<_, _> = lane
        .take_settled()
        .into_iter()
        .map(|settled| (settled.item, settled.result.map_err(|error| error.kind()).err()))
        .collect();
    let expected = [
        (0, None),
        (1, Some(SendErrorKind::OrderGap)),
        (2, None),
        (3, Some(SendErrorKind::PrecedingFailed)),
        (4, Some(SendErrorKind::PrecedingFailed)),
    ];
    assert_eq!(kinds, expected.into());
}

#[tokio::test(start_paused = true)]
async fn entry_that_may_be_stored_behind_a_later_one_is_out_of_order() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
    lane.push(entry(0, Some("g"), 1, now));
    lane.push(entry(1, Some("g"), 1, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1]));
    let mut queue = Queue::default();
    let answers = vec![Err(SendError::unaccounted()), Ok(queue.store(1))];
    complete(&mut lane, now, 0, Answer::Entries(answers), 1.0);
    let later = now + Duration::from_millis(50);
    assert_eq!(dispatched(&mut lane, later), Some(vec![0]));
    complete(&mut lane, later, 1, Answer::Entries(vec![Ok(queue.store(0))]), 1.0);
    let error = settled(&mut lane).pop().unwrap().result.unwrap_err();
    assert_eq!((error.kind(), error.message_id()), (SendErrorKind::OutOfOrder, Some("0")));
}

#[tokio::test(start_paused = true)]
async fn entry_stored_at_its_place_is_accepted_after_a_later_one() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
    lane.push(entry(0, Some("g"), 1, now));
    lane.push(entry(1, Some("g"), 1, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1]));
    let mut queue = Queue::default();
    queue.store(0);
    let answers = vec![Err(SendError::unaccounted()), Ok(queue.store(1))];
    complete(&mut lane, now, 0, Answer::Entries(answers), 1.0);
    let later = now + Duration::from_millis(50);
    assert_eq!(dispatched(&mut lane, later), Some(vec![0]));
    complete(&mut lane, later, 1, Answer::Entries(vec![Ok(queue.store(0))]), 1.0);
    assert_eq!(settled(&mut lane).pop().unwrap().result.unwrap().sequence, 0);
}

/// The second message is a duplicate that the user sent: SQS responds with the sequence number of the first.
#[tokio::test(start_paused = true)]
async fn duplicate_sent_by_the_user_is_not_out_of_order() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(rules());
    for number in 0..3 {
        lane.push(entry(number, Some("g"), 1, now));
    }
    let stored = |sequence| Answer::Entries(vec![Ok(Stored { sequence, id: String::new() })]);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    complete(&mut lane, now, 0, stored(7), 1.0);
    assert_eq!(dispatched(&mut lane, now), Some(vec![1]));
    complete(&mut lane, now, 1, Answer::Entries(Vec::new()), 1.0);
    let later = now + Duration::from_millis(50);
    assert_eq!(dispatched(&mut lane, later), Some(vec![1]));
    complete(&mut lane, later, 2, stored(2), 1.0);
    assert!(settled(&mut lane).iter().all(|settled| settled.result.is_ok()));
}

#[tokio::test(start_paused = true)]
async fn waiting_entries_of_a_key_can_be_found_and_superseded() {
    let now = Instant::now();
    let key = Key::from("handle");
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    lane.push(entry(0, Some("handle"), 0, now));
    assert_eq!(lane.merge(&key, now + TIMEOUT), Some((&mut Some(0), &mut 0)));
    assert_eq!(dispatched(&mut lane, now), None);
    assert_eq!(lane.merge(&key, now + TIMEOUT), Some((&mut Some(0), &mut 0)), "in the open batch");
    lane.supersede(&key);
    assert_eq!(settled(&mut lane).pop().unwrap().result.unwrap_err().kind(), SendErrorKind::Superseded);
    lane.push(entry(1, Some("handle"), 0, now));
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1]));
    assert_eq!(lane.merge(&key, now + TIMEOUT), None, "it is in flight");
    lane.supersede(&key);
    complete(&mut lane, now + LINGER, 0, Answer::Entries(vec![refusal(true)]), 0.5);
    let ended = settled(&mut lane).pop().unwrap().result.unwrap_err();
    assert_eq!((ended.kind(), lane.is_idle()), (SendErrorKind::Superseded, true), "it is not tried again");
    lane.push(entry(2, Some("handle"), 0, now));
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![2]));
    lane.abort();
    let aborted = settled_with(&mut lane, |_| None).pop().unwrap();
    assert!(aborted.result.unwrap_err().is_maybe_sent() && lane.is_idle());
}

#[tokio::test(start_paused = true)]
async fn run_whose_entries_expire_together_keeps_one_place() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules {
        ordering: FifoOrdering::Grouped,
        after_failure: AfterFailure::Continue,
        linger: Linger::Fixed(TIMEOUT * 2),
        ..rules()
    });
    for number in 0..20 {
        lane.push(entry(number, Some("g"), 1, now + TIMEOUT * u32::from(number > 9)));
    }
    // The entries of the open batch are late. The others get one place in the line.
    assert_eq!(dispatched(&mut lane, now + TIMEOUT), Some((10..20).collect()));
    assert_eq!(settled(&mut lane).len(), 10);
    lane.push(entry(20, Some("g"), 1, now + TIMEOUT));
    assert!(matches!(lane.poll(now + TIMEOUT, Cause::Starving), Step::Wait(_)), "its group is in flight");
    let mut queue = Queue::default();
    let answers = (10..20).map(|number| Ok(queue.store(number))).collect();
    complete(&mut lane, now + TIMEOUT, 0, Answer::Entries(answers), 1.0);
    assert!(matches!(lane.poll(now + TIMEOUT, Cause::Starving), Step::Dispatch(Dispatch { number: 1, .. })));
}

#[tokio::test(start_paused = true)]
async fn abort_leaves_no_group_behind() {
    let now = Instant::now();
    for is_in_flight in [false, true] {
        let mut lane: Lane<usize, usize, Stored> =
            Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
        lane.push(entry(0, Some("g"), 1, now));
        assert_eq!(dispatched(&mut lane, now + LINGER * u32::from(is_in_flight)).is_some(), is_in_flight);
        lane.push(entry(1, Some("g"), 1, now));
        lane.abort();
        let load_of = |item| (item == 1 || !is_in_flight).then_some(item);
        assert_eq!(settled_with(&mut lane, load_of).len(), 2);
        lane.push(entry(2, Some("g"), 1, now));
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![2]));
    }
}

#[tokio::test(start_paused = true)]
async fn merged_entry_starts_again_with_the_earlier_deadline() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(rules());
    let mut first = entry(0, Some("handle"), 0, now);
    first.deadline = now + Duration::from_secs(10);
    lane.push(first);
    let mut later = now;
    for number in 0..3 {
        assert_eq!(dispatched(&mut lane, later), Some(vec![0]));
        complete(&mut lane, later, number, Answer::Entries(vec![refusal(true)]), 1.0);
        later += Duration::from_secs(3);
    }
    let (load, item) = lane.merge(&Key::from("handle"), now + TIMEOUT).unwrap();
    (*load, *item) = (Some(1), 1);
    assert_eq!(dispatched(&mut lane, later), Some(vec![1]));
    complete(&mut lane, later, 3, Answer::Entries(vec![refusal(true)]), 0.0);
    assert_eq!(settled(&mut lane).len(), 0, "it has attempts left");
    assert_eq!(dispatched(&mut lane, now + Duration::from_secs(10)), None);
    assert_eq!(settled(&mut lane).len(), 1, "the earlier deadline counts");
}

/// A request that was dropped took the loads with it, so its entries cannot be sent again.
#[tokio::test(start_paused = true)]
async fn batch_of_a_dropped_request_ends_and_releases_its_groups() {
    let now = Instant::now();
    for (after_failure, ended, next) in
        [(AfterFailure::FailGroup, [0, 1, 2, 3].as_slice(), 4), (AfterFailure::Continue, &[0, 3], 1)]
    {
        let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules { after_failure, ..rules() });
        for (number, group) in [(0, Some("g")), (1, Some("g")), (2, Some("g")), (3, None)] {
            lane.push(entry(number, group, 1, now));
        }
        assert_eq!(dispatched(&mut lane, now), Some(vec![0, 3]));
        lane.fail_batch(0, &SendError::new(SendErrorKind::Request));
        lane.release_slot();
        let told: BTreeMap<_, _> = settled_with(&mut lane, |item| (![0, 3].contains(&item)).then_some(item))
            .into_iter()
            .map(|settled| (settled.item, settled.result.unwrap_err()))
            .collect();
        assert!(told.keys().eq(ended), "{told:?}");
        for number in [0, 3] {
            assert_eq!((told[&number].kind(), told[&number].is_maybe_sent()), (SendErrorKind::Request, true));
        }
        lane.push(entry(4, Some("g"), 1, now));
        assert_eq!(dispatched(&mut lane, now), Some(vec![next]), "the group may go");
    }
}
