//! A lane against a service that fails at random: each entry ends once, limits hold, groups stay in order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use fastrand::Rng;
use proptest::prelude::*;
use sqs_client::service_error::ErrorCode;

use super::*;
use crate::batch::BatchLimits;

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
        in_flight: 5,
        ordering: FifoOrdering::Strict,
        after_failure: AfterFailure::FailGroup,
        retry: RetryRules {
            attempts: 4,
            first_pause: Duration::from_millis(50),
            max_pause: Duration::from_secs(5),
        },
        tells_retries: false,
    }
}

fn entry(number: usize, key: Option<&str>, bytes: usize, now: Instant) -> Pending<usize> {
    Pending::new(number, key.map(Key::from), bytes, now, now + TIMEOUT)
}

/// What has ended, told at once.
fn settled(lane: &mut Lane<usize, Stored>) -> Vec<Settled<usize, Stored>> {
    let settled = lane.take_settled();
    for settled in &settled {
        lane.told(settled.epoch, 1);
    }
    settled
}

fn refusal(is_retryable: bool) -> EntryAnswer<Stored> {
    let code = if is_retryable { ErrorCode::InternalFailure } else { ErrorCode::InvalidMessageContents };
    EntryAnswer::Refused(Refusal { kind: SendErrorKind::Rejected, code, message: None, is_retryable })
}

/// A FIFO queue: what it stores, once for each entry, in the order of its arrival.
#[derive(Default)]
struct Queue {
    stored: Vec<usize>,
    sequences: HashMap<usize, u128>,
}

impl Queue {
    fn store(&mut self, number: usize) -> Stored {
        let next = self.stored.len() as u128;
        let sequence = *self.sequences.entry(number).or_insert_with(|| {
            self.stored.push(number);
            next
        });
        Stored { sequence, id: number.to_string() }
    }

    /// Answers a batch with failures of every kind; `failures` is their share, 0 to 1.
    fn answer(&mut self, batch: &[usize], rng: &mut Rng, failures: f64) -> Answer<Stored> {
        let unlucky = |rng: &mut Rng| rng.f64() < failures;
        if unlucky(rng) {
            let is_outcome_unknown = rng.bool();
            if is_outcome_unknown && rng.bool() {
                for number in batch {
                    drop((!unlucky(rng)).then(|| self.store(*number)));
                }
            }
            let error = SendError::new(SendErrorKind::Request);
            return Answer::Failed(Failure {
                error,
                is_retryable: rng.u8(..) > 20,
                is_throttle: rng.bool(),
                is_outcome_unknown,
            });
        }
        let entries = batch.iter().map(|number| match rng.u8(..4) {
            0 if unlucky(rng) => refusal(true),
            1 if unlucky(rng) => refusal(rng.bool()),
            2 if unlucky(rng) => {
                if rng.bool() {
                    self.store(*number);
                }
                EntryAnswer::Unaccounted
            }
            _ => EntryAnswer::Accepted(self.store(*number)),
        });
        Answer::Entries(entries.collect())
    }
}

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
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let ordering = prop_oneof![Just(FifoOrdering::Strict), Just(FifoOrdering::Grouped)];
    let after = prop_oneof![Just(AfterFailure::FailGroup), Just(AfterFailure::Continue)];
    let linger = prop_oneof![
        Just(Linger::default()),
        Just(Linger::Fixed(LINGER)),
        Just(Linger::Fixed(Duration::ZERO))
    ];
    (any::<u64>(), 0..6_usize, 1..80_usize, 0.0..0.6, ordering, after, linger, 300..4000_usize).prop_map(
        |(seed, groups, count, failures, ordering, after_failure, linger, max_bytes)| Schedule {
            seed,
            groups,
            count,
            failures,
            ordering,
            after_failure,
            linger,
            max_bytes,
        },
    )
}

/// What came of a schedule.
struct Outcome {
    results: BTreeMap<usize, Result<Stored, SendError>>,
    queue: Queue,
    group_of: HashMap<usize, usize>,
}

