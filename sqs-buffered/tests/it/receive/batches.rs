//! Batch handlers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{
    BackOff, Consumer, GroupAdvance, HandlerError, Json, Lease, Outcome, ReceiveCount, ReceiveEvent, Report,
    State,
};
use sqs_client::operation::Action;
use sqs_client::types::Message;
use tokio::time::{Instant, sleep};

use super::rig::{Rig, millis, secs, until};

/// The bodies of each batch, and its start.
type Batches = Arc<Mutex<Vec<(Instant, Vec<String>)>>>;

async fn note(bodies: Vec<String>, State(batches): State<Batches>) {
    batches.lock().unwrap().push((Instant::now(), bodies));
    sleep(millis(50)).await;
}

fn numbers(numbers: std::ops::Range<u32>) -> impl Iterator<Item = String> {
    numbers.map(|number| format!("{number:03}"))
}

fn bodies(batches: &Batches) -> Vec<Vec<String>> {
    batches.lock().unwrap().iter().map(|(_, bodies)| bodies.clone()).collect()
}

/// Runs a consumer until the queue has this many messages and this many failures were reported. Returns the failures.
macro_rules! run {
    ($rig:expr, $builder:expr, $left:expr, $failures:expr) => {{
        let failures = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&failures);
        let builder = $builder.wait_time(secs(1)).on_event(move |event| match event {
            ReceiveEvent::HandlerFailed { error, .. } => told.lock().unwrap().push(error.to_string()),
            ReceiveEvent::HandlerPanicked { text, .. } => told.lock().unwrap().push((*text).to_owned()),
            _ => {}
        });
        let is_done = || $rig.left() == $left && failures.lock().unwrap().len() == $failures;
        let report: Report = builder.build().unwrap().run_until(until(is_done)).await.unwrap();
        let mut failures = failures.lock().unwrap().clone();
        failures.sort();
        (report, failures)
    }};
}

#[tokio::test(start_paused = true)]
async fn messages_are_handled_in_full_batches_and_deleted_together() {
    let rig = Rig::new("jobs").await;
    rig.send(numbers(0..100)).await;
    let batches = Batches::default();
    let builder = Consumer::builder(rig.base.clone(), &rig.url).concurrency(2).batch_size(20);
    let (report, failures) = run!(rig, builder.state(Arc::clone(&batches)).batch_handler(note), 0, 0);
    assert_eq!((report.stats.acked, report.stats.started, failures.len()), (100, 100, 0));
    let bodies = bodies(&batches);
    assert!(bodies.len() <= 7 && bodies.iter().all(|batch| batch.len() <= 20), "{bodies:?}");
    assert!(rig.sent_of(Action::DeleteMessageBatch).len() <= 14);
}

#[tokio::test(start_paused = true)]
async fn batch_starts_when_its_first_message_has_waited_for_the_window() {
    let rig = Rig::new("jobs").await;
    let batches = Batches::default();
    let builder =
        Consumer::builder(rig.base.clone(), &rig.url).batch_window(secs(2)).max_poll_delay(millis(1));
    let builder = builder.state(Arc::clone(&batches)).batch_handler(note);
    let begun = Instant::now();
    let sending = async {
        for number in ["1", "2", "3", "4"] {
            sleep(millis(900)).await;
            rig.send([number]).await;
        }
    };
    let consumer = builder.wait_time(secs(1)).build().unwrap();
    let done = async {
        sending.await;
        until(|| rig.left() == 0).await;
    };
    consumer.run_until(done).await.unwrap();
    let batches: Vec<_> =
        batches.lock().unwrap().iter().map(|(at, batch)| (*at - begun, batch.len())).collect();
    assert_eq!(batches.iter().map(|(_, size)| *size).collect::<Vec<_>>(), [3, 1], "{batches:?}");
    assert!((millis(2_900)..millis(2_950)).contains(&batches[0].0), "{batches:?}");
}

