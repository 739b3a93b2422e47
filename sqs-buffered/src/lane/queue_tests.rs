//! Tests of a lane alone: time and responses are parameters.
use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use sqs_client::wire::service_error::ErrorCode;

use super::*;
use crate::settings::{InFlight, RetryRules};

const LINGER: Duration = Duration::from_millis(20);

const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Stored {
    sequence: u128,
    id: String,
}

impl Receipt for Stored {
    fn sequence_number(&self) -> Option<u128> {
        Some(self.sequence)
    }

    fn message_id(&self) -> Option<&str> {
        Some(&self.id)
    }
}

fn rules() -> Rules {
    Rules {
        limits: BatchLimits::default(),
        linger: Linger::default(),
        in_flight: InFlight::Fixed(5),
        ordering: FifoOrdering::Strict,
        after_failure: AfterFailure::FailGroup,
        retry: RetryRules {
            attempts: 4,
            first_pause: Duration::from_millis(50),
            max_pause: Duration::from_secs(5),
            max_lane_pause: Duration::from_secs(1),
        },
        grace: Duration::from_secs(60),
        tells_retries: false,
    }
}

/// The load is the number, too, so that a mix-up is noticed.
fn entry(number: usize, key: Option<&str>, bytes: usize, now: Instant) -> Pending<usize, usize> {
    Pending::new(number, number, key.map(Key::from), bytes, (now, now + TIMEOUT))
}

/// The entries that have ended, and their loads. Tells them at once.
fn settled(lane: &mut Queue<usize, usize, Stored>) -> Vec<Settled<usize, usize, Stored>> {
    settled_with(lane, Some)
}

/// The same, with these loads; `None` where a request has the load.
fn settled_with(
    lane: &mut Queue<usize, usize, Stored>,
    load_of: impl Fn(usize) -> Option<usize>,
) -> Vec<Settled<usize, usize, Stored>> {
    let settled = lane.take_settled();
    for settled in &settled {
        assert_eq!(settled.load, load_of(settled.item), "the load belongs to another entry or is lost");
        lane.told(settled.epoch, &Summary::of(1));
    }
    settled
}

fn refusal(is_retryable: bool) -> Result<Stored, SendError> {
    let code = if is_retryable { ErrorCode::InternalFailure } else { ErrorCode::InvalidMessageContents };
    Err(SendError::new(SendErrorKind::Rejected).refused(code, None).of_entry(is_retryable, false))
}

fn failure(is_retryable: bool, is_throttle: bool, is_outcome_unknown: bool) -> SendError {
    let error = SendError::new(SendErrorKind::Request).of_entry(is_retryable, is_throttle);
    error.maybe_sent(is_outcome_unknown)
}

/// A FIFO queue, with its entries in the order of their arrival, each once.
#[derive(Default)]
struct Service {
    stored: Vec<usize>,
    sequences: HashMap<usize, u128>,
}

impl Service {
    fn store(&mut self, number: usize) -> Stored {
        let next = self.stored.len() as u128;
        let sequence = *self.sequences.entry(number).or_insert_with(|| {
            self.stored.push(number);
            next
        });
        Stored { sequence, id: number.to_string() }
    }

    /// Responds to a batch with failures of every kind. `failures` is their fraction, 0 to 1.
    fn answer(&mut self, batch: &[usize], rng: &mut Rng, failures: f64) -> Answer<Stored> {
        let unlucky = |rng: &mut Rng| rng.f64() < failures;
        if unlucky(rng) {
            let is_outcome_unknown = rng.bool();
            if is_outcome_unknown && rng.bool() {
                for number in batch {
                    drop((!unlucky(rng)).then(|| self.store(*number)));
                }
            }
            return Answer::Failed(failure(rng.u8(..) > 20, rng.bool(), is_outcome_unknown));
        }
        let entries = batch.iter().map(|number| match rng.u8(..4) {
            0 if unlucky(rng) => refusal(true),
            1 if unlucky(rng) => refusal(rng.bool()),
            2 if unlucky(rng) => {
                if rng.bool() {
                    self.store(*number);
                }
                Err(SendError::unaccounted())
            }
            _ => Ok(self.store(*number)),
        });
        Answer::Entries(entries.collect())
    }
}

