//! The receiver as a stream.

use futures_util::StreamExt as _;
use sqs_buffered::{BufferedClient, Linger, Receiver};
use sqs_client::operation::Action;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep, timeout};

use super::meddler::damaging_once;
use super::rig::{Rig, millis, secs, until};

#[tokio::test(start_paused = true)]
async fn messages_are_yielded_as_a_stream_and_each_method_settles_them() {
    let rig = Rig::new("jobs").await;
    rig.send((0..5).map(|number| number.to_string())).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    receiver.next().await.unwrap().ack().await.unwrap();
    receiver.next().await.unwrap().nack(secs(600)).await.unwrap();
    let kept = receiver.next().await.unwrap().keep();
    assert!(kept.receipt_handle().is_some());
    drop(receiver.next().await.unwrap());
    receiver.next().await.unwrap().release().await.unwrap();
    let stats = receiver.close().await.unwrap();
    assert_eq!((stats.acked, stats.nacked, stats.kept, stats.released), (1, 1, 1, 1));
    assert_eq!(stats.received, 4 + stats.returned, "I1: {stats:?}");
    assert_eq!((rig.left(), rig.in_flight()), (4, 2), "one is delayed, one was kept");
}

#[tokio::test(start_paused = true)]
async fn messages_that_a_dropped_receiver_has_not_yielded_become_visible_again() {
    let rig = Rig::new("jobs").await;
    rig.send((0..10).map(|number| number.to_string())).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).limit(10).start().await.unwrap();
    let handed_out = receiver.next().await.unwrap();
    until(|| rig.in_flight() == 10).await;
    drop(receiver);
    let dropped = Instant::now();
    until(|| rig.in_flight() == 1).await;
    assert!(dropped.elapsed() < secs(1), "it did not have to run out: {:?}", dropped.elapsed());
    sleep(secs(40)).await;
    assert_eq!(rig.in_flight(), 1, "what was handed out is renewed as before");
    handed_out.ack().await.unwrap();
    assert_eq!((rig.left(), rig.in_flight()), (9, 0));
    let receives = rig.sent_of(Action::ReceiveMessage).len();
    sleep(secs(100)).await;
    assert_eq!(rig.sent_of(Action::ReceiveMessage).len(), receives, "nothing more is received");
}

#[tokio::test(start_paused = true)]
async fn close_leaves_a_held_message_with_its_holder() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let (held, other) = (receiver.next().await.unwrap(), receiver.next().await.unwrap());
    let settle = async {
        sleep(secs(5)).await;
        other.ack().await.unwrap();
    };
    let start = Instant::now();
    let (stats, ()) = tokio::join!(timeout(secs(100), receiver.close()), settle);
    assert!(start.elapsed() <= secs(25), "{:?}", start.elapsed());
    let stats = stats.unwrap().unwrap();
    assert_eq!((stats.held, stats.acked, stats.receives_abandoned), (1, 1, 0));
    sleep(secs(100)).await;
    assert_eq!(rig.in_flight(), 1, "its lease is renewed");
    held.ack().await.unwrap();
    assert_eq!(rig.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn close_cancels_a_receive_that_takes_longer_than_its_bound() {
    let rig = Rig::new("jobs").await;
    let buffered = BufferedClient::new(rig.base.clone());
    let receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    sleep(millis(100)).await;
    let start = Instant::now();
    let stats = receiver.close_within(secs(5)).await.unwrap();
    assert!(start.elapsed() <= secs(5), "{:?}", start.elapsed());
    assert_eq!((stats.receives_abandoned, stats.receiving), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn messages_of_a_running_receive_become_visible_when_the_receiver_is_dropped() {
    let rig = Rig::new("jobs").await;
    let buffered = BufferedClient::new(rig.base.clone());
    let receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    sleep(secs(1)).await;
    drop(receiver);
    rig.send(["late"]).await;
    until(|| rig.sent_of(Action::ChangeMessageVisibilityBatch).len() == 1).await;
    sleep(millis(100)).await;
    assert_eq!((rig.left(), rig.in_flight()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn damaged_messages_are_not_yielded_and_intact_ones_are() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    rig.server.faults().inject(Fault::corrupt().on(Action::ReceiveMessage).times(1));
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    for _ in 0..2 {
        receiver.next().await.unwrap().ack().await.unwrap();
    }
    let stats = receiver.close().await.unwrap();
    assert!(stats.damaged >= 1);
    assert_eq!((stats.acked, rig.left(), stats.returned), (2, 0, stats.damaged));
}

#[tokio::test(start_paused = true)]
async fn damaged_message_of_a_group_is_yielded_before_its_successors() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", ["a0", "a1", "a2"]).await;
    let buffered = BufferedClient::new(damaging_once(&rig, "a0"));
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    for expected in ["a0", "a1", "a2"] {
        let received = receiver.next().await.unwrap();
        assert_eq!(received.message().body(), Some(expected));
        received.ack().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn stream_of_a_queue_that_does_not_exist_ends_with_the_reason() {
    let rig = Rig::new("jobs").await;
    let buffered = BufferedClient::new(rig.base.clone());
    let wrong = rig.server.queue_url("jbos");
    let mut receiver = Receiver::builder(&buffered, wrong).visibility_timeout(secs(5)).start().await.unwrap();
    assert!(receiver.next().await.is_none());
    let error = receiver.failure().await.unwrap();
    assert_eq!(error.code(), Some("AWS.SimpleQueueService.NonExistentQueue"));
}

#[tokio::test(start_paused = true)]
async fn receiver_continues_after_its_queue_is_deleted_and_created_again() {
    let server = sqs_mock_server::MockSqs::builder().one_minute_rules(false).in_process().unwrap();
    let rig = Rig::on(server, "jobs").await;
    rig.send(["1"]).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    receiver.next().await.unwrap().ack().await.unwrap();
    rig.client.delete_queue().queue_url(&rig.url).send().await.unwrap();
    sleep(secs(60)).await;
    rig.create("jobs").await;
    rig.send(["2"]).await;
    assert_eq!(receiver.next().await.unwrap().message().body(), Some("2"));
    assert!(receiver.stats().receive_errors > 0);
}

#[tokio::test(start_paused = true)]
async fn message_that_is_held_is_not_yielded_again() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::redeliver().times(2));
    rig.send(["1"]).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let mut one = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let mut other = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let first = tokio::select! {
        first = one.next() => first.unwrap(),
        first = other.next() => first.unwrap(),
    };
    let (again, still) = (millis(3_000), millis(3_000));
    assert!(timeout(again, one.next()).await.is_err());
    assert!(timeout(still, other.next()).await.is_err());
    assert!(one.stats().duplicates + other.stats().duplicates > 0, "it came again");
    first.ack().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn message_is_released_in_time_although_a_visibility_change_lingers() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let linger = Linger::Fixed(secs(30));
    let buffered = BufferedClient::builder(rig.base.clone()).linger(linger).build().unwrap();
    let builder = Receiver::builder(&buffered, &rig.url).visibility_timeout(secs(8));
    let received = builder.start().await.unwrap().next().await.unwrap();
    let handle = received.message().receipt_handle().unwrap().to_owned();
    let waiting = buffered.enqueue_visibility(&rig.url, handle, secs(100)).await.unwrap();
    // The worker of the lane sleeps by now.
    sleep(millis(1)).await;
    let start = Instant::now();
    received.nack(secs(1)).await.unwrap();
    waiting.await.unwrap();
    assert!(start.elapsed() < secs(4), "half of the lease is for failures: {:?}", start.elapsed());
}