#[tokio::test(start_paused = true)]
async fn each_message_has_its_own_outcome_by_position_or_by_id() {
    async fn by_position(messages: Vec<(Json<u32>, ReceiveCount)>) -> Vec<Result<Outcome, HandlerError>> {
        let outcome = |(Json(number), ReceiveCount(count)): &(Json<u32>, ReceiveCount)| match number {
            3 => Err("three".into()),
            4 if *count == 1 => Ok(Outcome::Nack(secs(1))),
            _ => Ok(Outcome::Ack),
        };
        messages.iter().map(outcome).collect()
    }
    async fn by_id(
        messages: Vec<(Arc<Message>, Json<u32>)>,
    ) -> Result<HashMap<String, Outcome>, HandlerError> {
        let id = |message: &Message| message.message_id().unwrap_or_default().to_owned();
        let even = |(_, Json(number)): &&(_, Json<u32>)| number % 2 == 0;
        Ok(messages.iter().filter(even).map(|(message, _)| (id(message), Outcome::Ack)).collect())
    }
    let builder = |rig: &Rig| {
        Consumer::builder(rig.base.clone(), &rig.url)
            .back_off(BackOff::Fixed(secs(3_600)))
            .batch_window(secs(1))
    };
    let missing = "the batch handler returned no outcome for this message";

    let rig = Rig::new("jobs").await;
    rig.send(["1", "2", "3", "4", "soup"]).await;
    let (report, failures) = run!(rig, builder(&rig).batch_handler(by_position), 2, 2);
    assert_eq!(failures, ["the body is not JSON for u32: expected value at line 1 column 1", "three"]);
    let stats = report.stats;
    assert_eq!((stats.failed, stats.panicked, stats.nacked, stats.acked), (2, 0, 3, 3));

    let rig = Rig::new("jobs").await;
    rig.send(["1", "2", "3", "4"]).await;
    let (_, failures) = run!(rig, builder(&rig).batch_handler(by_id), 2, 2);
    assert_eq!(failures, [missing, missing]);

    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let nothing = |_: Vec<String>| async { Vec::<Outcome>::new() };
    assert_eq!(run!(rig, builder(&rig).batch_handler(nothing), 2, 2).1, [missing, missing]);
}