fn dispatched(lane: &mut Queue<usize, usize, Stored>, now: Instant) -> Option<Vec<usize>> {
    polled(lane, now, Cause::Other)
}

fn polled(lane: &mut Queue<usize, usize, Stored>, now: Instant, cause: Cause) -> Option<Vec<usize>> {
    match lane.poll(now, cause) {
        Step::Dispatch(batch) => Some(sent(lane, &batch)),
        Step::Wait(_) => None,
    }
}

/// The numbers in a batch that is dispatched.
fn sent(lane: &Queue<usize, usize, Stored>, batch: &Dispatch<usize>) -> Vec<usize> {
    let numbers: Vec<_> = in_flight(lane, batch.number).map(|pending| pending.item).collect();
    assert_eq!(batch.loads, numbers, "loads are mixed up");
    numbers
}

fn in_flight(
    lane: &Queue<usize, usize, Stored>,
    number: u64,
) -> impl Iterator<Item = &Pending<usize, usize>> {
    lane.in_flight.iter().filter(move |flight| flight.number == number).flat_map(|flight| &flight.entries)
}

/// Completes a batch with this result, and returns its loads.
fn complete(
    lane: &mut Queue<usize, usize, Stored>,
    now: Instant,
    number: u64,
    answer: Answer<Stored>,
    chance: f64,
) {
    let loads = in_flight(lane, number).map(|pending| pending.item).collect();
    lane.complete(now, number, answer, loads, chance);
    lane.release_slot(number);
}

mod batches {
    //! Which entries share a batch, and when it is sent.

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lone_entry_is_sent_at_once_and_the_next_lingers() {
        let (now, mut lane) = (Instant::now(), Queue::new(rules()));
        lane.push(entry(0, None, 1, now));
        assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
        lane.push(entry(1, None, 1, now));
        assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + LINGER)));
        lane.push(entry(2, None, 1, now + LINGER / 2));
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1, 2]), "the linger does not start again");
        lane.push(entry(3, None, 1, now + LINGER));
        assert_eq!(dispatched(&mut lane, now + LINGER), None);
        complete(&mut lane, now + LINGER, 0, Answer::Entries(vec![Ok(Service::default().store(0))]), 1.0);
        assert_eq!(polled(&mut lane, now + LINGER, Cause::Answer), Some(vec![3]), "an answer came");
    }

    #[tokio::test(start_paused = true)]
    async fn fixed_linger_fills_batches_and_ends_early_if_others_wait_for_capacity() {
        let now = Instant::now();
        let mut lane = Queue::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
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
        let mut lane = Queue::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
        for number in 0..12 {
            lane.push(entry(number, None, 1, now));
        }
        let mut queue = Service::default();
        assert_eq!(dispatched(&mut lane, now), Some((0..10).collect()));
        let answers = (0..10).map(|number| Ok(queue.store(number))).collect();
        complete(&mut lane, now, 0, Answer::Entries(answers), 1.0);
        assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + LINGER)));
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![10, 11]));
    }

    #[tokio::test(start_paused = true)]
    async fn flush_ends_when_all_earlier_entries_have_ended() {
        let now = Instant::now();
        let mut lane = Queue::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
        assert!(lane.flush().is_none(), "there is nothing to wait for");
        lane.push(entry(0, None, 1, now));
        let first = lane.flush().unwrap();
        assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
        lane.push(entry(1, None, 1, now));
        let second = lane.flush().unwrap();
        assert_eq!(dispatched(&mut lane, now), Some(vec![1]));
        complete(&mut lane, now, 1, Answer::Entries(vec![Ok(Service::default().store(1))]), 1.0);
        assert_eq!(settled(&mut lane).len(), 1);
        assert!(first.has_changed().is_ok() && second.has_changed().is_ok());
        complete(&mut lane, now, 0, Answer::Entries(vec![Ok(Service::default().store(0))]), 1.0);
        let last = lane.take_settled().remove(0);
        assert!(first.has_changed().is_ok() && second.has_changed().is_ok(), "its ticket does not know");
        lane.told(last.epoch, &Summary::of(1));
        assert!(first.has_changed().is_err() && second.has_changed().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn batch_that_is_too_long_is_halved_without_counting_an_attempt() {
        let now = Instant::now();
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { retry: RetryRules { attempts: 1, ..rules().retry }, ..rules() });
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
        let mut lane: Queue<usize, usize, Stored> = Queue::new(rules());
        let next = |lane: &mut Queue<usize, usize, Stored>, now| {
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
        let mut lane: Queue<usize, usize, Stored> = Queue::new(rules());
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
        let mut lane: Queue<usize, usize, Stored> = Queue::new(rules());
        for number in 0..4 {
            lane.push(entry(number, Some(&number.to_string()), 0, now));
        }
        for (batch, expected) in [vec![0, 1, 2, 3], vec![0, 1], vec![0]].into_iter().enumerate() {
            assert_eq!(polled(&mut lane, now, Cause::Starving), Some(expected));
            complete(
                &mut lane,
                now,
                batch as u64,
                Answer::TooLong(SendError::new(SendErrorKind::TooLarge)),
                1.0,
            );
        }
        assert_eq!(settled(&mut lane).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn flush_does_not_send_later_entries_early() {
        let now = Instant::now();
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
        lane.push(entry(0, None, 1, now));
        let _heard = lane.flush();
        assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
        lane.push(entry(1, None, 1, now));
        assert_eq!(dispatched(&mut lane, now), None, "the flush waits for another");
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1]));
    }
}

