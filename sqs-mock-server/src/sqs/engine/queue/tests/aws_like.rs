use std::collections::BTreeMap;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::sqs::engine::DeliveryMode;

fn aws_like(seed: u64) -> Bench {
    let settings = Settings { delivery: DeliveryMode::AwsLike, ..Settings::default() };
    Bench::seeded("orders", &[], settings, Seed(seed))
}

fn filled(seed: u64, messages: usize) -> Bench {
    let mut bench = aws_like(seed);
    for number in 0..messages {
        bench.send(&number.to_string());
    }
    bench
}

fn short_poll(bench: &mut Bench, at_most: usize) -> Vec<Delivery> {
    let request = Receive {
        at_most,
        visibility_timeout: None,
        attempt_id: None,
        wait: Some(Duration::ZERO),
        redeliver: false,
        dead_letter_queue_exists: true,
        room: Room::default(),
    };
    messages(bench.queue.receive(bench.now, &request).unwrap())
}

fn number(delivery: &Delivery) -> usize {
    delivery.message.payload.body.parse().unwrap()
}

/// Long polls and deletes until the queue is empty; returns the numbers in the order of delivery.
fn drain(bench: &mut Bench) -> Vec<usize> {
    let mut numbers = Vec::new();
    for _ in 0..100 {
        while let received @ [_, ..] = &*bench.receive() {
            for delivery in received {
                numbers.push(number(delivery));
                bench.delete(delivery).unwrap();
            }
        }
        bench.pass(31);
    }
    assert_eq!(bench.counts(), [0, 0, 0]);
    numbers
}

#[test]
fn short_polls_can_miss_messages_but_find_them_eventually() {
    let mut bench = filled(1, 1);
    let tries = (1..200).find(|_| !short_poll(&mut bench, 1).is_empty());
    assert!(tries.is_some());
    let empty = (0..20).filter(|seed| short_poll(&mut filled(*seed, 1), 1).is_empty()).count();
    assert!((1..20).contains(&empty), "{empty} of 20");
    let partial =
        (0..20).filter(|seed| (1..8).contains(&short_poll(&mut filled(*seed, 8), 10).len())).count();
    assert!(partial > 10, "{partial} of 20");
}

#[test]
fn long_poll_finds_all_messages() {
    for seed in 0..100 {
        assert_eq!(filled(seed, 7).receive().len(), 7);
    }
}

#[test]
fn at_most_fifty_messages_overtake_one() {
    let mut bench = filled(1, 1000);
    let mut order: Vec<_> =
        (0..100).flat_map(|_| bench.receive()).map(|delivery| number(&delivery)).collect();
    assert!(!order.is_sorted());
    let mut seen = BTreeSet::new();
    order.retain(|number| seen.insert(*number));
    for (at, number) in order.iter().enumerate() {
        let overtaken_by = order[..at].iter().filter(|earlier| *earlier > number).count();
        assert!(overtaken_by <= 50, "{number} was overtaken by {overtaken_by}");
    }
}

#[test]
fn few_messages_are_delivered_twice() {
    let mut bench = filled(1, 5000);
    let numbers = drain(&mut bench);
    let mut times = BTreeMap::new();
    for number in numbers {
        *times.entry(number).or_insert(0) += 1;
    }
    assert_eq!(times.len(), 5000);
    let twice = times.values().filter(|times| **times > 1).count();
    assert!((10..200).contains(&twice), "{twice}");
}

#[test]
fn received_message_can_be_delivered_again_at_once() {
    let mut bench = filled(1, 1000);
    let mut seen = BTreeSet::new();
    let mut again = 0;
    while let received @ [_, ..] = &*bench.receive() {
        again += received.iter().filter(|delivery| !seen.insert(delivery.message.id)).count();
    }
    assert!(again > 0);
    assert_eq!(seen.len(), 1000);
}

#[test]
fn missed_receives_create_no_dead_letters() {
    let mut bench = filled(1, 2000);
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    bench.set(Name::RedrivePolicy, policy);
    assert_eq!(drain(&mut bench).len(), 2000);
}

#[test]
fn fifo_queue_delivers_exactly_once_in_order() {
    let settings = Settings { delivery: DeliveryMode::AwsLike, ..Settings::default() };
    let by_content = [(Name::ContentBasedDeduplication, "true")];
    let mut bench = Bench::with("orders.fifo", &by_content, settings);
    for number in 0..1000 {
        bench.send(&format!("g/{number}"));
    }
    for number in 0..1000 {
        let delivery = short_poll(&mut bench, 1).remove(0);
        assert_eq!(*delivery.message.payload.body, number.to_string());
        bench.delete(&delivery).unwrap();
    }
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[derive(Clone, Debug)]
enum Step {
    Send(u8),
    ShortPoll(usize),
    LongPoll(usize),
    Delete,
    MakeVisible,
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Step::Send),
        2 => (1_usize..=10).prop_map(Step::ShortPoll),
        2 => (1_usize..=10).prop_map(Step::LongPoll),
        3 => Just(Step::Delete),
        1 => Just(Step::MakeVisible),
        1 => (0..40_u64).prop_map(Step::Pass),
    ]
}

/// The queue, the numbers in the order of delivery, and the numbers that were not deleted.
fn run(seed: u64, steps: &[Step]) -> (Bench, Vec<usize>, BTreeSet<usize>) {
    let mut bench = aws_like(seed);
    let (mut sent, mut log, mut left) = (0, Vec::new(), BTreeSet::new());
    let mut held = Vec::new();
    for step in steps {
        match *step {
            Step::Send(group) => {
                bench.send(&format!("{group}/{sent}"));
                left.insert(sent);
                sent += 1;
            }
            Step::ShortPoll(at_most) => held.extend(short_poll(&mut bench, at_most)),
            Step::LongPoll(at_most) => held.extend(messages(bench.try_receive(at_most, None))),
            Step::Delete => {
                if let Some(delivery) = held.pop() {
                    bench.delete(&delivery).unwrap();
                    left.remove(&number(&delivery));
                    log.push(number(&delivery));
                }
            }
            Step::MakeVisible => drop(held.pop().map(|delivery| bench.hide(&delivery, 0))),
            Step::Pass(seconds) => bench.pass(seconds),
        }
        log.extend(held.iter().map(number));
    }
    (bench, log, left)
}

proptest! {
    #![proptest_config(crate::sqs::engine::queue::tests::model::cases(100))]

    #[test]
    fn no_message_is_lost_and_the_same_seed_repeats_the_run(seed: u64, steps in prop::collection::vec(step(), 1..120)) {
        let (mut bench, log, left) = run(seed, &steps);
        prop_assert_eq!(run(seed, &steps).1, log);
        bench.pass(31);
        let drained: BTreeSet<_> = drain(&mut bench).into_iter().collect();
        prop_assert!(drained.is_superset(&left), "{:?} of {:?}", drained, left);
    }
}