/// Plays a schedule: pushes, answers and time pass in random order until everything has ended.
fn play(schedule: &Schedule) -> Outcome {
    let mut rng = Rng::with_seed(schedule.seed);
    let limits = BatchLimits::default().bytes(schedule.max_bytes);
    let Schedule { ordering, after_failure, linger, .. } = *schedule;
    let mut lane: Lane<usize, Stored> =
        Lane::new(Rules { limits, linger, ordering, after_failure, ..rules() });
    let mut now = Instant::now();
    let (mut results, mut group_of) = (BTreeMap::new(), HashMap::new());
    let mut queue = Queue::default();
    let mut flying: Vec<(u64, Vec<usize>)> = Vec::new();
    let mut pushed = 0;
    for _ in 0..100_000 {
        if pushed < schedule.count && rng.u8(..) < 120 {
            let group = (schedule.groups > 0).then(|| rng.usize(..schedule.groups));
            group_of.extend(group.map(|group| (pushed, group)));
            let key = group.map(|group| group.to_string());
            lane.push(entry(pushed, key.as_deref(), rng.usize(1..=300), now), false);
            pushed += 1;
        }
        let mut wait = None;
        while pushed == schedule.count || rng.bool() {
            match lane.poll(now, rng.u8(..) < 10) {
                Step::Dispatch(number) => {
                    let batch: Vec<_> = lane.batch(number).map(|pending| pending.item).collect();
                    check_batch(&lane, number, schedule, &flying, &group_of);
                    flying.push((number, batch));
                }
                Step::Wait(until) => {
                    wait = until;
                    break;
                }
            }
        }
        if !flying.is_empty() && rng.u8(..) < 150 {
            let (number, batch) = flying.swap_remove(rng.usize(..flying.len()));
            let answer = queue.answer(&batch, &mut rng, schedule.failures);
            lane.complete(now, number, answer, rng.f64());
        } else {
            now = wait.filter(|_| flying.is_empty()).unwrap_or(now + Duration::from_millis(rng.u64(..30)));
        }
        for settled in self::settled(&mut lane) {
            assert!(results.insert(settled.item, settled.result).is_none(), "an entry ended twice");
        }
        if results.len() == schedule.count {
            assert!(lane.is_idle() && flying.is_empty());
            return Outcome { results, queue, group_of };
        }
    }
    panic!("{} of {} entries never ended", schedule.count - results.len(), schedule.count);
}

fn check_batch(
    lane: &Lane<usize, Stored>,
    number: u64,
    schedule: &Schedule,
    flying: &[(u64, Vec<usize>)],
    group_of: &HashMap<usize, usize>,
) {
    let batch: Vec<_> = lane.batch(number).collect();
    assert!((1..=10).contains(&batch.len()));
    assert!(batch.iter().map(|pending| pending.bytes).sum::<usize>() <= schedule.max_bytes);
    assert!(flying.len() < 5);
    let groups =
        |batch: &[usize]| batch.iter().filter_map(|number| group_of.get(number)).copied().collect::<Vec<_>>();
    let own = groups(&batch.iter().map(|pending| pending.item).collect::<Vec<_>>());
    let distinct: BTreeSet<_> = own.iter().collect();
    if schedule.ordering == FifoOrdering::Strict {
        assert_eq!(distinct.len(), own.len(), "one entry of a group in a batch");
    }
    for (_, other) in flying {
        assert!(groups(other).iter().all(|group| !distinct.contains(group)), "a group is in flight once");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// I1, I2, I6 and I7.
    #[test]
    fn entries_end_once_and_accepted_ones_of_a_group_are_in_order(schedule in schedules()) {
        let outcome = play(&schedule);
        let place = |number: &usize| outcome.queue.stored.iter().position(|stored| stored == number);
        let mut last: HashMap<usize, usize> = HashMap::new();
        for (number, result) in &outcome.results {
            let Ok(receipt) = result else {
                let error = result.as_ref().unwrap_err();
                // What was stored although it failed may be so only because nobody could know.
                prop_assert!(place(number).is_none() || error.is_maybe_sent(), "{number}: {error}");
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

fn dispatched(lane: &mut Lane<usize, Stored>, now: Instant) -> Option<Vec<usize>> {
    match lane.poll(now, false) {
        Step::Dispatch(number) => Some(lane.batch(number).map(|pending| pending.item).collect()),
        Step::Wait(_) => None,
    }
}

#[tokio::test(start_paused = true)]
async fn lone_entry_goes_at_once_and_the_next_waits_for_company_or_an_answer() {
    let (now, mut lane) = (Instant::now(), Lane::new(rules()));
    lane.push(entry(0, None, 1, now), false);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(entry(1, None, 1, now), false);
    assert_eq!(lane.poll(now, false), Step::Wait(Some(now + LINGER)));
    lane.push(entry(2, None, 1, now + LINGER / 2), false);
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1, 2]), "the wait is not begun anew");
    lane.push(entry(3, None, 1, now + LINGER), false);
    assert_eq!(dispatched(&mut lane, now + LINGER), None);
    lane.complete(
        now + LINGER,
        0,
        Answer::Entries(vec![EntryAnswer::Accepted(Queue::default().store(0))]),
        1.0,
    );
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![3]), "an answer came");
}

