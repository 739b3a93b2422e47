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
        |((seed, groups, count, failures, unrest), ordering, after_failure, linger, max_bytes, timeout)| {
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
    queue: Queue,
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
    lane: Lane<usize, usize, Stored>,
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
    flushes: Vec<(usize, oneshot::Receiver<Summary>)>,
}

/// Runs a schedule until all entries have ended.
fn play(schedule: &Schedule) -> Outcome {
    let limits = BatchLimits::default().bytes(schedule.max_bytes);
    let Schedule { ordering, after_failure, linger, .. } = *schedule;
    let rules = Rules { limits, linger, ordering, after_failure, ..rules() };
    let (results, queue, group_of) = (BTreeMap::new(), Queue::default(), HashMap::new());
    let mut play = Play {
        schedule,
        rng: Rng::with_seed(schedule.seed),
        lane: Lane::new(rules),
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
        assert!(batch.iter().all(|number| !self.superseded.contains(number)), "it was superseded in flight");
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
                    self.lane.release_slot();
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
                self.lane.release_slot();
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
        self.lane.release_slot();
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
                assert_eq!((error.kind(), error.is_maybe_sent()), (SendErrorKind::Aborted, true));
            }
            let before = self.outcome.results.insert(settled.item, settled.result);
            assert!(before.is_none(), "an entry ended twice");
        }
        let flushes = std::mem::take(&mut self.flushes);
        for (below, mut heard) in flushes {
            let is_done = heard.try_recv().is_ok();
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
    lane: &Lane<usize, usize, Stored>,
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
    let groups =
        |batch: &[usize]| batch.iter().filter_map(|number| group_of.get(number)).copied().collect::<Vec<_>>();
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

/// The batches of entries of these sizes that arrive at once.
fn batches_of(sizes: &[usize], limits: BatchLimits) -> Vec<Vec<usize>> {
    let now = Instant::now();
    let mut lane: Lane<usize, usize, Stored> = Lane::new(Rules {
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
