use super::*;
use crate::sqs::engine::queue::Wakeups;

fn at(seconds: u64) -> Timestamp {
    START + Duration::from_secs(seconds)
}

fn wake_at(bench: &mut Bench) -> Option<Timestamp> {
    let received = bench.try_receive(1, None);
    assert!(received.messages.is_empty() && !received.is_over_limit, "{received:?}");
    received.wake_at
}

fn receivable(bench: &mut Bench) -> usize {
    bench.queue.take_wakeups().receivable
}

#[test]
fn empty_queue_wakes_no_receive() {
    let mut bench = Bench::standard();
    assert_eq!(wake_at(&mut bench), None);
    assert_eq!(bench.queue.take_wakeups(), Wakeups::default());
}

#[test]
fn empty_receive_returns_when_the_next_message_becomes_visible() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.send("b");
    bench.bodies(1, 30);
    bench.bodies(1, 20);
    assert_eq!(wake_at(&mut bench), Some(at(20)));
    let delay = Some(Duration::from_secs(5));
    bench.queue.send(bench.now, Room::default(), NewMessage { delay, ..message("c") }).unwrap();
    assert_eq!(wake_at(&mut bench), Some(at(5)));
}

#[test]
fn send_wakes_one_receive_for_each_message() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.send("b");
    assert_eq!(receivable(&mut bench), 2);
    assert_eq!(receivable(&mut bench), 0);
}

#[test]
fn message_made_visible_wakes_a_receive() {
    let mut bench = Bench::standard();
    bench.send("a");
    let delivery = bench.receive_one();
    receivable(&mut bench);
    bench.hide(&delivery, 0).unwrap();
    assert_eq!(receivable(&mut bench), 1);
}

#[test]
fn receive_is_woken_by_the_unlock_of_a_group_not_by_a_send_into_it() {
    let mut bench = Bench::fifo();
    bench.send("g/a");
    assert_eq!(receivable(&mut bench), 1);
    let delivery = bench.receive_one();
    bench.send("g/b");
    bench.send("g/c");
    assert_eq!(receivable(&mut bench), 0);
    bench.delete(&delivery).unwrap();
    assert_eq!(receivable(&mut bench), 1);
}

#[test]
fn parked_receives_are_notified_of_earlier_wakeups_only() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c"] {
        bench.send(body);
    }
    bench.bodies(1, 30);
    assert_eq!(bench.queue.take_wakeups().sooner, Some(at(30)));
    bench.bodies(1, 40);
    assert_eq!(bench.queue.take_wakeups().sooner, None);
    bench.bodies(1, 5);
    assert_eq!(bench.queue.take_wakeups().sooner, Some(at(5)));
}

#[test]
fn wakeup_is_due_when_the_message_that_locks_a_group_expires() {
    let mut bench = Bench::fifo();
    bench.set(Name::MessageRetentionPeriod, "60");
    bench.send("g/a");
    bench.bodies(1, 1000);
    bench.send("g/b");
    assert_eq!(wake_at(&mut bench), Some(at(60)));
}

#[test]
fn shorter_delay_of_a_fifo_queue_wakes_receives() {
    let mut bench = Bench::fifo();
    bench.set(Name::DelaySeconds, "900");
    bench.send("g/a");
    bench.send("h/b");
    assert_eq!(receivable(&mut bench), 0);
    bench.set(Name::DelaySeconds, "0");
    assert_eq!(receivable(&mut bench), 2);
}
