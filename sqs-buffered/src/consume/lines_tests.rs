use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, Eq, PartialEq)]
struct Fake {
    id: Arc<str>,
    sequence: u128,
    /// The number of the delivery.
    delivery: u32,
}

impl Item for Fake {
    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn sequence(&self) -> u128 {
        self.sequence
    }
}

fn fake(sequence: u128, delivery: u32) -> Fake {
    Fake { id: sequence.to_string().into(), sequence, delivery }
}

fn key(name: &str) -> Key {
    name.into()
}

fn started(lines: &mut Lines<Fake, bool>) -> Option<u128> {
    lines.start().map(|(_, entry)| entry.latest.sequence)
}

#[test]
fn groups_run_concurrently_and_their_messages_one_by_one() {
    let mut lines = Lines::<Fake, bool>::new();
    for (group, sequence) in [("a", 1), ("a", 2), ("b", 3)] {
        lines.arrive(key(group), fake(sequence, 1));
    }
    assert_eq!((started(&mut lines), started(&mut lines), started(&mut lines)), (Some(1), Some(3), None));
    lines.done(&key("a"));
    assert_eq!((started(&mut lines), started(&mut lines)), (Some(2), None));
}

#[test]
fn messages_start_by_sequence_number_whatever_their_arrival() {
    let mut lines = Lines::<Fake, bool>::new();
    for sequence in [5, 9, 2, 7] {
        lines.arrive(key("a"), fake(sequence, 1));
    }
    let mut order = Vec::new();
    while let Some(sequence) = started(&mut lines) {
        order.push(sequence);
        lines.done(&key("a"));
    }
    assert_eq!(order, [2, 5, 7, 9]);
}

#[test]
fn second_delivery_is_settled_with_the_first() {
    let mut lines = Lines::<Fake, bool>::new();
    assert!(!lines.arrive(key("a"), fake(1, 1)));
    assert!(!lines.arrive(key("a"), fake(2, 1)));
    assert!(lines.arrive(key("a"), fake(2, 2)), "of one that waits");
    let (_, first) = lines.start().expect("ready");
    assert!(lines.arrive(key("a"), fake(1, 2)), "of the one that runs");
    assert_eq!((first.latest, first.earlier.len()), (fake(1, 1), 0));
    assert_eq!(lines.take_more(&key("a")), [fake(1, 2)]);
    assert!(lines.arrive(key("a"), fake(1, 3)));
    assert_eq!(lines.done(&key("a")), [fake(1, 3)], "too late to be settled with the others");
    let (_, second) = lines.start().expect("ready");
    assert_eq!(second.into_deliveries().collect::<Vec<_>>(), [fake(2, 2), fake(2, 1)], "the latest first");
}

#[test]
fn redelivery_of_a_message_that_was_given_back_is_a_new_message() {
    let mut lines = Lines::<Fake, bool>::new();
    lines.arrive(key("a"), fake(1, 1));
    lines.arrive(key("a"), fake(2, 1));
    assert_eq!(started(&mut lines), Some(1));
    assert!(lines.arrive(key("a"), fake(1, 9)));
    let rest: Vec<_> = lines.take_waiting(&key("a")).into_iter().map(|entry| entry.latest.sequence).collect();
    assert_eq!(lines.give_back(&key("a")), [fake(1, 9)], "what came before goes back with it");
    assert_eq!(rest, [2]);
    assert!(!lines.arrive(key("a"), fake(2, 2)));
    assert!(!lines.arrive(key("a"), fake(1, 2)));
    assert_eq!(started(&mut lines), None, "not before all are back");
    assert!(lines.done(&key("a")).is_empty());
    assert_eq!(started(&mut lines), Some(1));
}

#[test]
fn messages_that_have_not_started_can_be_removed() {
    let mut lines = Lines::<Fake, bool>::new();
    for (group, sequence) in [("a", 1), ("a", 2), ("b", 3)] {
        lines.arrive(key(group), fake(sequence, 1));
    }
    assert_eq!(started(&mut lines), Some(1));
    let drained: usize = lines.drain().iter().map(Vec::len).sum();
    assert_eq!((drained, lines.waiting(), started(&mut lines)), (2, 0, None));
    lines.done(&key("a"));
    assert!(lines.lines.is_empty(), "nothing is left behind");
}

#[test]
fn messages_of_a_batch_are_settled_one_after_the_other() {
    let mut lines = Lines::<Fake, bool>::new();
    for sequence in 1..=5 {
        lines.arrive(key("a"), fake(sequence, 1));
    }
    assert_eq!((lines.startable(3), lines.startable(9)), (3, 5));
    let (_, first) = lines.start().expect("ready");
    let mut batch = Vec::new();
    while let Some(entry) = lines.start_next(&key("a"), |entry| entry.latest.sequence < 4) {
        batch.push((entry, true));
    }
    assert_eq!((first.latest.sequence, batch.len(), lines.waiting(), lines.startable(9)), (1, 2, 2, 0));
    assert!(lines.arrive(key("a"), fake(3, 2)), "of one that runs");
    lines.decide(&key("a"), batch);
    assert!(lines.arrive(key("a"), fake(2, 2)), "of one that is decided");
    assert!(lines.next_decided(&key("a")).is_none(), "the first one is not done yet");
    assert_eq!(lines.drain().iter().map(Vec::len).sum::<usize>(), 2, "what is decided has started");
    assert!(lines.done(&key("a")).is_empty());
    let (second, verdict) = lines.next_decided(&key("a")).expect("it is decided");
    assert!(verdict);
    assert_eq!(second.into_deliveries().collect::<Vec<_>>(), [fake(2, 2), fake(2, 1)]);
    lines.arrive(key("a"), fake(7, 1));
    let rest = lines.take_waiting(&key("a"));
    let rest: Vec<_> = rest.into_iter().map(|entry| entry.into_deliveries().count()).collect();
    assert_eq!(rest, [2, 1], "what was decided comes before what waits");
    lines.give_back(&key("a"));
    lines.done(&key("a"));
    assert!(lines.next_decided(&key("a")).is_none() && lines.lines.is_empty());
}

