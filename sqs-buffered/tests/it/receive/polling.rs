//! The number of receives for a number of messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sqs_buffered::{Consumer, Outcome};
use sqs_client::operation::Action;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::diary::Diary;
use super::rig::{Rig, millis, secs, until};

#[tokio::test(start_paused = true)]
async fn slow_handlers_of_a_long_queue_receive_several_messages_at_a_time() {
    let rig = Rig::new("jobs").await;
    rig.send((0..200).map(|number| number.to_string())).await;
    let count = AtomicU64::new(0);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |_, _| {
            // Handlers end one by one, never together.
            let work = millis(1_000 + 137 * (count.fetch_add(1, Ordering::Relaxed) % 10));
            async move {
                sleep(work).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let start = Instant::now();
    let watch = async {
        until(|| rig.left() == 0).await;
        let receives = rig.sent_of(Action::ReceiveMessage).len();
        assert!(receives <= 80, "{receives} receives for 200 messages");
        // 20 rounds of 1.6 s on average, and half a second between them.
        assert!(start.elapsed() < secs(45), "{:?}", start.elapsed());
    };
    consumer.run_until(watch).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn free_place_waits_for_others_a_fifth_of_the_handler_time_and_at_most_the_poll_delay() {
    for (max, delay) in [(millis(0), millis(0)), (millis(500), millis(500)), (secs(4), secs(2))] {
        let rig = Rig::new("jobs").await;
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .concurrency(3)
            .max_poll_delay(max)
            .message_handler(move |message, _| {
                let page = seen.start(&message);
                async move {
                    sleep(if message.body() == Some("short") { secs(10) } else { secs(60) }).await;
                    drop(page);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let watch = async {
            rig.send(["long", "long", "short", "next"]).await;
            until(|| diary.bodies().len() == 3).await;
            sleep(millis(9_970) + delay).await;
            assert_eq!(diary.bodies().len(), 3, "before {delay:?}");
            sleep(millis(60)).await;
            assert_eq!(diary.bodies().len(), 4, "after {delay:?}");
        };
        consumer.run_until(watch).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn message_starts_at_once_while_another_is_slow_and_places_are_free() {
    let rig = Rig::new("jobs").await;
    let started = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&started);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            async {
                sleep(secs(10)).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let watch = async {
        sleep(secs(5)).await;
        for number in 1..=5 {
            rig.send(["one"]).await;
            sleep(millis(50)).await;
            assert_eq!(started.load(Ordering::Relaxed), number);
        }
    };
    consumer.run_until(watch).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn short_polls_of_an_empty_queue_are_paced_until_a_message_arrives() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::latency(millis(5)).on(Action::ReceiveMessage));
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(100)
        .wait_time(secs(0))
        .message_handler(move |message, _| {
            seen.start(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let receives = || rig.sent_of(Action::ReceiveMessage).len();
    let watch = async {
        sleep(secs(60)).await;
        let empty = receives();
        assert!((30..=80).contains(&empty), "{empty} receives of an empty queue in a minute");
        rig.send(["0"]).await;
        sleep(millis(2_010)).await;
        assert_eq!(diary.bodies().len(), 1, "the longest pause is two seconds");
        rig.send((1..300).map(|number| number.to_string())).await;
        // 2 s for a pause that may have begun, and 300 messages in ten receives at a time of ten each.
        sleep(millis(2_010 + 50)).await;
        assert_eq!(diary.bodies().len(), 300);
    };
    consumer.run_until(watch).await.unwrap();
}