#[tokio::test(start_paused = true)]
async fn error_or_panic_of_a_batch_fails_all_of_its_messages() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2", "3"]).await;
    let calls = Arc::new(Mutex::new(0));
    let handler = |_: Vec<String>, State(calls): State<Arc<Mutex<u32>>>| async move {
        *calls.lock().unwrap() += 1;
        let calls = *calls.lock().unwrap();
        match calls {
            1 => Err("burnt"),
            2 => std::panic::resume_unwind(Box::new("dropped")),
            _ => Ok(()),
        }
    };
    let builder = Consumer::builder(rig.base.clone(), &rig.url).back_off(BackOff::Fixed(secs(1)));
    let builder = builder.batch_window(millis(500)).state(calls).batch_handler(handler);
    let (report, failures) = run!(rig, builder, 0, 6);
    assert_eq!(failures, ["burnt", "burnt", "burnt", "dropped", "dropped", "dropped"]);
    assert_eq!((report.panics, report.stats.panicked), (vec!["dropped".to_owned()], 3));
    assert_eq!((report.stats.failed, report.stats.acked), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn leases_are_renewed_until_the_batch_has_ended() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("table", numbers(0..8)).await;
        let handler = |leases: Vec<Lease>| async move {
            sleep(secs(150)).await;
            assert!(leases.iter().all(|lease| !lease.is_lost()));
        };
        let builder = Consumer::builder(rig.base.clone(), &rig.url).batch_handler(handler);
        let (report, failures) = run!(rig, builder, 0, 0);
        let stats = report.stats;
        assert_eq!((stats.received, stats.started, stats.acked, failures.len()), (8, 8, 8, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn batch_has_messages_of_a_group_in_order_and_a_failure_gives_back_the_later_ones() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbers(0..15)).await;
    rig.send_to("b", numbers(100..103)).await;
    let batches = Batches::default();
    let handler = |bodies: Vec<(String, ReceiveCount)>, State(batches): State<Batches>| async move {
        let names = bodies.iter().map(|(body, _)| body.clone()).collect();
        batches.lock().unwrap().push((Instant::now(), names));
        sleep(millis(50)).await;
        let fails = |(body, ReceiveCount(count)): (String, ReceiveCount)| {
            if body == "003" && count == 1 { Outcome::Nack(secs(1)) } else { Outcome::Ack }
        };
        bodies.into_iter().map(fails).collect::<Vec<_>>()
    };
    let builder = Consumer::builder(rig.base.clone(), &rig.url).concurrency(3);
    let builder = builder.state(Arc::clone(&batches)).batch_handler(handler);
    let (report, failures) = run!(rig, builder, 0, 0);
    let batches = bodies(&batches);
    let of_a: Vec<String> = batches.iter().flatten().filter(|body| body.starts_with('0')).cloned().collect();
    let expected: Vec<String> = numbers(0..10).chain(numbers(3..15)).collect();
    assert_eq!(of_a, expected, "{batches:?}");
    assert!(
        batches[0].len() == 10 && batches.iter().flatten().filter(|body| body.starts_with('1')).count() == 3
    );
    assert_eq!((report.stats.acked, report.stats.nacked, failures.len()), (18, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn group_stops_at_a_message_that_cannot_be_read() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", ["1", "2", "soup", "4"]).await;
    rig.send_to("b", ["5"]).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let handler = move |numbers: Vec<Json<u32>>| {
        log.lock().unwrap().extend(numbers.into_iter().map(|Json(number)| number));
        async {}
    };
    let builder = Consumer::builder(rig.base.clone(), &rig.url).back_off(BackOff::Fixed(secs(3_600)));
    let (_, failures) = run!(rig, builder.batch_handler(handler), 2, 1);
    assert_eq!(failures, ["the body is not JSON for u32: expected value at line 1 column 1"]);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 5]);
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_the_batch_and_deletes_all_of_it() {
    for (name, advance) in [
        ("jobs", GroupAdvance::AfterDelete),
        ("jobs.fifo", GroupAdvance::AfterDelete),
        ("jobs.fifo", GroupAdvance::AfterHandler),
    ] {
        let rig = Rig::new(name).await;
        rig.send_to("table", numbers(0..30)).await;
        let began = Arc::new(Mutex::new(0));
        let handler = |bodies: Vec<String>, State(began): State<Arc<Mutex<usize>>>| async move {
            *began.lock().unwrap() += bodies.len();
            sleep(secs(5)).await;
        };
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .concurrency(1)
            .prefetch(10)
            .wait_time(Duration::ZERO)
            .group_advance(advance)
            .state(Arc::clone(&began))
            .batch_handler(handler)
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| *began.lock().unwrap() > 0)).await.unwrap();
        let (began, stats) = (*began.lock().unwrap(), report.stats);
        assert_eq!((began, stats.acked, stats.started), (10, 10, 10), "{name}: {report:?}");
        assert_eq!((rig.left(), rig.in_flight()), (20, 0), "{name}: {report:?}");
        assert!(report.is_clean);
    }
}