#[tokio::test(start_paused = true)]
async fn fixed_linger_fills_batches_and_starvation_cuts_it_short() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    for number in 0..13 {
        lane.push(entry(number, None, 1, now), false);
    }
    assert_eq!(dispatched(&mut lane, now), Some((0..10).collect()));
    assert_eq!(dispatched(&mut lane, now), None);
    assert_eq!(lane.poll(now, true), Step::Dispatch(1));
}

#[tokio::test(start_paused = true)]
async fn flush_hears_when_all_that_was_admitted_before_it_has_ended() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    assert!(lane.flush().is_none(), "there is nothing to wait for");
    lane.push(entry(0, None, 1, now), false);
    let mut first = lane.flush().unwrap();
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(entry(1, None, 1, now), false);
    let mut second = lane.flush().unwrap();
    assert_eq!(dispatched(&mut lane, now), Some(vec![1]));
    lane.complete(now, 1, Answer::Entries(vec![EntryAnswer::Accepted(Queue::default().store(1))]), 1.0);
    assert_eq!(settled(&mut lane).len(), 1);
    assert!(first.try_recv().is_err() && second.try_recv().is_err());
    lane.complete(now, 0, Answer::Entries(vec![EntryAnswer::Accepted(Queue::default().store(0))]), 1.0);
    let last = lane.take_settled().remove(0);
    assert!(first.try_recv().is_err() && second.try_recv().is_err(), "its ticket does not know");
    lane.told(last.epoch, 1);
    assert!(first.try_recv().is_ok() && second.try_recv().is_ok());
}

#[tokio::test(start_paused = true)]
async fn batch_that_is_too_long_is_halved_and_costs_no_attempt() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> =
        Lane::new(Rules { retry: RetryRules { attempts: 1, ..rules().retry }, ..rules() });
    for number in 0..8 {
        lane.push(entry(number, None, 100, now), false);
    }
    assert_eq!(lane.poll(now, true), Step::Dispatch(0));
    lane.complete(now, 0, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1, 2, 3]));
    assert_eq!(dispatched(&mut lane, now), Some(vec![4, 5, 6, 7]));
    lane.push(entry(8, None, 100, now), false);
    lane.complete(
        now,
        1,
        Answer::Failed(Failure {
            error: SendError::new(SendErrorKind::Request),
            is_retryable: false,
            is_throttle: false,
            is_outcome_unknown: false,
        }),
        1.0,
    );
    assert_eq!(dispatched(&mut lane, now), Some(vec![8]));
    lane.complete(now, 3, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    let last = settled(&mut lane).pop().unwrap();
    assert_eq!((last.item, last.result.unwrap_err().kind()), (8, SendErrorKind::TooLarge));
}

