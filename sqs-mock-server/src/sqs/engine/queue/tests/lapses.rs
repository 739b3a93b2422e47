//! Findings of strict mode that queues report.

use super::*;
use crate::sqs::engine::handles::OldHandle;
use crate::sqs::engine::queue::Lapse;

fn strict(name: &str) -> Bench {
    let attributes: &[_] =
        if name.contains('.') { &[(Name::ContentBasedDeduplication, "true")] } else { &[] };
    Bench::with(name, attributes, Settings { strict: true, ..Settings::default() })
}

impl Bench {
    fn lapses(&mut self) -> Vec<Lapse> {
        self.queue.counts(self.now);
        self.queue.take_lapses()
    }
}

#[test]
fn message_not_deleted_in_time_lapses_after_each_receive() {
    for name in ["orders", "orders.fifo"] {
        let mut bench = strict(name);
        let id = bench.send("g/tea").id;
        for receives in 1..3 {
            bench.receive_one();
            bench.pass(29);
            assert_eq!(bench.lapses(), []);
            bench.pass(1);
            let at = bench.now;
            assert_eq!(bench.lapses(), [Lapse { id, receives, at }]);
            assert_eq!(bench.lapses(), []);
        }
    }
}

#[test]
fn deleted_and_returned_messages_do_not_lapse() {
    let mut bench = strict("orders");
    bench.send("deleted");
    bench.send("returned");
    let (deleted, returned) = (bench.receive_one(), bench.receive_one());
    bench.delete(&deleted).unwrap();
    bench.hide(&returned, 0).unwrap();
    bench.pass(60);
    assert_eq!(bench.lapses(), []);
    assert_eq!(bench.bodies(1, 0), ["returned"], "received without being hidden");
    bench.pass(60);
    assert_eq!(bench.lapses(), []);
}

#[test]
fn delayed_messages_do_not_lapse() {
    let mut bench = strict("orders");
    bench.set(Name::DelaySeconds, "10");
    bench.send("tea");
    bench.pass(10);
    assert_eq!(bench.lapses(), []);
}

#[test]
fn lapses_are_recorded_only_in_strict_mode() {
    let mut bench = Bench::standard();
    bench.send("tea");
    bench.receive_one();
    bench.pass(30);
    assert_eq!(bench.lapses(), []);
}

#[test]
fn delete_reports_the_handle_of_an_earlier_receive() {
    let mut bench = Bench::standard();
    let id = bench.send("tea").id;
    let earlier = bench.receive_one();
    bench.pass(30);
    let latest = bench.receive_one();
    let mut delete = |delivery: &Delivery| bench.queue.delete(bench.now, &delivery.receipt_handle);
    assert_eq!(delete(&earlier), Ok(Some(OldHandle { id, receive: 1, receives: 2 })));
    assert_eq!(delete(&earlier), Ok(None), "the message is gone");
    assert_eq!(delete(&latest), Ok(None), "the message is gone");
}

#[test]
fn delete_does_not_report_the_handle_of_the_latest_receive() {
    let mut bench = Bench::standard();
    bench.send("tea");
    bench.receive_one();
    bench.pass(30);
    let latest = bench.receive_one();
    assert_eq!(bench.queue.delete(bench.now, &latest.receipt_handle), Ok(None));
}

#[test]
fn duplicate_returns_when_the_original_was_sent() {
    let mut bench = strict("orders.fifo");
    assert_eq!(bench.try_send("g/tea").unwrap().original, None);
    bench.pass(12);
    assert_eq!(bench.try_send("g/tea").unwrap().original, Some(START));
    bench.pass(288);
    assert_eq!(bench.try_send("g/tea").unwrap().original, None, "the window is over");
}