mod deadlines {
    //! Deadlines of entries.

    use std::collections::BTreeMap;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_entries_end_at_their_deadlines() {
        let now = Instant::now();
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { in_flight: InFlight::Fixed(1), ..rules() });
        lane.push(entry(0, Some("a"), 1, now));
        assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
        for (number, group) in [(1, "a"), (2, "b"), (3, "c")] {
            lane.push(entry(
                number,
                Some(group),
                1,
                now + Duration::from_secs(u64::try_from(number).unwrap()),
            ));
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
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { in_flight: InFlight::Fixed(1), ..rules() });
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
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { in_flight: InFlight::Fixed(1), ..rules() });
        lane.push(entry(0, Some("a"), 0, now));
        assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
        let error =
            SendError::new(SendErrorKind::Request).of_entry(true, false).explained("slow down".into());
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
            .map(|(item, error)| (item, (error.kind(), error.message(), error.is_outcome_unknown())))
            .collect();
        let tried = (SendErrorKind::Timeout, Some("slow down"), true);
        assert_eq!(told, [(0, tried), (3, (SendErrorKind::Timeout, None, false))].into());
    }

    #[tokio::test(start_paused = true)]
    async fn linger_leaves_half_of_the_delivery_timeout_for_retries() {
        let now = Instant::now();
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { linger: Linger::Fixed(TIMEOUT * 30), ..rules() });
        lane.push(entry(0, None, 1, now));
        assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + TIMEOUT / 2)));
        assert_eq!(dispatched(&mut lane, now + TIMEOUT / 2), Some(vec![0]));
    }

    #[tokio::test(start_paused = true)]
    async fn nearest_deadline_wakes_the_lane_whatever_else_it_waits_for() {
        let now = Instant::now();
        let soon = now + Duration::from_secs(1);
        let urgent = |number, group| Pending { deadline: soon, ..entry(number, group, 1, now) };
        let mut lane: Queue<usize, usize, Stored> = Queue::new(rules());
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
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { linger: Linger::Fixed(TIMEOUT / 4), ..rules() });
        lane.push(entry(0, Some("handle"), 0, now));
        assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(now + TIMEOUT / 4)));
        assert_eq!(lane.merge(&key, soon), Some((&mut Some(0), &mut 0)));
        let half = now + Duration::from_secs(3);
        assert_eq!(lane.poll(now, Cause::Other), Step::Wait(Some(half)));
        assert_eq!(dispatched(&mut lane, half), Some(vec![0]));

        assert_eq!(lane.merge(&key, now + Duration::from_secs(4)), None, "it is in flight");
    }
}