#[tokio::test(start_paused = true)]
async fn refused_entry_that_a_later_one_of_its_group_overtook_is_not_sent_again() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
    for number in 0..4 {
        lane.push(entry(number, Some("g"), 1, now), false);
    }
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1, 2, 3]));
    lane.push(entry(4, Some("g"), 1, now), false);
    let mut queue = Queue::default();
    let answers = vec![
        EntryAnswer::Accepted(queue.store(0)),
        refusal(true),
        EntryAnswer::Accepted(queue.store(2)),
        refusal(true),
    ];
    lane.complete(now, 0, Answer::Entries(answers), 1.0);
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
async fn entry_that_may_be_stored_behind_a_later_one_says_so() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
    lane.push(entry(0, Some("g"), 1, now), false);
    lane.push(entry(1, Some("g"), 1, now), false);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1]));
    let mut queue = Queue::default();
    let answers = vec![EntryAnswer::Unaccounted, EntryAnswer::Accepted(queue.store(1))];
    lane.complete(now, 0, Answer::Entries(answers), 1.0);
    let later = now + Duration::from_millis(50);
    assert_eq!(dispatched(&mut lane, later), Some(vec![0]));
    lane.complete(later, 1, Answer::Entries(vec![EntryAnswer::Accepted(queue.store(0))]), 1.0);
    let error = settled(&mut lane).pop().unwrap().result.unwrap_err();
    assert_eq!((error.kind(), error.message_id()), (SendErrorKind::OutOfOrder, Some("0")));
}

#[tokio::test(start_paused = true)]
async fn entry_that_was_stored_at_its_place_is_accepted_although_a_later_one_was_so_before() {
    let now = Instant::now();
    let mut lane = Lane::new(Rules { ordering: FifoOrdering::Grouped, ..rules() });
    lane.push(entry(0, Some("g"), 1, now), false);
    lane.push(entry(1, Some("g"), 1, now), false);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0, 1]));
    let mut queue = Queue::default();
    queue.store(0);
    let answers = vec![EntryAnswer::Unaccounted, EntryAnswer::Accepted(queue.store(1))];
    lane.complete(now, 0, Answer::Entries(answers), 1.0);
    let later = now + Duration::from_millis(50);
    assert_eq!(dispatched(&mut lane, later), Some(vec![0]));
    lane.complete(later, 1, Answer::Entries(vec![EntryAnswer::Accepted(queue.store(0))]), 1.0);
    assert_eq!(settled(&mut lane).pop().unwrap().result.unwrap().sequence, 0);
}

/// The second message is a duplicate that the user made: the service answers with the place of the first.
#[tokio::test(start_paused = true)]
async fn duplicate_of_the_user_is_no_break_of_the_order() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(rules());
    for number in 0..3 {
        lane.push(entry(number, Some("g"), 1, now), false);
    }
    let stored =
        |sequence| Answer::Entries(vec![EntryAnswer::Accepted(Stored { sequence, id: String::new() })]);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.complete(now, 0, stored(7), 1.0);
    assert_eq!(dispatched(&mut lane, now), Some(vec![1]));
    lane.complete(now, 1, Answer::Entries(Vec::new()), 1.0);
    let later = now + Duration::from_millis(50);
    assert_eq!(dispatched(&mut lane, later), Some(vec![1]));
    lane.complete(later, 2, stored(2), 1.0);
    assert!(settled(&mut lane).iter().all(|settled| settled.result.is_ok()));
}

#[tokio::test(start_paused = true)]
async fn waiting_entries_end_when_their_time_is_over() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(Rules { in_flight: 1, ..rules() });
    lane.push(entry(0, Some("a"), 1, now), false);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    for (number, group) in [(1, "a"), (2, "b"), (3, "c")] {
        lane.push(
            entry(number, Some(group), 1, now + Duration::from_secs(u64::try_from(number).unwrap())),
            false,
        );
    }
    assert_eq!(lane.poll(now, false), Step::Wait(Some(now + TIMEOUT)));
    assert_eq!(
        lane.poll(now + TIMEOUT + Duration::from_secs(2), false),
        Step::Wait(Some(now + TIMEOUT + Duration::from_secs(3)))
    );
    let late: Vec<_> = settled(&mut lane).into_iter().map(|settled| settled.item).collect();
    assert_eq!(late.len(), 2, "{late:?}");
    assert!(late.contains(&1) && late.contains(&2));
}