#[test]
fn batch_whose_first_message_runs_again_runs_again_in_order() {
    let mut lines = Lines::<Fake, bool>::new();
    for sequence in 1..=4 {
        lines.arrive(key("a"), fake(sequence, 1));
    }
    let (_, first) = lines.start().expect("ready");
    let next = |lines: &mut Lines<Fake, bool>| lines.start_next(&key("a"), |_| true).expect("it waits");
    let batch = [(next(&mut lines), true), (next(&mut lines), true)];
    lines.decide(&key("a"), batch);
    lines.run_again(&key("a"), first);
    assert_eq!(lines.waiting(), 4);
    lines.done(&key("a"));
    let mut order = Vec::new();
    while let Some(sequence) = started(&mut lines) {
        order.push(sequence);
        lines.done(&key("a"));
    }
    assert_eq!(order, [1, 2, 3, 4]);
}

#[derive(Clone, Debug)]
enum Event {
    Arrive(u8, u128),
    /// Starts a batch of at most this many messages of a line.
    Start(usize),
    /// This many messages of a batch succeed, from the first.
    Finish(prop::sample::Index, usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => (0_u8..4, 0_u128..30).prop_map(|(group, sequence)| Event::Arrive(group, sequence)),
        2 => (1_usize..4).prop_map(Event::Start),
        2 => (any::<prop::sample::Index>(), 0_usize..4).prop_map(|(which, ok)| Event::Finish(which, ok)),
    ];
    prop::collection::vec(event, 0..300)
}

proptest! {
    /// A line runs one message or batch at a time, the lowest sequence number first. Each delivery is returned exactly
    /// once.
    #[test]
    fn lines_are_in_order_and_lose_no_delivery(events in events()) {
        let mut lines = Lines::<Fake, bool>::new();
        let (mut deliveries, mut out) = (0, BTreeSet::new());
        let mut waiting: BTreeMap<Key, BTreeSet<u128>> = BTreeMap::new();
        let mut running: Vec<(Key, Vec<Arrived<Fake>>)> = Vec::new();
        for event in events {
            match event {
                Event::Arrive(group, sequence) => {
                    let group = key(&group.to_string());
                    deliveries += 1;
                    let goes_along = lines.arrive(group.clone(), fake(sequence, deliveries));
                    let is_it = |entry: &Arrived<Fake>| entry.latest.sequence == sequence;
                    let runs = running.iter().any(|(key, batch)| *key == group && batch.iter().any(is_it));
                    let is_new = !runs && waiting.entry(group).or_default().insert(sequence);
                    prop_assert_eq!(goes_along, !is_new);
                }
                Event::Start(size) => {
                    let Some((group, entry)) = lines.start() else {
                        let idle = |group: &Key| running.iter().all(|(key, _)| key != group);
                        prop_assert!(waiting.iter().all(|(group, waiting)| waiting.is_empty() || !idle(group)));
                        continue;
                    };
                    prop_assert!(running.iter().all(|(key, _)| *key != group));
                    let first = waiting.get_mut(&group).and_then(BTreeSet::pop_first);
                    prop_assert_eq!(first, Some(entry.latest.sequence));
                    let mut batch = vec![entry];
                    while batch.len() < size && let Some(entry) = lines.start_next(&group, |_| true) {
                        let next = waiting.get_mut(&group).and_then(BTreeSet::pop_first);
                        prop_assert_eq!(next, Some(entry.latest.sequence));
                        batch.push(entry);
                    }
                    running.push((group, batch));
                }
                Event::Finish(which, succeed) if !running.is_empty() => {
                    let (group, batch) = running.swap_remove(which.index(running.len()));
                    let mut batch = batch.into_iter().enumerate().map(|(place, entry)| (entry, place < succeed));
                    let mut next = batch.next();
                    lines.decide(&group, batch);
                    let mut settled = Vec::new();
                    while let Some((entry, succeeds)) = next {
                        settled.extend(entry.into_deliveries());
                        if succeeds {
                            settled.extend(lines.take_more(&group));
                        } else {
                            let rest = lines.take_waiting(&group);
                            settled.extend(rest.into_iter().flat_map(Arrived::into_deliveries));
                            waiting.remove(&group);
                            settled.extend(lines.give_back(&group));
                        }
                        settled.extend(lines.done(&group));
                        next = lines.next_decided(&group);
                    }
                    for fake in settled {
                        prop_assert!(out.insert(fake.delivery), "{} came out twice", fake.delivery);
                    }
                }
                Event::Finish(..) => {}
            }
            prop_assert_eq!(lines.waiting(), waiting.values().map(BTreeSet::len).sum::<usize>());
        }
        let left = lines.drain().into_iter().flatten().flat_map(Arrived::into_deliveries);
        out.extend(left.map(|fake| fake.delivery));
        for (group, batch) in running {
            let mut batch = batch.into_iter().map(|entry| (entry, true));
            let mut next = batch.next();
            lines.decide(&group, batch);
            while let Some((entry, _)) = next {
                out.extend(entry.into_deliveries().chain(lines.done(&group)).map(|fake| fake.delivery));
                next = lines.next_decided(&group);
            }
        }
        prop_assert_eq!(out.len(), usize::try_from(deliveries).unwrap());
        prop_assert!(lines.lines.is_empty() && lines.ready.is_empty());
    }
}