mod order {
    //! Entries with a key.

    use std::collections::BTreeMap;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn arrivals_join_the_open_batch_that_has_their_group() {
        let now = Instant::now();
        for (ordering, first) in [(FifoOrdering::Grouped, vec![0, 1, 2]), (FifoOrdering::Strict, vec![0, 1])]
        {
            let mut lane = Queue::new(Rules { ordering, linger: Linger::Fixed(LINGER), ..rules() });
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
        let mut lane = Queue::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
        for number in 0..4 {
            lane.push(entry(number, Some("g"), 1, now));
        }
        assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1, 2, 3]));
        lane.push(entry(4, Some("g"), 1, now));
        let mut queue = Service::default();
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
        let mut lane = Queue::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
        lane.push(entry(0, Some("g"), 1, now));
        lane.push(entry(1, Some("g"), 1, now));
        assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1]));
        let mut queue = Service::default();
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
        let mut lane = Queue::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
        lane.push(entry(0, Some("g"), 1, now));
        lane.push(entry(1, Some("g"), 1, now));
        assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1]));
        let mut queue = Service::default();
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
        let mut lane: Queue<usize, usize, Stored> = Queue::new(rules());
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
        let mut lane: Queue<usize, usize, Stored> =
            Queue::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
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
        assert_eq!(
            (ended.kind(), lane.is_idle()),
            (SendErrorKind::Superseded, true),
            "it is not tried again"
        );
        lane.push(entry(2, Some("handle"), 0, now));
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![2]));
        lane.abort();
        let aborted = settled_with(&mut lane, |_| None).pop().unwrap();
        assert!(aborted.result.unwrap_err().is_outcome_unknown() && lane.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn run_whose_entries_expire_together_keeps_one_place() {
        let now = Instant::now();
        let mut lane: Queue<usize, usize, Stored> = Queue::new(Rules {
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
        let mut queue = Service::default();
        let answers = (10..20).map(|number| Ok(queue.store(number))).collect();
        complete(&mut lane, now + TIMEOUT, 0, Answer::Entries(answers), 1.0);
        assert!(matches!(
            lane.poll(now + TIMEOUT, Cause::Starving),
            Step::Dispatch(Dispatch { number: 1, .. })
        ));
    }

    #[tokio::test(start_paused = true)]
    async fn abort_leaves_no_group_behind() {
        let now = Instant::now();
        for is_in_flight in [false, true] {
            let mut lane: Queue<usize, usize, Stored> =
                Queue::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
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
        let mut lane: Queue<usize, usize, Stored> = Queue::new(rules());
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
            let mut lane: Queue<usize, usize, Stored> = Queue::new(Rules { after_failure, ..rules() });
            for (number, group) in [(0, Some("g")), (1, Some("g")), (2, Some("g")), (3, None)] {
                lane.push(entry(number, group, 1, now));
            }
            assert_eq!(dispatched(&mut lane, now), Some(vec![0, 3]));
            lane.fail_batch(0, &SendError::new(SendErrorKind::Request));
            lane.release_slot(0);
            let told: BTreeMap<_, _> =
                settled_with(&mut lane, |item| (![0, 3].contains(&item)).then_some(item))
                    .into_iter()
                    .map(|settled| (settled.item, settled.result.unwrap_err()))
                    .collect();
            assert!(told.keys().eq(ended), "{told:?}");
            for number in [0, 3] {
                assert_eq!(
                    (told[&number].kind(), told[&number].is_outcome_unknown()),
                    (SendErrorKind::Request, true)
                );
            }
            lane.push(entry(4, Some("g"), 1, now));
            assert_eq!(dispatched(&mut lane, now), Some(vec![next]), "the group may go");
        }
    }
}

mod schedules {
    //! Random schedules of lanes, a failing service and interfering users. Each entry ends once, limits hold, groups stay
    //! in order, and no entry waits without a reason.

    use std::collections::{BTreeMap, BTreeSet};

    use fastrand::Rng;
    use proptest::prelude::*;

    use super::*;

    /// A schedule: a random order of arrivals, responses, time and user actions, derived from the seed.
    #[derive(Clone, Debug)]
    struct Schedule {
        seed: u64,
        groups: usize,
        count: usize,
        failures: f64,
        ordering: FifoOrdering,
        after_failure: AfterFailure,
        linger: Linger,
        max_bytes: usize,
        /// From admission to deadline.
        timeout: Duration,
        /// How often, of 1,000 turns, users flush, abort, supersede or merge.
        unrest: u32,
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        let ordering = prop_oneof![Just(FifoOrdering::Strict), Just(FifoOrdering::Grouped)];
        let after = prop_oneof![Just(AfterFailure::FailGroup), Just(AfterFailure::Continue)];
        let linger = prop_oneof![
            Just(Linger::default()),
            Just(Linger::Fixed(LINGER)),
            Just(Linger::Fixed(TIMEOUT * 10)),
            Just(Linger::Fixed(Duration::ZERO))
        ];
        let timeout = prop_oneof![Just(TIMEOUT), (50..400_u64).prop_map(Duration::from_millis)];
        let way = (any::<u64>(), 0..6_usize, 1..80_usize, 0.0..0.6, 0..60_u32);
        (way, ordering, after, linger, 300..4000_usize, timeout).prop_map(
            |(
                (seed, groups, count, failures, unrest),
                ordering,
                after_failure,
                linger,
                max_bytes,
                timeout,
            )| {
                Schedule {
                    seed,
                    groups,
                    count,
                    failures,
                    ordering,
                    after_failure,
                    linger,
                    max_bytes,
                    timeout,
                    unrest,
                }
            },
        )
    }

    /// The outcome of a schedule.
    struct Outcome {
        results: BTreeMap<usize, Result<Stored, SendError>>,
        queue: Service,
        group_of: HashMap<usize, usize>,
    }

    /// A batch in flight, with the data that its request has.
    struct Away {
        number: u64,
        batch: Vec<usize>,
        loads: Vec<usize>,
    }

    /// A schedule that is being run.
    struct Play<'a> {
        schedule: &'a Schedule,
        rng: Rng,
        lane: Queue<usize, usize, Stored>,
        now: Instant,
        outcome: Outcome,
        flying: Vec<Away>,
        /// The loads of entries that others were merged into, each with the number of the last.
        loads: HashMap<usize, usize>,
        /// Entries that were in flight when their batch was abandoned. The request has their loads.
        gone: BTreeSet<usize>,
        /// Entries that were superseded in flight, so they must not be sent again.
        superseded: BTreeSet<usize>,
        pushed: usize,
        /// Entries that were merged into others.
        merged: BTreeSet<usize>,
        /// Unresolved flushes. Each waits for all numbers below this one.
        flushes: Vec<(usize, watch::Receiver<Summary>)>,
    }

    /// Runs a schedule until all entries have ended.
    fn play(schedule: &Schedule) -> Outcome {
        let limits = BatchLimits::default().bytes(schedule.max_bytes);
        let Schedule { ordering, after_failure, linger, .. } = *schedule;
        let rules = Rules { limits, linger, ordering, after_failure, ..rules() };
        let (results, queue, group_of) = (BTreeMap::new(), Service::default(), HashMap::new());
        let mut play = Play {
            schedule,
            rng: Rng::with_seed(schedule.seed),
            lane: Queue::new(rules),
            now: Instant::now(),
            outcome: Outcome { results, queue, group_of },
            flying: Vec::new(),
            loads: HashMap::new(),
            gone: BTreeSet::new(),
            superseded: BTreeSet::new(),
            pushed: 0,
            merged: BTreeSet::new(),
            flushes: Vec::new(),
        };
        for _ in 0..100_000 {
            play.turn();
            if play.outcome.results.len() + play.merged.len() == schedule.count {
                assert!(play.lane.is_idle() && play.flying.is_empty() && play.flushes.is_empty());
                return play.outcome;
            }
        }
        panic!("{} of {} entries ended", play.outcome.results.len(), schedule.count);
    }

    impl Play<'_> {
        fn turn(&mut self) {
            let arrives = self.pushed < self.schedule.count && self.rng.u8(..) < 120;
            if arrives {
                self.push();
            }
            if self.rng.u32(..1000) < self.schedule.unrest {
                self.disturb();
            }
            let mut wait = None;
            while self.pushed == self.schedule.count || self.rng.bool() {
                let cause = match self.rng.u8(..) {
                    ..10 => Cause::Starving,
                    10..60 => Cause::Answer,
                    _ => Cause::Other,
                };
                match self.lane.poll(self.now, cause) {
                    Step::Dispatch(batch) => self.dispatch(batch),
                    Step::Wait(until) => {
                        self.check_wait(until);
                        wait = until;
                        break;
                    }
                }
            }
            if !self.flying.is_empty() && self.rng.u8(..) < 150 {
                self.answer();
            } else {
                let step = Duration::from_millis(self.rng.u64(..30));
                self.now = wait.filter(|_| self.flying.is_empty()).unwrap_or(self.now + step);
            }
            self.settle();
        }

        fn dispatch(&mut self, Dispatch { number, loads, .. }: Dispatch<usize>) {
            let batch: Vec<_> = in_flight(&self.lane, number).map(|pending| pending.item).collect();
            assert!(
                batch.iter().map(|item| self.loads.get(item).unwrap_or(item)).eq(&loads),
                "{batch:?} {loads:?}"
            );
            check_batch(&self.lane, number, self.schedule, &self.flying, &self.outcome.group_of);
            assert!(
                batch.iter().all(|number| !self.superseded.contains(number)),
                "it was superseded in flight"
            );
            self.flying.push(Away { number, batch, loads });
            if self.rng.u32(..100) < self.schedule.unrest {
                self.disturb();
            }
        }

        fn group(&mut self) -> Option<usize> {
            (self.schedule.groups > 0).then(|| self.rng.usize(..self.schedule.groups))
        }

        fn push(&mut self) {
            let (number, group) = (self.pushed, self.group());
            self.outcome.group_of.extend(group.map(|group| (number, group)));
            let key = group.map(|group| group.to_string());
            let bytes = self.rng.usize(1..=310);
            let deadline = self.now + self.schedule.timeout;
            self.lane.push(Pending { deadline, ..entry(number, key.as_deref(), bytes, self.now) });
            self.pushed += 1;
        }

        /// Other actions of users, and requests that are lost with their loads.
        fn disturb(&mut self) {
            let group = self.group();
            let key = group.map(|group| Key::from(group.to_string()));
            match (self.rng.u8(..6), key) {
                (0 | 1, _) => {
                    let all_ended = self.unsettled(self.pushed) == 0;
                    let heard = self.lane.flush();
                    assert_eq!(heard.is_none(), all_ended);
                    self.flushes.extend(heard.map(|heard| (self.pushed, heard)));
                }
                (2, _) => {
                    for away in std::mem::take(&mut self.flying) {
                        self.lose(&away.batch);
                        self.lane.release_slot(away.number);
                    }
                    self.lane.abort();
                }
                (3, Some(key)) => {
                    self.lane.supersede(&key);
                    let in_flight = self.flying.iter().flat_map(|away| &away.batch);
                    let of_key = |number: &&usize| self.outcome.group_of.get(*number) == group.as_ref();
                    self.superseded.extend(in_flight.filter(of_key));
                }
                (4, Some(key)) => {
                    let has_more = self.pushed < self.schedule.count;
                    if has_more
                        && let Some((load, item)) = self.lane.merge(&key, self.now + self.schedule.timeout)
                    {
                        *load = Some(self.pushed);
                        self.loads.insert(*item, self.pushed);
                        self.merged.insert(self.pushed);
                        self.pushed += 1;
                    }
                }
                (5, _) if !self.flying.is_empty() => {
                    let away = self.flying.swap_remove(self.rng.usize(..self.flying.len()));
                    self.lose(&away.batch);
                    self.lane.fail_batch(away.number, &SendError::new(SendErrorKind::Aborted));
                    self.lane.release_slot(away.number);
                }
                _ => {}
            }
        }

        /// Notes the entries of an abandoned batch, whose outcomes are unknown.
        fn lose(&mut self, batch: &[usize]) {
            for number in batch {
                drop(self.rng.bool().then(|| self.outcome.queue.store(*number)));
            }
            self.gone.extend(batch);
        }

        fn answer(&mut self) {
            let Away { number, batch, loads } = self.flying.swap_remove(self.rng.usize(..self.flying.len()));
            let answer = if self.rng.f64() < self.schedule.failures / 10.0 {
                Answer::TooLong(SendError::new(SendErrorKind::TooLarge))
            } else {
                self.outcome.queue.answer(&batch, &mut self.rng, self.schedule.failures)
            };
            self.lane.complete(self.now, number, answer, loads, self.rng.f64());
            self.lane.release_slot(number);
        }

        /// How many entries below a number have not ended.
        fn unsettled(&self, below: usize) -> usize {
            let ended =
                |number: &usize| self.outcome.results.contains_key(number) || self.merged.contains(number);
            (0..below).filter(|number| !ended(number)).count()
        }

        /// Each entry ends once. A flush resolves when all entries before it have ended, and not earlier.
        fn settle(&mut self) {
            let load_of = |item| {
                let load = self.loads.get(&item).copied().unwrap_or(item);
                (!self.gone.contains(&item)).then_some(load)
            };
            for settled in settled_with(&mut self.lane, load_of) {
                if self.gone.contains(&settled.item) {
                    let error = settled.result.as_ref().unwrap_err();
                    assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Aborted, true));
                }
                let before = self.outcome.results.insert(settled.item, settled.result);
                assert!(before.is_none(), "an entry ended twice");
            }
            let flushes = std::mem::take(&mut self.flushes);
            for (below, heard) in flushes {
                let is_done = heard.has_changed().is_err();
                assert_eq!(is_done, self.unsettled(below) == 0);
                if !is_done {
                    self.flushes.push((below, heard));
                }
            }
        }

        /// Slots are limited, no wait exceeds the first deadline, and no lane waits without a reason.
        fn check_wait(&mut self, until: Option<Instant>) {
            let deadlines = [self.lane.open.first_deadline(), self.lane.backlog.first_deadline()];
            if let Some(first) = deadlines.into_iter().flatten().min() {
                assert!(until.is_some_and(|until| until <= first), "a deadline wakes nobody");
                let has_reason = !self.flying.is_empty() || self.lane.open.since().is_some();
                assert!(has_reason || self.lane.backlog.next_wake().is_some(), "an entry has no place");
            }
            let Some(since) = self.lane.open.since() else { return };
            // A lane with failing batches waits for its back-off, and has one batch in flight.
            if let Some(pause) = self.lane.health.pause(self.now) {
                assert!(
                    until.is_some_and(|until| until <= pause),
                    "the lane does not wake at the end of the back-off"
                );
                return;
            }
            let most = if self.lane.health.is_poor() { 1 } else { 5 };
            if self.flying.len() >= most {
                return;
            }
            let (Linger::Fixed(linger) | Linger::Adaptive { max: linger }) = self.schedule.linger;
            let latest = since + linger.min(self.schedule.timeout);
            assert!(until.is_some_and(|until| until <= latest) && self.now < latest, "it lingers too long");
        }
    }

    fn check_batch(
        lane: &Queue<usize, usize, Stored>,
        number: u64,
        schedule: &Schedule,
        flying: &[Away],
        group_of: &HashMap<usize, usize>,
    ) {
        let batch: Vec<_> = in_flight(lane, number).collect();
        assert!((1..=10).contains(&batch.len()));
        let bytes: usize = batch.iter().map(|pending| pending.bytes).sum();
        assert!(bytes <= schedule.max_bytes || batch.len() == 1);
        assert!(flying.len() < 5);
        let groups = |batch: &[usize]| {
            batch.iter().filter_map(|number| group_of.get(number)).copied().collect::<Vec<_>>()
        };
        let own = groups(&batch.iter().map(|pending| pending.item).collect::<Vec<_>>());
        let distinct: BTreeSet<_> = own.iter().collect();
        if schedule.ordering == FifoOrdering::Strict {
            assert_eq!(distinct.len(), own.len(), "one entry of a group in a batch");
        }
        for other in flying {
            assert!(
                groups(&other.batch).iter().all(|group| !distinct.contains(group)),
                "a group is in flight once"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// Entries end once, and only what SQS stored is accepted. Accepted entries of a group are in order.
        #[test]
        fn entries_end_once_and_accepted_ones_of_a_group_are_in_order(schedule in schedules()) {
            let outcome = play(&schedule);
            let place = |number: &usize| outcome.queue.stored.iter().position(|stored| stored == number);
            let mut last: HashMap<usize, usize> = HashMap::new();
            for (number, result) in &outcome.results {
                let Ok(receipt) = result else {
                    let error = result.as_ref().unwrap_err();
                    // An entry that failed may be stored only if the lane could not know.
                    prop_assert!(place(number).is_none() || error.is_outcome_unknown(), "{number}: {error}");
                    prop_assert!(schedule.ordering == FifoOrdering::Grouped
                        || !matches!(error.kind(), SendErrorKind::OrderGap | SendErrorKind::OutOfOrder));
                    continue;
                };
                let place = place(number).expect("accepted entries are stored");
                prop_assert_eq!(receipt.sequence, place as u128);
                if let Some(group) = outcome.group_of.get(number) {
                    let before = last.insert(*group, place);
                    prop_assert!(before.is_none_or(|before| before < place), "{number} of group {group}");
                }
            }
        }
    }

    /// The batches of entries of these sizes that arrive at once.
    fn batches_of(sizes: &[usize], limits: BatchLimits) -> Vec<Vec<usize>> {
        let now = Instant::now();
        let mut lane: Queue<usize, usize, Stored> = Queue::new(Rules {
            limits,
            linger: Linger::Fixed(LINGER),
            in_flight: InFlight::Fixed(usize::MAX),
            ..rules()
        });
        let mut batches: Vec<Vec<usize>> = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            lane.push(entry(number, None, *size, now));
            batches.extend(dispatched(&mut lane, now));
        }
        // Retried entries do not shorten the linger.
        complete(&mut lane, now, 0, Answer::Entries(Vec::new()), 1.0);
        batches.extend(std::iter::from_fn(|| dispatched(&mut lane, now)));
        batches.extend(dispatched(&mut lane, now + LINGER));
        batches
    }

    #[tokio::test(start_paused = true)]
    async fn batch_with_all_its_bytes_is_sent_at_once() {
        let limits = BatchLimits::default().entries(4).bytes(943);
        let batches = batches_of(&[450, 81, 413, 198, 332, 0], limits);
        assert_eq!(batches, [vec![0, 1], vec![2, 3, 4], vec![5]], "messages without a size do not exist");
    }

    proptest! {
        /// No entry is lost and the order is kept. If a batch has bytes left, the first entry of the next one does not fit
        /// into it.
        #[test]
        fn batches_under_load_are_as_full_as_their_order_allows(
            sizes in prop::collection::vec(0_usize..500, 1..200),
            max_entries in 1_usize..=10,
            max_bytes in 1_usize..1_000,
        ) {
            let batches = batches_of(&sizes, BatchLimits::default().entries(max_entries).bytes(max_bytes));
            prop_assert_eq!(batches.concat(), (0..sizes.len()).collect::<Vec<_>>());
            let bytes = |batch: &[usize]| batch.iter().map(|number| sizes[*number]).sum::<usize>();
            for batch in &batches {
                prop_assert!(batch.len() <= max_entries && (bytes(batch) <= max_bytes || batch.len() == 1));
            }
            for pair in batches.windows(2) {
                let (entries, own) = (pair[0].len() + 1, bytes(&pair[0]));
                let is_full = own >= max_bytes || own + sizes[pair[1][0]] > max_bytes;
                prop_assert!(entries > max_entries || is_full);
            }
        }
    }
}
