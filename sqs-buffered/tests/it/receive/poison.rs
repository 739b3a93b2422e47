//! Messages of FIFO queues whose handlers always fail.

use std::sync::{Arc, Mutex};

use sqs_buffered::{
    BackOff, Consumer, ConsumerBuilder, NoHandler, Poison, ReadyConsumer, ReceiveCount, State,
};
use sqs_client::operation::Action;
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::super::base_client::BaseClient;
use super::rig::{Rig, secs, until};

/// The bodies of the messages in the order of their runs, with the receive count that the handler sees.
type Runs = Arc<Mutex<Vec<(String, u32)>>>;

/// A handler that fails for bodies that begin with "bad".
async fn fails_for_bad(body: String, count: ReceiveCount, State(runs): State<Runs>) -> Result<(), String> {
    runs.lock().unwrap().push((body.clone(), count.0));
    if body.starts_with("bad") { Err("the order is bad".to_owned()) } else { Ok(()) }
}

fn consumer(rig: &Rig, runs: &Runs) -> ConsumerBuilder<BaseClient, NoHandler<Runs>> {
    Consumer::builder(rig.base.clone(), &rig.url).back_off(BackOff::Fixed(secs(5))).state(Arc::clone(runs))
}

fn built(builder: ConsumerBuilder<BaseClient, NoHandler<Runs>>) -> Consumer<BaseClient> {
    ReadyConsumer::build(builder.handler(fails_for_bad)).unwrap()
}

fn nine() -> impl Iterator<Item = String> {
    (1..10).map(|number| number.to_string())
}

#[tokio::test(start_paused = true)]
async fn failing_head_alone_becomes_a_dead_letter_and_its_group_goes_on() {
    let rig = Rig::new("jobs.fifo").await;
    let dead = rig.dead_letter_after(3).await;
    rig.send_to("a", ["bad".to_owned()].into_iter().chain(nine())).await;
    let (runs, start) = (Runs::default(), Instant::now());
    let consumer = built(consumer(&rig, &runs));
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let expected = (1..=3).map(|count| ("bad".to_owned(), count)).chain(nine().map(|body| (body, 1)));
    assert_eq!(*runs.lock().unwrap(), expected.collect::<Vec<_>>());
    assert_eq!(rig.server.queue(dead).bodies(), ["bad"]);
    let letter = rig.client.receive_message().queue_url(rig.server.queue_url(dead));
    let letter = letter.message_attribute_names("All").send().await.unwrap();
    let reason = &letter.messages()[0].message_attributes().unwrap()["DeadLetterReason"];
    assert_eq!(reason, &MessageAttributeValue::string("the order is bad"));
    let stats = report.stats;
    assert_eq!((stats.retried_in_place, stats.failed, stats.dead_lettered, stats.acked), (2, 3, 1, 9));
    assert_eq!((stats.nacked, stats.returned), (0, 0), "nothing was given back");
    assert!(start.elapsed() >= secs(10), "two back-offs: {:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn earlier_receives_count_as_attempts() {
    let rig = Rig::new("jobs.fifo").await;
    let dead = rig.dead_letter_after(3).await;
    rig.send_to("a", ["bad", "1"]).await;
    // A consumer that crashed: its messages become visible after their visibility timeout.
    rig.client.receive_message().queue_url(&rig.url).max_number_of_messages(10).send().await.unwrap();
    let runs = Runs::default();
    built(consumer(&rig, &runs)).run_until(until(|| rig.left() == 0)).await.unwrap();
    let expected = [("bad", 2), ("bad", 3), ("1", 2)].map(|(body, count)| (body.to_owned(), count));
    assert_eq!(
        (runs.lock().unwrap().as_slice(), rig.server.queue(dead).bodies()),
        (&expected[..], vec!["bad".into()])
    );
}

#[tokio::test(start_paused = true)]
async fn group_that_is_left_to_sqs_follows_its_head() {
    let rig = Rig::new("jobs.fifo").await;
    let dead = rig.dead_letter_after(3).await;
    rig.send_to("a", ["bad".to_owned()].into_iter().chain(nine())).await;
    let runs = Runs::default();
    let consumer = built(consumer(&rig, &runs).poison(Poison::LeaveToSqs));
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.retried_in_place, report.stats.dead_lettered), (0, 0));
    assert!(rig.server.queue(dead).bodies().len() > 1, "those behind it were received as often");
}

#[tokio::test(start_paused = true)]
async fn failure_is_left_to_sqs_without_a_policy_or_permission() {
    for denied in
        [None, Some(Action::GetQueueAttributes), Some(Action::GetQueueUrl), Some(Action::SendMessageBatch)]
    {
        let rig = Rig::new("jobs.fifo").await;
        if let Some(action) = denied {
            rig.dead_letter_after(2).await;
            rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(action));
        }
        rig.send_to("a", ["bad", "1"]).await;
        let runs = Runs::default();
        let consumer = built(consumer(&rig, &runs));
        let is_given_back = || rig.sent_of(Action::ChangeMessageVisibilityBatch).len() > 1;
        let report = consumer.run_until(until(is_given_back)).await.unwrap();
        let in_place = u64::from(denied == Some(Action::SendMessageBatch));
        assert_eq!(report.stats.retried_in_place, in_place, "{denied:?}");
        assert_eq!(report.stats.dead_letter_errors > 0, in_place > 0, "{denied:?}");
        assert!(runs.lock().unwrap().iter().all(|(body, _)| body == "bad"), "its group waits: {denied:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_half_of_the_places_wait_for_failing_messages() {
    let rig = Rig::new("jobs.fifo").await;
    rig.dead_letter_after(100).await;
    for group in ["a", "b", "c", "d"] {
        rig.send_to(group, [format!("bad {group}")]).await;
    }
    let runs = Runs::default();
    let consumer = built(consumer(&rig, &runs).concurrency(4).back_off(BackOff::Fixed(secs(600))));
    let running = consumer.spawn().unwrap();
    until(|| runs.lock().unwrap().len() == 4).await;
    tokio::time::sleep(secs(10)).await;
    let stats = running.consumer().stats();
    assert_eq!((stats.retried_in_place, stats.nacked, stats.held), (2, 2, 2));
    running.shutdown(secs(5)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn shutdown_gives_a_waiting_group_back_in_order() {
    let rig = Rig::new("jobs.fifo").await;
    rig.dead_letter_after(100).await;
    rig.send_to("a", ["bad", "1", "2"]).await;
    let runs = Runs::default();
    let consumer = built(consumer(&rig, &runs).back_off(BackOff::Fixed(secs(600))));
    let running = consumer.spawn().unwrap();
    until(|| running.consumer().stats().retried_in_place == 1).await;
    let report = running.shutdown(secs(5)).await.unwrap();
    assert_eq!((report.stats.held, report.stats.nacked, report.is_clean), (0, 0, true));
    let received = rig.client.receive_message().queue_url(&rig.url).max_number_of_messages(10);
    let received = received.send().await.unwrap();
    let bodies: Vec<_> = received.messages().iter().filter_map(|message| message.body()).collect();
    assert_eq!(bodies, ["bad", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn failed_message_of_a_standard_queue_is_given_back() {
    let rig = Rig::new("jobs").await;
    let dead = rig.dead_letter_after(2).await;
    rig.send(["bad", "1"]).await;
    let runs = Runs::default();
    let report = built(consumer(&rig, &runs)).run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.retried_in_place, report.stats.nacked), (0, 2));
    assert_eq!(rig.server.queue(dead).bodies(), ["bad"], "SQS has moved it");
}
