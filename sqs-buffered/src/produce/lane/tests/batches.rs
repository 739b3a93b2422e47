//! Which entries share a batch, and when it is sent.

use super::*;

#[tokio::test(start_paused = true)]
async fn lone_entry_is_sent_at_once_and_the_next_lingers() {
    let (now, mut lane) = (Instant::now(), Lane::new(rules()));
    lane.push(entry(0, None, 1, now));
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(entry(1, None, 1, now));
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + LINGER)));
    lane.push(entry(2, None, 1, now + LINGER / 2));
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1, 2]), "the linger does not start again");
    lane.push(entry(3, None, 1, now + LINGER));
    assert_eq!(dispatched(&mut lane, now + LINGER), None);
    complete(&mut lane, now + LINGER, 0, Answer::Entries(vec![Ok(Queue::default().store(0))]), 1.0);
    assert_eq!(polled(&mut lane, now + LINGER, Cause::Answer), Some(vec![3]), "an answer came");
}

#[tokio::test(start_paused = true)]
async fn fixed_linger_fills_batches_and_ends_early_if_others_wait_for_capacity() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    for number in 0..13 {
        lane.push(entry(number, None, 1, now));
    }
    assert_eq!(dispatched(&mut lane, now), Some((0..10).collect()));
    assert_eq!(dispatched(&mut lane, now), None);
    assert!(matches!(lane.poll(now, Cause::Starving), Step::Dispatch(Dispatch { number: 1, .. })));
}

#[tokio::test(start_paused = true)]
async fn response_does_not_shorten_a_fixed_linger() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    for number in 0..12 {
        lane.push(entry(number, None, 1, now));
    }
    let mut queue = Queue::default();
    assert_eq!(dispatched(&mut lane, now), Some((0..10).collect()));
    let answers = (0..10).map(|number| Ok(queue.store(number))).collect();
    complete(&mut lane, now, 0, Answer::Entries(answers), 1.0);
    assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + LINGER)));
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![10, 11]));
}

#[tokio::test(start_paused = true)]
async fn flush_ends_when_all_earlier_entries_have_ended() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    assert!(lane.flush().is_none(), "there is nothing to wait for");
    lane.push(entry(0, None, 1, now));
    let mut first = lane.flush().unwrap();
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(entry(1, None, 1, now));
    let mut second = lane.flush().unwrap();
    assert_eq!(dispatched(&mut lane, now), Some(vec![1]));
    complete(&mut lane, now, 1, Answer::Entries(vec![Ok(Queue::default().store(1))]), 1.0);
    assert_eq!(settled(&mut lane).len(), 1);
    assert!(first.try_recv().is_err() && second.try_recv().is_err());
    complete(&mut lane, now, 0, Answer::Entries(vec![Ok(Queue::default().store(0))]), 1.0);
    let last = lane.take_settled().remove(0);
    assert!(first.try_recv().is_err() && second.try_recv().is_err(), "its ticket does not know");
    lane.told(last.epoch, &Summary::of(1));
    assert!(first.try_recv().is_ok() && second.try_recv().is_ok());
}

#[tokio::test(start_paused = true)]
async fn batch_that_is_too_long_is_halved_without_counting_an_attempt() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> =
        Lane::new(Rules { retry: RetryRules { attempts: 1, ..rules().retry }, ..rules() });
    for number in 0..8 {
        lane.push(entry(number, None, 100, now));
    }
    assert!(matches!(lane.poll(now, Cause::Starving), Step::Dispatch(Dispatch { number: 0, .. })));
    complete(&mut lane, now, 0, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1, 2, 3]));
    assert_eq!(dispatched(&mut lane, now), Some(vec![4, 5, 6, 7]));
    lane.push(entry(8, None, 100, now));
    complete(&mut lane, now, 1, Answer::Failed(failure(false, false, false)), 1.0);
    assert_eq!(polled(&mut lane, now, Cause::Answer), Some(vec![8]));
    complete(&mut lane, now, 3, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    let last = settled(&mut lane).pop().unwrap();
    assert_eq!((last.item, last.result.unwrap_err().kind()), (8, SendErrorKind::TooLarge));
}

#[tokio::test(start_paused = true)]
async fn smaller_batches_after_one_that_was_too_long_end_after_five_minutes() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(rules());
    let next = |lane: &mut Lane<usize, usize, Stored>, now| {
        for number in 0..10 {
            lane.push(entry(number, None, 100, now));
        }
        polled(lane, now, Cause::Starving).map(|batch| batch.len())
    };
    assert_eq!(next(&mut lane, now), Some(10));
    complete(&mut lane, now, 0, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    assert_eq!(dispatched(&mut lane, now).map(|batch| batch.len()), Some(5));
    lane.abort();
    assert_eq!(next(&mut lane, now + LEARNED_FOR - LINGER), Some(5));
    lane.abort();
    assert_eq!(next(&mut lane, now + LEARNED_FOR), Some(10));
}

#[tokio::test(start_paused = true)]
async fn failed_batch_is_retried_as_one_batch_in_its_order() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(rules());
    for number in 0..10 {
        lane.push(entry(number, None, 1, now));
    }
    assert_eq!(dispatched(&mut lane, now), Some((0..10).collect()));
    complete(&mut lane, now, 0, Answer::Entries((0..10).map(|_| refusal(true)).collect()), 0.5);
    let Step::Wait(Some(until)) = lane.poll(now, Cause::Starving) else { panic!("there is a pause") };
    assert_eq!(dispatched(&mut lane, until), Some((0..10).collect()));
}

#[tokio::test(start_paused = true)]
async fn entries_without_size_that_are_too_long_are_halved_too() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(rules());
    for number in 0..4 {
        lane.push(entry(number, Some(&number.to_string()), 0, now));
    }
    for (batch, expected) in [vec![0, 1, 2, 3], vec![0, 1], vec![0]].into_iter().enumerate() {
        assert_eq!(polled(&mut lane, now, Cause::Starving), Some(expected));
        complete(&mut lane, now, batch as u64, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    }
    assert_eq!(settled(&mut lane).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn flush_does_not_send_later_entries_early() {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    lane.push(entry(0, None, 1, now));
    let _heard = lane.flush();
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(entry(1, None, 1, now));
    assert_eq!(dispatched(&mut lane, now), None, "the flush waits for another");
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1]));
}
