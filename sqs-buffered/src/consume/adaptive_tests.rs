use std::collections::BTreeSet;

use super::*;

/// A service behind the handlers: requests take `time` while at most `capacity` run, and proportionally longer beyond
/// that. Above `refuses_above`, a request is refused after a millisecond.
#[derive(Clone, Copy)]
struct Downstream {
    time: Duration,
    capacity: f64,
    refuses_above: usize,
}

/// Handlers that always have messages, in virtual time.
struct Simulation {
    limit: AdaptiveLimit,
    start: Instant,
    now: Instant,
    running: BTreeSet<(Instant, u64, Instant, bool)>,
    number: u64,
    refused: u64,
    done: u64,
}

impl Simulation {
    fn new(min: usize, max: usize) -> Self {
        let (start, running) = (Instant::now(), BTreeSet::new());
        let limit = AdaptiveLimit::new(min, max);
        Self { limit, start, now: start, running, number: 0, refused: 0, done: 0 }
    }

    /// Runs for this many seconds, and returns the limit at the end of each.
    fn run(&mut self, downstream: Downstream, seconds: u64) -> Vec<usize> {
        let mut limits = Vec::new();
        for _ in 0..seconds {
            let end = self.now + Duration::from_secs(1);
            while self.now < end {
                self.step(downstream, end);
            }
            limits.push(self.limit.limit());
        }
        limits
    }

    fn step(&mut self, downstream: Downstream, end: Instant) {
        while self.running.len() < self.limit.limit() {
            self.number += 1;
            let running = self.running.len() + 1;
            let is_refused = running > downstream.refuses_above;
            // Up to a third more or less, because messages differ.
            let uneven = 0.67 + 0.066 * as_f64(usize::try_from(self.number * 7 % 11).unwrap());
            let load = (as_f64(running) / downstream.capacity).max(1.0);
            let time = downstream.time.mul_f64(load * uneven);
            let time = if is_refused { Duration::from_millis(1) } else { time };
            self.running.insert((self.now + time, self.number, self.now, is_refused));
        }
        let first = *self.running.first().expect("the least is one");
        if first.0 > end {
            self.now = end;
            return;
        }
        let (at, _, began, is_refused) = first;
        self.now = self.now.max(at);
        let how = if is_refused { HandlerEnd::Overloaded } else { HandlerEnd::Succeeded };
        self.refused += u64::from(is_refused);
        self.done += u64::from(!is_refused);
        self.limit.ended(how, at - began, self.running.len(), self.now);
        self.running.remove(&first);
    }
}

fn downstream(millis: u64, capacity: f64) -> Downstream {
    Downstream { time: Duration::from_millis(millis), capacity, refuses_above: usize::MAX }
}

#[test]
fn limit_grows_to_what_the_downstream_can_take() {
    let mut simulation = Simulation::new(1, 1_000);
    let limits = simulation.run(downstream(50, 100.0), 30);
    let settled = &limits[20..];
    assert!(settled.iter().all(|limit| (100..=330).contains(limit)), "{limits:?}");
}

#[test]
fn limit_follows_a_downstream_that_loses_nine_tenths_of_its_capacity_and_recovers() {
    let mut simulation = Simulation::new(1, 1_000);
    let before = *simulation.run(downstream(50, 100.0), 30).last().unwrap();
    let slow = simulation.run(downstream(50, 10.0), 10);
    assert!(slow[4] <= before / 3 && slow[9] <= 60, "before {before}, slow {slow:?}");
    let recovered = simulation.run(downstream(50, 100.0), 10);
    assert!(recovered[9] >= 100, "slow {slow:?}, recovered {recovered:?}");
}

#[test]
fn limit_follows_a_downstream_that_becomes_ten_times_slower_and_recovers() {
    let mut simulation = Simulation::new(1, 60);
    let before = *simulation.run(downstream(50, 100.0), 30).last().unwrap();
    assert_eq!(before, 60);
    let slow = simulation.run(downstream(500, 100.0), 10);
    assert!(slow[4] <= before / 3, "{slow:?}");
    let recovered = simulation.run(downstream(50, 100.0), 10);
    assert!(recovered[9] >= 50, "{recovered:?}");
}

