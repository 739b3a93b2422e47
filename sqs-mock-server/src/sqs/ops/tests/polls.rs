//! Events that end a long poll.

use sqs_client::operation::change_message_visibility::ChangeMessageVisibilityInput;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn send_ends_a_long_poll_at_once() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let parked = rig.park(long_poll(&url, 20)).await;
    assert!(parked.is_parked());
    rig.send(&url, "hello").await;
    assert_eq!(parked.bodies().await, ["hello"]);
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn long_poll_ends_empty_at_its_deadline() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let start = Instant::now();
    assert_eq!(rig.call(long_poll(&url, 20)).await.unwrap().messages, None);
    assert_eq!(start.elapsed(), Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn absent_wait_uses_the_wait_of_the_queue_and_zero_is_a_short_poll() {
    let rig = rig();
    let url = rig.queue("orders", &[("ReceiveMessageWaitTimeSeconds", "7")]).await;
    let start = Instant::now();
    rig.call(long_poll(&url, 0)).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    rig.call(receive(&url)).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn visibility_timeout_of_a_message_ends_a_long_poll() {
    let rig = rig();
    let url = rig.queue("orders", &[("VisibilityTimeout", "5")]).await;
    rig.send(&url, "again").await;
    rig.receive(&url).await;
    let start = Instant::now();
    let parked = rig.park(long_poll(&url, 20)).await;
    assert_eq!(parked.bodies().await, ["again"]);
    assert_eq!(start.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn end_of_a_delay_ends_an_earlier_long_poll() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let start = Instant::now();
    let parked = rig.park(long_poll(&url, 20)).await;
    rig.call(send(&url, "later").delay_seconds(9)).await.unwrap();
    rig.call(send(&url, "sooner").delay_seconds(3)).await.unwrap();
    assert_eq!(parked.bodies().await, ["sooner"]);
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn message_that_arrives_at_the_deadline_is_returned() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let watcher = rig.park(long_poll(&url, 20)).await;
    let other = rig.park(long_poll(&url, 4)).await;
    for body in ["1", "2"] {
        rig.call(send(&url, body).delay_seconds(4)).await.unwrap();
    }
    assert_eq!((watcher.bodies().await.len(), other.bodies().await.len()), (1, 1));
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn visibility_changed_to_zero_ends_a_long_poll() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "again").await;
    let handle = rig.receive(&url).await.remove(0).receipt_handle.unwrap();
    let parked = rig.park(long_poll(&url, 20)).await;
    let change = ChangeMessageVisibilityInput::builder().queue_url(&url).receipt_handle(handle);
    rig.call(change.visibility_timeout(0)).await.unwrap();
    assert_eq!(parked.bodies().await, ["again"]);
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn delete_of_all_in_flight_messages_unlocks_a_group_for_a_long_poll() {
    let rig = rig();
    let url = rig.fifo_queue("orders.fifo").await;
    for body in ["1", "2", "3"] {
        rig.send_to_group(&url, "g", body).await;
    }
    let taken = rig.call(receive(&url).max_number_of_messages(2)).await.unwrap().messages.unwrap();
    let parked = rig.park(long_poll(&url, 20)).await;
    rig.delete(&url, &taken[0]).await;
    let_others_run().await;
    assert!(parked.is_parked());
    rig.delete(&url, &taken[1]).await;
    assert_eq!(parked.bodies().await, ["3"]);
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn shorter_delay_of_a_fifo_queue_ends_a_long_poll_earlier() {
    let rig = rig();
    let url = rig.queue("q.fifo", &[("FifoQueue", "true"), ("DelaySeconds", "900")]).await;
    rig.call(send(&url, "x").message_group_id("g").message_deduplication_id("d")).await.unwrap();
    let parked = rig.park(long_poll(&url, 20)).await;
    let set = SetQueueAttributesInput::builder().queue_url(&url).attributes("DelaySeconds".into(), "6");
    rig.call(set).await.unwrap();
    assert_eq!(parked.bodies().await, ["x"]);
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_all_long_polls_empty_and_at_once() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let parked = [rig.park(long_poll(&url, 20)).await, rig.park(long_poll(&url, 20)).await];
    let start = Instant::now();
    rig.service.shut_down();
    for parked in parked {
        assert!(parked.bodies().await.is_empty());
    }
    assert!(rig.park(long_poll(&url, 20)).await.bodies().await.is_empty());
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn queue_deletion_ends_long_polls_before_they_see_the_new_queue() {
    let rig = rig_with(Settings { one_minute_rules: false, ..Settings::default() });
    let url = rig.queue("orders", &[]).await;
    let parked = [rig.park(long_poll(&url, 20)).await, rig.park(long_poll(&url, 20)).await];
    rig.call(DeleteQueueInput::builder().queue_url(&url)).await.unwrap();
    rig.queue("orders", &[]).await;
    rig.send(&url, "for the successor").await;
    for parked in parked {
        assert_eq!(parked.answer().await.unwrap_err().code, ErrorCode::QueueDoesNotExist);
    }
    assert_eq!(rig.bodies(&url).await, ["for the successor"]);
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn long_poll_waits_on_a_frozen_clock() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.service.clock().freeze();
    rig.call(send(&url, "later").delay_seconds(5)).await.unwrap();
    let (first, second) = (rig.park(long_poll(&url, 20)).await, rig.park(long_poll(&url, 20)).await);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    rig.pass(4).await;
    assert!(first.is_parked() && second.is_parked());
    rig.pass(1).await;
    assert_eq!(first.bodies().await, ["later"]);
    assert!(second.is_parked());
    rig.pass(15).await;
    assert!(second.bodies().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn messages_taken_by_others_do_not_prolong_a_long_poll() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let parked = rig.park(long_poll(&url, 20)).await;
    let stream = tokio::spawn({
        let (rig, url) = (rig.clone(), url.clone());
        async move {
            loop {
                rig.send(&url, "x").await;
                assert_eq!(rig.receive(&url).await.len(), 1);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
    assert!(parked.bodies().await.is_empty());
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(20));
    stream.abort();
}

#[tokio::test(start_paused = true)]
async fn long_poll_at_the_in_flight_limit_wakes_after_a_delete() {
    let rig = rig_with(Settings { max_in_flight: 1, ..Settings::default() });
    let urls = [rig.queue("orders", &[]).await, rig.fifo_queue("orders.fifo").await];
    for url in urls {
        for body in ["1", "2", "3"] {
            let group = url.ends_with(".fifo").then(|| body.to_owned());
            rig.call(send(&url, body).set_message_group_id(group)).await.unwrap();
        }
        let first = rig.receive(&url).await.remove(0);
        let parked = [rig.park(long_poll(&url, 20)).await, rig.park(long_poll(&url, 20)).await];
        rig.delete(&url, &first).await;
        let_others_run().await;
        let [second, third] = parked;
        assert!(third.is_parked());
        let second = second.answer().await.unwrap().messages.unwrap().remove(0);
        assert_eq!(second.body(), Some("2"));
        rig.delete(&url, &second).await;
        assert_eq!(third.bodies().await, ["3"]);
    }
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn deletion_during_a_long_poll_fails_with_the_text_of_its_protocol() {
    let mut rig = rig();
    rig.context.is_query = true;
    let url = rig.queue("orders", &[]).await;
    let parked = rig.park(long_poll(&url, 20)).await;
    rig.call(DeleteQueueInput::builder().queue_url(&url)).await.unwrap();
    let message = parked.answer().await.unwrap_err().message;
    assert_eq!(message.as_deref(), Some("The specified queue does not exist for this wsdl version."));
}