#[tokio::test(start_paused = true)]
async fn entry_that_waits_to_be_tried_again_is_given_up_at_its_deadline() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(Rules { in_flight: 1, ..rules() });
    let mut late = entry(0, None, 0, now);
    late.deadline = now + Duration::from_secs(20);
    lane.push(late, false);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    // While it is in flight, the last deadline of those that wait passes.
    let mut short = entry(1, None, 0, now);
    short.deadline = now + Duration::from_secs(5);
    lane.push(short, false);
    assert_eq!(dispatched(&mut lane, now + Duration::from_secs(6)), None);
    assert_eq!(settled(&mut lane).len(), 1);
    lane.complete(now + Duration::from_secs(7), 0, Answer::Entries(vec![refusal(true)]), 1.0);
    assert_eq!(dispatched(&mut lane, now + Duration::from_secs(20)), None);
    assert_eq!(settled(&mut lane).pop().unwrap().result.unwrap_err().kind(), SendErrorKind::Timeout);
}

#[tokio::test(start_paused = true)]
async fn waiting_entries_of_a_key_can_be_found_and_superseded() {
    let now = Instant::now();
    let key = Key::from("handle");
    let mut lane: Lane<usize, Stored> = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    lane.push(entry(0, Some("handle"), 0, now), false);
    assert_eq!(lane.merge(&key, now + TIMEOUT), Some(&mut 0));
    assert_eq!(dispatched(&mut lane, now), None);
    assert_eq!(lane.merge(&key, now + TIMEOUT), Some(&mut 0), "in the open batch");
    lane.supersede(&key);
    assert_eq!(settled(&mut lane).pop().unwrap().result.unwrap_err().kind(), SendErrorKind::Superseded);
    lane.push(entry(1, Some("handle"), 0, now), false);
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1]));
    assert_eq!(lane.merge(&key, now + TIMEOUT), None, "it is in flight");
    lane.supersede(&key);
    lane.complete(now + LINGER, 0, Answer::Entries(vec![refusal(true)]), 0.5);
    let ended = settled(&mut lane).pop().unwrap().result.unwrap_err();
    assert_eq!((ended.kind(), lane.is_idle()), (SendErrorKind::Superseded, true), "it is not tried again");
    lane.push(entry(2, Some("handle"), 0, now), false);
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![2]));
    lane.abort();
    let aborted = settled(&mut lane).pop().unwrap();
    assert!(aborted.result.unwrap_err().is_maybe_sent() && lane.is_idle());
}

#[tokio::test(start_paused = true)]
async fn run_whose_entries_expire_together_keeps_one_place() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(Rules {
        ordering: FifoOrdering::Grouped,
        after_failure: AfterFailure::Continue,
        linger: Linger::Fixed(TIMEOUT * 2),
        ..rules()
    });
    for number in 0..20 {
        lane.push(entry(number, Some("g"), 1, now + TIMEOUT * u32::from(number > 9)), false);
    }
    // Those of the open batch are late, and the others get one place in the line.
    assert_eq!(dispatched(&mut lane, now + TIMEOUT), Some((10..20).collect()));
    assert_eq!(settled(&mut lane).len(), 10);
    lane.push(entry(20, Some("g"), 1, now + TIMEOUT), true);
    assert!(matches!(lane.poll(now + TIMEOUT, true), Step::Wait(_)), "its group is in flight");
    let mut queue = Queue::default();
    let answers = (10..20).map(|number| EntryAnswer::Accepted(queue.store(number))).collect();
    lane.complete(now + TIMEOUT, 0, Answer::Entries(answers), 1.0);
    assert_eq!(lane.poll(now + TIMEOUT, true), Step::Dispatch(1));
}

#[tokio::test(start_paused = true)]
async fn abort_leaves_no_group_behind() {
    let now = Instant::now();
    for is_in_flight in [false, true] {
        let mut lane: Lane<usize, Stored> = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
        lane.push(entry(0, Some("g"), 1, now), false);
        assert_eq!(dispatched(&mut lane, now + LINGER * u32::from(is_in_flight)).is_some(), is_in_flight);
        lane.push(entry(1, Some("g"), 1, now), false);
        lane.abort();
        assert_eq!(settled(&mut lane).len(), 2);
        lane.push(entry(2, Some("g"), 1, now), false);
        assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![2]));
    }
}