#[test]
fn limit_recovers_when_slow_handlers_become_usual() {
    let mut simulation = Simulation::new(1, 60);
    simulation.run(downstream(50, 100.0), 30);
    let limits = simulation.run(downstream(500, 100.0), 240);
    assert!(limits.last().is_some_and(|limit| *limit == 60), "{limits:?}");
}

#[test]
fn overload_halves_the_limit_once_for_all_handlers_that_ran() {
    let now = Instant::now();
    let mut limit = AdaptiveLimit::new(1, 100);
    assert_eq!(limit.limit(), 10);
    for after in 0..10 {
        let now = now + Duration::from_millis(after);
        limit.ended(HandlerEnd::Overloaded, Duration::from_millis(200), 10, now);
    }
    assert_eq!(limit.limit(), 5);
    limit.ended(HandlerEnd::Overloaded, Duration::from_millis(200), 5, now + Duration::from_millis(200));
    assert_eq!(limit.limit(), 2);
}

#[test]
fn downstream_with_a_fixed_bound_refuses_few_requests() {
    let mut simulation = Simulation::new(1, 1_000);
    let limits = simulation.run(Downstream { refuses_above: 40, ..downstream(50, 1_000.0) }, 60);
    let (refused, done) = (simulation.refused, simulation.done);
    assert!(refused * 50 < done, "{refused} of {done}: {limits:?}");
    assert!(done >= 60 * 800 / 2, "half of what would be possible: {done}, {limits:?}");
}

#[test]
fn idle_and_failing_handlers_do_not_change_the_limit() {
    let start = Instant::now();
    let mut limit = AdaptiveLimit::new(5, 50);
    for number in 0..1_000 {
        let now = start + Duration::from_millis(number * 20);
        limit.ended(HandlerEnd::Succeeded, Duration::from_millis(20), 1, now);
        limit.ended(HandlerEnd::Failed, Duration::from_millis(1), 1, now);
        limit.ended(HandlerEnd::Stopped, Duration::from_secs(100), 1, now);
    }
    assert_eq!(limit.limit(), 10);
    assert_eq!(AdaptiveLimit::new(20, 50).limit(), 20);
    assert_eq!(AdaptiveLimit::new(1, 3).limit(), 3);
}

#[test]
fn limit_stays_within_its_bounds() {
    let mut simulation = Simulation::new(4, 20);
    let limits = simulation.run(downstream(10, 1_000.0), 10);
    assert_eq!(limits.last(), Some(&20));
    let limits = simulation.run(downstream(2_000, 1.0), 60);
    assert!(limits.iter().all(|limit| (4..=20).contains(limit)), "{limits:?}");
    assert!(simulation.now > simulation.start);
}

#[test]
fn limit_grows_if_handlers_could_not_start_although_not_all_were_busy() {
    let start = Instant::now();
    let mut limit = AdaptiveLimit::new(10, 50);
    for number in 0..100 {
        limit.refused();
        limit.ended(
            HandlerEnd::Succeeded,
            Duration::from_millis(20),
            5,
            start + Duration::from_millis(number * 20),
        );
    }
    assert!(limit.limit() > 15, "{}", limit.limit());
}

#[test]
fn limit_recovers_within_seconds_after_a_short_phase_of_quick_handlers() {
    let mut simulation = Simulation::new(1, 200);
    let before = *simulation.run(downstream(50, 1_000.0), 20).last().unwrap();
    simulation.run(downstream(1, 1_000.0), 3);
    let limits = simulation.run(downstream(50, 1_000.0), 15);
    assert!(limits.last().is_some_and(|limit| *limit >= before * 9 / 10), "before {before}: {limits:?}");
}