#[tokio::test(start_paused = true)]
async fn all_messages_of_a_stopped_batch_become_visible_again() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("table", numbers(0..5)).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .grace(secs(2))
        .wait_time(Duration::ZERO)
        .batch_handler(|_: Vec<String>| std::future::pending::<()>())
        .build()
        .unwrap();
    let report = consumer.run_until(sleep(secs(3))).await.unwrap();
    assert_eq!((report.stats.started, report.stats.aborted, rig.in_flight()), (5, 5, 0), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn rate_limit_counts_the_messages_of_batches() {
    let rig = Rig::new("jobs").await;
    rig.send(numbers(0..100)).await;
    let (batches, begun) = (Batches::default(), Instant::now());
    let builder = Consumer::builder(rig.base.clone(), &rig.url).rate_limit(20.0);
    let (report, _) = run!(rig, builder.state(Arc::clone(&batches)).batch_handler(note), 0, 0);
    assert_eq!(report.stats.acked, 100);
    let last = batches.lock().unwrap().last().map(|(at, _)| *at - begun);
    assert!(last.is_some_and(|last| (secs(4)..secs(6)).contains(&last)), "{last:?}");
    let sizes: Vec<usize> = bodies(&batches).iter().map(Vec::len).collect();
    assert!(sizes.len() <= 12, "{sizes:?}");
}

#[tokio::test(start_paused = true)]
async fn batch_that_is_overloaded_runs_again_without_another_receive() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("table", numbers(0..10)).await;
        let seen = Batches::default();
        let handler = |bodies: Vec<String>, State(seen): State<Batches>| async move {
            let mut seen = seen.lock().unwrap();
            seen.push((Instant::now(), bodies));
            if seen.len() < 3 { Outcome::Overloaded } else { Outcome::Ack }
        };
        let builder = Consumer::builder(rig.base.clone(), &rig.url).concurrency(1);
        let (report, _) = run!(rig, builder.state(Arc::clone(&seen)).batch_handler(handler), 0, 0);
        assert_eq!((report.stats.received, report.stats.acked, report.stats.nacked), (10, 10, 0), "{name}");
        let seen = bodies(&seen);
        assert!(seen.len() >= 3, "{name}: {seen:?}");
        if name == "jobs.fifo" {
            let in_order =
                |batch: &Vec<String>| batch.is_sorted() && batch.first().is_some_and(|body| body == "000");
            assert!(seen.iter().all(in_order), "{seen:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn message_behind_a_retried_one_of_its_group_runs_again() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("table", ["1", "2"]).await;
    let seen = Batches::default();
    let handler = |bodies: Vec<String>, State(seen): State<Batches>| async move {
        let mut seen = seen.lock().unwrap();
        seen.push((Instant::now(), bodies.clone()));
        let is_first = seen.len() == 1;
        bodies
            .iter()
            .map(|body| if is_first && body == "1" { Outcome::Retry(secs(1)) } else { Outcome::Ack })
            .collect::<Vec<_>>()
    };
    let builder = Consumer::builder(rig.base.clone(), &rig.url).concurrency(1);
    let (report, _) = run!(rig, builder.state(Arc::clone(&seen)).batch_handler(handler), 0, 0);
    assert_eq!((report.stats.received, report.stats.acked), (2, 2));
    let seen: Vec<String> = bodies(&seen).concat();
    assert_eq!((&*seen[0], &*seen[1]), ("1", "2"));
    assert_eq!(seen[2..].iter().filter(|body| *body == "1").count(), 1, "{seen:?}");
    assert!(seen[2..].is_sorted(), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn paused_consumer_starts_no_batch() {
    let rig = Rig::new("jobs").await;
    rig.send(numbers(0..10)).await;
    let batches = Batches::default();
    let builder = Consumer::builder(rig.base.clone(), &rig.url).state(Arc::clone(&batches));
    let consumer =
        builder.wait_time(secs(1)).batch_window(secs(60)).batch_size(20).batch_handler(note).build().unwrap();
    let watch = async {
        // All messages are held, and wait for the window.
        until(|| rig.in_flight() == 10).await;
        consumer.pause();
        sleep(secs(200)).await;
        assert!(batches.lock().unwrap().is_empty());
        consumer.resume();
        until(|| rig.left() == 0).await;
    };
    let report = consumer.run_until(watch).await.unwrap();
    assert_eq!((report.stats.received, report.stats.acked, bodies(&batches).len()), (10, 10, 1));
}

#[test]
fn invalid_batch_settings_are_named_with_what_is_allowed() {
    let rig = sqs_mock_server::MockSqs::in_process();
    let refusal = |concurrency, size, window| {
        let builder = Consumer::builder(rig.client(), rig.queue_url("jobs")).concurrency(concurrency);
        let builder = builder.batch_size(size).batch_window(window).batch_handler(|_: Vec<String>| async {});
        builder.build().unwrap_err().to_string()
    };
    assert_eq!(refusal(1, 0, secs(1)), "batch_size is 0, allowed is 1 to 10000");
    assert_eq!(refusal(1, 10_001, secs(1)), "batch_size is 10001, allowed is 1 to 10000");
    assert_eq!(
        refusal(100, 10_000, secs(1)),
        "batch_size is 10000, allowed is at most 120000 divided by concurrency"
    );
    assert_eq!(refusal(1, 10, secs(301)), "batch_window is 301s, allowed is at most 300s");
}
