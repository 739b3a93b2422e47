use super::*;

/// Consumers that always have a message to start, unless they are idle. In each turn, the oldest handler ends.
struct Simulation {
    shares: Shares,
    running: std::collections::VecDeque<Id>,
    idle: Vec<Id>,
    started: BTreeMap<Id, usize>,
    now: Instant,
}

impl Simulation {
    fn new(limit: usize, weights: &[u32]) -> Self {
        let mut shares = Shares::new(limit);
        for weight in weights {
            shares.join(0, *weight);
        }
        Self { shares, running: [].into(), idle: Vec::new(), started: BTreeMap::new(), now: Instant::now() }
    }

    fn start_ready(&mut self) {
        let ids: Vec<Id> = self.shares.members.keys().copied().filter(|id| !self.idle.contains(id)).collect();
        // All of them wait before any of them starts, like consumers that were woken together.
        for id in &ids {
            self.shares.wait(*id, self.now);
        }
        while let Some(id) = self.shares.turn(self.now) {
            assert!(self.shares.start(id, self.now));
            self.running.push_back(id);
            *self.started.entry(id).or_default() += 1;
        }
    }

    fn turns(&mut self, turns: usize) -> Vec<usize> {
        self.started.clear();
        for _ in 0..turns {
            self.start_ready();
            self.now += Duration::from_millis(1);
            if let Some(id) = self.running.pop_front() {
                self.shares.ended(id, self.now);
            }
        }
        self.shares.members.keys().map(|id| self.started.get(id).copied().unwrap_or_default()).collect()
    }

    fn running_of(&self, id: Id) -> usize {
        self.shares.members[&id].running
    }
}

#[test]
fn weights_decide_the_share_while_all_are_busy() {
    for (limit, weights) in [(8, [3, 1]), (1, [3, 1]), (10, [2, 2]), (7, [5, 2])] {
        let mut simulation = Simulation::new(limit, &weights);
        let started = simulation.turns(4_000);
        let share = 4_000.0 * f64::from(weights[0]) / f64::from(weights[0] + weights[1]);
        let first = f64::from(u32::try_from(started[0]).unwrap());
        assert!((first - share).abs() < 20.0, "{limit} handlers, {weights:?}: {started:?}");
    }
}

#[test]
fn share_of_an_idle_consumer_goes_to_the_others_until_it_wakes() {
    let mut simulation = Simulation::new(8, &[1, 1]);
    simulation.idle = vec![1];
    simulation.start_ready();
    assert_eq!([0, 1].map(|id| simulation.running_of(id)), [8, 0]);
    assert_eq!(
        [0, 1].map(|id| simulation.shares.places(id, simulation.now)),
        [8, 4],
        "it may ask for its share"
    );
    simulation.idle.clear();
    simulation.turns(4);
    simulation.start_ready();
    assert_eq!([0, 1].map(|id| simulation.running_of(id)), [4, 4]);
}

#[test]
fn share_of_a_busy_consumer_is_reserved_while_it_receives() {
    let mut shares = Shares::new(4);
    let (slow, quick) = (shares.join(0, 1), shares.join(0, 1));
    let start = Instant::now();
    let mut now = start;
    let mut quick_starts = 0;
    for round in 0..1_000 {
        shares.wait(slow, now);
        // The quick consumer has messages only in every second round.
        if round % 2 == 0 {
            shares.wait(quick, now);
        } else {
            shares.idle(quick);
        }
        while let Some(id) = shares.turn(now) {
            shares.start(id, now);
        }
        // Handlers of the slow consumer never end.
        now += Duration::from_millis(100);
        while shares.members[&quick].running > 0 {
            shares.ended(quick, now);
            quick_starts += 1;
        }
    }
    assert_eq!((shares.members[&slow].running, quick_starts), (2, 1_000));
    shares.idle(quick);
    assert_eq!((shares.turn(now), shares.places(slow, now)), (None, 2));
    let at = shares.next_change(slow, now).expect("the share of the quick one is kept");
    assert!(at > now && at <= now + RESERVED);
    assert_eq!(
        (shares.turn(at), shares.places(slow, at), shares.next_change(slow, at)),
        (Some(slow), 4, None)
    );
}

#[test]
fn idle_consumer_does_not_make_up_for_missed_turns() {
    let mut simulation = Simulation::new(1, &[1, 1]);
    simulation.idle = vec![1];
    simulation.turns(1_000);
    simulation.shares.idle(1);
    simulation.idle.clear();
    let started = simulation.turns(100);
    assert!(started[0] >= 49, "{started:?}");
}

#[test]
fn smaller_limit_waits_for_running_handlers_and_leaving_frees_them() {
    let mut simulation = Simulation::new(4, &[1, 1]);
    simulation.start_ready();
    simulation.shares.set_limit(2);
    assert_eq!(simulation.shares.turn(simulation.now), None);
    assert_eq!(simulation.shares.places(0, simulation.now), 1);
    simulation.shares.leave(0);
    assert_eq!((simulation.shares.running(), simulation.shares.places(1, simulation.now)), (2, 2));
    simulation.shares.ended(1, simulation.now);
    simulation.shares.wait(1, simulation.now);
    assert_eq!(simulation.shares.turn(simulation.now), Some(1));
}

#[test]
fn newcomer_does_not_make_up_for_turns_of_a_consumer_that_is_not_waiting() {
    let mut shares = Shares::new(1);
    let (old, new) = (shares.join(0, 1), shares.join(0, 1));
    let now = Instant::now();
    for _ in 0..1_000 {
        assert!(shares.start(old, now));
        shares.idle(old);
        shares.ended(old, now);
    }
    let mut started = [0, 0];
    shares.wait(new, now);
    for _ in 0..100 {
        shares.wait(old, now);
        let id = shares.turn(now).expect("nothing runs");
        assert!(shares.start(id, now));
        started[usize::from(id == new)] += 1;
        shares.ended(id, now);
    }
    assert_eq!(started, [50, 50]);
}

#[test]
fn queue_with_few_messages_keeps_one_handler_and_leaves_its_share_to_others() {
    let mut shares = Shares::new(20);
    let (full, few) = (shares.join(0, 1), shares.join(0, 1));
    let mut now = Instant::now();
    for _ in 0..10 {
        assert!(shares.start(few, now));
        shares.idle(few);
        while shares.start(full, now) {}
        now += Duration::from_millis(10);
        shares.ended(few, now);
        assert!(!shares.start(full, now), "one is kept");
        now += Duration::from_millis(490);
    }
    assert_eq!((shares.members[&full].running, shares.places(full, now)), (19, 19));
}

#[test]
fn higher_priority_goes_first_and_takes_all_handlers_while_its_messages_wait() {
    let (mut shares, now) = (Shares::new(4), Instant::now());
    let (low, high) = (shares.join(0, 9), shares.join(1, 1));
    assert!(shares.start(low, now) && shares.start(low, now));
    assert!(shares.start(high, now));
    shares.idle(high);
    while shares.start(low, now) {}
    shares.idle(low);
    // Both wait for each handler that ends.
    for _ in 0..3 {
        assert!(!shares.start(low, now) && !shares.start(high, now), "{shares:?}");
        shares.ended(low, now);
        assert!(!shares.start(low, now), "{shares:?}");
        assert!(shares.start(high, now), "{shares:?}");
    }
}
