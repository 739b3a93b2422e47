use std::cell::RefCell;

use std::time::Duration;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// What a test sees of a backlog of numbers.
#[derive(Default)]
struct Bench {
    backlog: Backlog<u32>,
    attempted: RefCell<Vec<u32>>,
    given_up: RefCell<Vec<u32>>,
}

impl Bench {
    fn add(&mut self, group: Option<&str>, number: u32) -> u64 {
        let group = group.map(|name| Group { subscription: "s".into(), name: name.into() });
        self.backlog.add(START, group, (10, number)).unwrap()
    }

    /// Runs, with these deliveries settled, and returns the attempts.
    fn run(&mut self, after: Duration, settled: &[u32]) -> Vec<u32> {
        let attempt = |number: &u32| {
            self.attempted.borrow_mut().push(*number);
            settled.contains(number)
        };
        self.backlog.run(START + after, 1_000, attempt, |number| self.given_up.borrow_mut().push(number));
        self.attempted.take()
    }
}

#[test]
fn failed_delivery_is_tried_at_once_and_then_after_pauses() {
    let mut bench = Bench::default();
    bench.add(None, 1);
    assert_eq!(bench.run(Duration::ZERO, &[]), [1; 3]);
    assert_eq!(bench.backlog.next_due(), Some(START + Duration::from_secs(1)));
    assert_eq!(bench.run(Duration::from_millis(999), &[]), [0; 0]);
    assert_eq!(bench.run(Duration::from_secs(1), &[1]), [1]);
    assert_eq!((bench.backlog.lanes.len(), bench.backlog.next_due(), bench.backlog.bytes), (0, None, 0));
}

#[test]
fn group_waits_behind_its_first_message() {
    let mut bench = Bench::default();
    let lane = bench.add(Some("g"), 1);
    assert_eq!(bench.run(Duration::ZERO, &[]), [1; 3]);
    assert_eq!(bench.add(Some("g"), 2), lane);
    bench.add(Some("h"), 3);
    assert_eq!(bench.run(Duration::ZERO, &[2, 3]), [3], "the other group is not blocked");
    assert!(bench.backlog.is_blocked(&Group { subscription: "s".into(), name: "g".into() }));
    assert!(!bench.backlog.is_blocked(&Group { subscription: "other".into(), name: "g".into() }));
    assert_eq!(bench.run(Duration::from_secs(1), &[1, 2]), [1, 2]);
    assert!(!bench.backlog.has(lane));
    assert_ne!(bench.add(Some("g"), 4), lane);
}

#[test]
fn last_failure_gives_up_and_the_next_of_the_group_starts_anew() {
    let mut bench = Bench::default();
    bench.add(Some("g"), 1);
    bench.add(Some("g"), 2);
    let attempts = bench.run(Duration::from_secs(24 * 86_400), &[]);
    assert_eq!(
        attempts.iter().filter(|number| **number == 1).count(),
        MAX_ATTEMPTS,
        "the others would see the same"
    );
    assert_eq!(*bench.given_up.borrow(), [1]);
    assert!(attempts.contains(&2));
    assert_eq!(bench.backlog.lanes.len(), 1);
}

#[test]
fn jump_within_the_time_of_retries_keeps_their_schedule() {
    let mut bench = Bench::default();
    bench.add(None, 1);
    bench.run(Duration::from_secs(86_400), &[]);
    let until_next = bench.backlog.next_due().unwrap().saturating_since(START + Duration::from_secs(86_400));
    assert!(!until_next.is_zero() && until_next <= Duration::from_secs(20), "{until_next:?}");
    assert!(bench.run(Duration::from_secs(86_400), &[1]).is_empty());
    assert_eq!(bench.run(Duration::from_secs(86_420), &[1]), [1]);
}

#[test]
fn run_makes_about_as_many_attempts_as_it_may() {
    let mut bench = Bench::default();
    for number in 0..10 {
        bench.add(None, number);
    }
    let attempt = |_: &u32| {
        bench.attempted.borrow_mut().push(0);
        true
    };
    bench.backlog.run(START, 4, attempt, |_| {});
    assert_eq!(bench.attempted.borrow().len(), 4);
}

#[test]
fn full_backlog_takes_no_more() {
    let mut backlog = Backlog::default();
    let large = MAX_BYTES - OVERHEAD;
    let lane = backlog.add(START, None, (large, 1)).unwrap();
    assert_eq!(backlog.add(START, None, (0, 2)), None);
    backlog.run(START, 1, |_| true, |_| {});
    assert!(!backlog.has(lane));
    assert!(backlog.add(START, None, (0, 2)).is_some());
}

#[test]
fn new_lane_begins_without_the_others() {
    let mut bench = Bench::default();
    bench.add(None, 1);
    let lane = bench.add(None, 2);
    let attempt = |number: &u32| {
        bench.attempted.borrow_mut().push(*number);
        bench.attempted.borrow().len() == 3
    };
    bench.backlog.begin(START, lane, attempt, |_| panic!("not the last attempt"));
    assert_eq!(bench.attempted.take(), [2; 3]);
    assert!(!bench.backlog.has(lane));
    assert_eq!(bench.backlog.next_due(), Some(START));
}

#[test]
fn skipped_retries_are_those_with_the_last_pause() {
    let last = Duration::from_secs(20);
    assert_eq!(SCHEDULE.skipped(14, last * 9), (0, Duration::ZERO));
    assert_eq!(SCHEDULE.skipped(15, last * 9 + Duration::from_secs(1)), (9, last * 9));
    let all = Duration::from_secs(u64::MAX);
    assert_eq!(SCHEDULE.skipped(100_010, all), (5, last * 5));
    assert_eq!(SCHEDULE.skipped(100_015, all), (0, Duration::ZERO));
    assert_eq!(SCHEDULE.pause(100_015), None);
}