#[tokio::test(start_paused = true)]
async fn newer_entry_of_a_key_has_its_own_deadline_and_attempts() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(rules());
    let mut first = entry(0, Some("handle"), 0, now);
    first.deadline = now + Duration::from_secs(10);
    lane.push(first, false);
    let mut later = now;
    for number in 0..3 {
        assert_eq!(dispatched(&mut lane, later), Some(vec![0]));
        lane.complete(later, number, Answer::Entries(vec![refusal(true)]), 1.0);
        later += Duration::from_secs(3);
    }
    *lane.merge(&Key::from("handle"), now + TIMEOUT).unwrap() = 1;
    later += Duration::from_secs(10);
    assert_eq!(dispatched(&mut lane, later), Some(vec![1]), "the old deadline has passed");
    lane.complete(later, 3, Answer::Entries(vec![refusal(true)]), 1.0);
    assert_eq!(settled(&mut lane).len(), 0, "it has attempts left");
}

#[tokio::test(start_paused = true)]
async fn batch_that_failed_comes_back_as_one_in_its_order() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(rules());
    for number in 0..10 {
        lane.push(entry(number, None, 1, now), false);
    }
    assert_eq!(dispatched(&mut lane, now), Some((0..10).collect()));
    lane.complete(now, 0, Answer::Entries((0..10).map(|_| refusal(true)).collect()), 0.5);
    let Step::Wait(Some(until)) = lane.poll(now, true) else { panic!("there is a pause") };
    assert_eq!(dispatched(&mut lane, until), Some((0..10).collect()));
}

#[tokio::test(start_paused = true)]
async fn entries_without_size_that_are_too_long_are_halved_too() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(rules());
    for number in 0..4 {
        lane.push(entry(number, Some(&number.to_string()), 0, now), false);
    }
    for (batch, expected) in [vec![0, 1, 2, 3], vec![0, 1], vec![0]].into_iter().enumerate() {
        assert_eq!(lane.poll(now, true), Step::Dispatch(batch as u64));
        let sent: Vec<_> = lane.batch(batch as u64).map(|pending| pending.item).collect();
        assert_eq!(sent, expected);
        lane.complete(now, batch as u64, Answer::TooLong(SendError::new(SendErrorKind::TooLarge)), 1.0);
    }
    assert_eq!(settled(&mut lane).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn flush_presses_nothing_that_came_after_it() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(Rules { linger: Linger::Fixed(LINGER), ..rules() });
    lane.push(entry(0, None, 1, now), false);
    let _heard = lane.flush();
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    lane.push(entry(1, None, 1, now), false);
    assert_eq!(dispatched(&mut lane, now), None, "the flush waits for another");
    assert_eq!(dispatched(&mut lane, now + LINGER), Some(vec![1]));
}

#[tokio::test(start_paused = true)]
async fn linger_leaves_half_of_the_time_for_failures() {
    let now = Instant::now();
    let mut lane: Lane<usize, Stored> = Lane::new(Rules { linger: Linger::Fixed(TIMEOUT * 30), ..rules() });
    lane.push(entry(0, None, 1, now), false);
    assert_eq!(lane.poll(now, false), Step::Wait(Some(now + TIMEOUT / 2)));
    assert_eq!(dispatched(&mut lane, now + TIMEOUT / 2), Some(vec![0]));
}

#[tokio::test(start_paused = true)]
async fn nearest_deadline_wakes_the_lane_whatever_else_it_waits_for() {
    let now = Instant::now();
    let soon = now + Duration::from_secs(1);
    let urgent = |number, group| Pending { deadline: soon, ..entry(number, group, 1, now) };
    let mut lane: Lane<usize, Stored> = Lane::new(rules());
    lane.push(entry(0, Some("g"), 1, now), false);
    assert_eq!(dispatched(&mut lane, now), Some(vec![0]));
    assert!(lane.push(urgent(1, Some("g")), false), "the lane is to look at it");
    assert_eq!(lane.poll(now, false), Step::Wait(Some(soon)), "its group is in flight");
    assert_eq!((dispatched(&mut lane, soon), settled(&mut lane).len()), (None, 1));
    assert_eq!(lane.poll(soon, false), Step::Wait(None));
}
