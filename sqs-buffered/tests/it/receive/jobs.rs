//! Consumers of jobs that end, their health, and queues by name.

use sqs_buffered::{BackOff, BufferedClient, Consumer, Entry, QueueName, ReceiveCount, ReceiveErrorKind};
use sqs_client::types::QueueAttributeName;
use tokio::time::{Instant, sleep};

use super::rig::{Rig, secs, until};

#[tokio::test(start_paused = true)]
async fn consumer_drains_a_queue_and_ends_when_it_stays_empty() {
    let rig = Rig::new("jobs").await;
    rig.send((0..25).map(|number| number.to_string())).await;
    let (client, url) = (rig.client.clone(), rig.url.clone());
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler(move |body: String| {
            let (client, url) = (client.clone(), url.clone());
            async move {
                sleep(secs(30)).await;
                // A job that makes another one.
                if body == "7" {
                    client.send_message().queue_url(url).message_body("late").send().await.unwrap();
                }
            }
        })
        .build()
        .unwrap();
    let start = Instant::now();
    let report = consumer.drain(secs(5)).await.unwrap();
    assert_eq!((report.stats.acked, rig.left(), report.is_clean), (26, 0, true));
    // Three rounds of thirty seconds, and a long poll that finds nothing.
    assert!((secs(95)..=secs(101)).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn drain_waits_for_messages_that_it_gave_back() {
    let rig = Rig::new("jobs").await;
    rig.send(["fails twice", "never fails"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(secs(300)))
        .handler(
            async |body: String, ReceiveCount(count): ReceiveCount| {
                if body == "fails twice" && count < 3 { Err("not yet") } else { Ok(()) }
            },
        )
        .build()
        .unwrap();
    let start = Instant::now();
    let report = consumer.drain(secs(2)).await.unwrap();
    assert_eq!((report.stats.acked, report.stats.failed, rig.left()), (2, 2, 0));
    assert!((secs(602)..secs(606)).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn stop_does_not_wait_for_the_shutdown_that_it_begins() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler(async || sleep(secs(10)).await)
        .build()
        .unwrap();
    let handle = consumer.spawn().unwrap();
    until(|| consumer.stats().started == 1).await;
    let start = Instant::now();
    consumer.stop();
    assert_eq!(start.elapsed(), secs(0));
    assert!(consumer.health().is_stopping);
    assert_eq!(handle.await.unwrap().stats.acked, 1);
}

#[tokio::test(start_paused = true)]
async fn health_says_whether_the_consumer_lives() {
    let rig = Rig::new("jobs").await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler(async || sleep(secs(300)).await)
        .build()
        .unwrap();
    let minute = secs(60);
    assert!(!consumer.health().is_running && !consumer.health().is_live(minute));
    let handle = consumer.spawn().unwrap();
    sleep(secs(10)).await;
    assert!(consumer.health().is_live(minute), "its first receive waits: {}", consumer.health());
    sleep(secs(20)).await;
    let health = consumer.health();
    assert!(health.is_live(minute) && health.last_receive.is_some_and(|last| last <= secs(21)), "{health}");
    rig.send(["1"]).await;
    sleep(secs(1)).await;
    let health = consumer.health();
    assert_eq!((health.running_handlers, health.held, health.is_live(minute)), (1, 1, true), "{health}");
    // Long after that, the service does not answer.
    until(|| rig.left() == 0).await;
    let hangs = sqs_mock_server::faults::Fault::latency(secs(100_000))
        .on(sqs_client::operation::Action::ReceiveMessage);
    let hung = rig.server.faults().inject(hangs);
    sleep(secs(100)).await;
    assert!(!consumer.health().is_live(minute), "{}", consumer.health());
    hung.remove();
    consumer.pause();
    assert!(consumer.health().is_live(minute) && consumer.health().to_string().starts_with("paused, "));
    handle.shutdown(secs(1)).await.unwrap();
    assert!(!consumer.health().is_running);
}

/// The last answer is then older than the handler.
#[tokio::test(start_paused = true)]
async fn consumer_lives_while_it_asks_again_after_all_places_were_taken() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(1)
        .handler(async || sleep(secs(90)).await)
        .build()
        .unwrap();
    let handle = consumer.spawn().unwrap();
    for _ in 0..150 {
        sleep(secs(1)).await;
        assert!(consumer.health().is_live(secs(60)), "{}", consumer.health());
    }
    handle.shutdown(secs(1)).await.unwrap();
}

#[tokio::test]
async fn queue_is_found_by_its_name_and_created_if_asked() {
    let rig = Rig::new("jobs").await;
    assert_eq!(QueueName::new("jobs").url(&rig.base).await.unwrap(), rig.url);
    let error = QueueName::new("others").url(&rig.base).await.unwrap_err();
    assert_eq!(error.kind(), ReceiveErrorKind::Refused);
    let text = error.to_string();
    assert!(text.contains("\"others\"") && text.ends_with("QueueName::create makes it"), "{text}");
    let others = QueueName::new("others.fifo").create();
    let url = others.attribute(QueueAttributeName::VisibilityTimeout, "7").url(&rig.base).await.unwrap();
    assert_eq!(url, rig.server.queue_url("others.fifo"));
    assert_eq!(QueueName::new("others.fifo").create().url(&rig.base).await.unwrap(), url);
}

#[tokio::test]
async fn values_are_sent_as_json() {
    #[derive(serde::Serialize)]
    struct Order {
        id: u32,
    }
    let rig = Rig::new("jobs").await;
    let orders = BufferedClient::new(rig.base.clone()).queue(&rig.url);
    orders.send_json(&Order { id: 7 }).await.unwrap();
    orders.send("tea").await.unwrap();
    orders.client().send_entry(Entry::json(orders.url(), &[1, 2]).unwrap()).await.unwrap();
    let mut bodies = rig.server.queue("jobs").bodies();
    bodies.sort_unstable();
    assert_eq!(bodies, ["[1,2]", "tea", r#"{"id":7}"#]);
    let odd = std::collections::BTreeMap::from([((1, 2), 3)]);
    let error = orders.send_json(&odd).await.unwrap_err();
    assert!(error.to_string().contains("the value has no form in JSON"), "{error}");
}
