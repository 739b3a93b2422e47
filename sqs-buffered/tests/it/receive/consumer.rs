//! Effects of outcomes, errors and panics.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sqs_buffered::{BackOff, BufferedClient, Consumer, Outcome, ReceiveEvent};
use sqs_client::operation::Action;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::diary::Diary;
use super::rig::{Rig, millis, secs, until};

#[tokio::test(start_paused = true)]
async fn messages_are_handled_concurrently_and_deleted_in_batches() {
    let rig = Rig::new("jobs").await;
    rig.send((0..100).map(|number| number.to_string())).await;
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(32)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            async move {
                sleep(millis(50)).await;
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.received, report.stats.acked, report.stats.started), (100, 100, 100));
    assert!(report.is_clean && report.panics.is_empty());
    assert_eq!((diary.bodies().len(), diary.most_running()), (100, 32));
    let deletes = rig.sent_of(Action::DeleteMessageBatch).len();
    assert!(deletes <= 25, "{deletes} requests for 100 deletes");
    assert_eq!(rig.sent_of(Action::DeleteMessage).len(), 0);
    rig.check_requests(&BTreeMap::new(), "");
}

#[tokio::test(start_paused = true)]
async fn each_outcome_has_its_effect() {
    let rig = Rig::new("jobs").await;
    rig.send(["ack", "nack", "release", "keep", "fail"]).await;
    let seen = Arc::new(Mutex::new(Vec::<(String, Instant)>::new()));
    let log = Arc::clone(&seen);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(millis(6_500)))
        .message_handler(move |message, _| {
            let body = message.body().unwrap_or_default().to_owned();
            let mut log = log.lock().unwrap();
            let is_first = !log.iter().any(|(other, _)| *other == body);
            log.push((body.clone(), Instant::now()));
            async move {
                match body.as_str() {
                    _ if !is_first => Ok(Outcome::Ack),
                    "nack" => Ok(Outcome::Nack(secs(4))),
                    "release" => Ok(Outcome::Release),
                    "keep" => Ok(Outcome::Keep),
                    "fail" => Err("not today")?,
                    _ => Ok(Outcome::Ack),
                }
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let again = |body: &str| {
        let seen = seen.lock().unwrap();
        let times: Vec<_> = seen.iter().filter(|(other, _)| other == body).map(|(_, at)| *at).collect();
        (times.len() == 2).then(|| (times[1] - times[0]).as_secs_f64().round())
    };
    assert_eq!((again("ack"), again("nack"), again("release")), (None, Some(4.0), Some(0.0)));
    assert_eq!((again("fail"), again("keep")), (Some(7.0), Some(30.0)), "whole seconds, rounded up");
    let stats = report.stats;
    assert_eq!((stats.acked, stats.nacked, stats.released, stats.kept, stats.failed), (5, 2, 1, 1, 1));
    assert_eq!(stats.received, 9);
}

#[tokio::test(start_paused = true)]
async fn panics_are_caught_reported_and_retried_after_the_back_off() {
    let rig = Rig::new("jobs").await;
    rig.send((0..15).map(|number| number.to_string())).await;
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&events);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Exponential { first: secs(2), max: secs(8) })
        .on_event(move |event| {
            if let ReceiveEvent::HandlerPanicked { text, .. } = event {
                told.lock().unwrap().push((*text).to_owned());
            }
        })
        .message_handler(|message, _| {
            let count = message.attributes().unwrap()
                [&sqs_client::types::MessageSystemAttributeName::ApproximateReceiveCount]
                .clone();
            // Also before the future exists: the task calls the handler.
            assert!(count != "1", "first time");
            async move {
                assert!(count != "2", "second time {}", message.body().unwrap_or_default());
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.panicked, report.stats.acked, report.stats.nacked), (30, 15, 30));
    assert_eq!(report.panics.len(), 10);
    assert_eq!(events.lock().unwrap().len(), 30);
    assert!(events.lock().unwrap().iter().all(|text| text.contains("time")));
}

#[tokio::test(start_paused = true)]
async fn second_delivery_of_a_running_message_shares_its_outcome() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::redeliver().times(3));
    rig.send((0..8).map(|number| number.to_string())).await;
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(40)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            async move {
                sleep(secs(2)).await;
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert!(diary.overlapping().is_empty());
    assert_eq!(diary.bodies().len(), 8, "each is handled once");
    assert!(report.stats.duplicates >= 8, "{:?}", report.stats);
    assert_eq!(report.stats.acked, 8 + report.stats.duplicates, "I1: each delivery has its outcome");
    rig.check_requests(&BTreeMap::new(), "I14");
}

#[tokio::test(start_paused = true)]
async fn consumers_can_share_the_batches_of_a_client() {
    let rig = Rig::new("jobs").await;
    rig.send((0..4).map(|number| number.to_string())).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let consumer = Consumer::builder_with(&buffered, &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(buffered.stats().succeeded, 4);
    buffered.close().await;
}

#[tokio::test(start_paused = true)]
async fn consumers_of_one_client_never_handle_a_message_at_the_same_time() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::redeliver().times(4));
    rig.send((0..5).map(|number| number.to_string())).await;
    let (buffered, diary) = (BufferedClient::new(rig.base.clone()), Diary::default());
    let consumer = || {
        let seen = diary.clone();
        let builder = Consumer::builder_with(&buffered, &rig.url).concurrency(5);
        builder
            .message_handler(move |message, _| {
                let page = seen.start(&message);
                async move {
                    sleep(secs(5)).await;
                    drop(page);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap()
    };
    let (one, other) = (consumer(), consumer());
    let (one, other) =
        tokio::join!(one.run_until(until(|| rig.left() == 0)), other.run_until(until(|| rig.left() == 0)));
    let (one, other) = (one.unwrap().stats, other.unwrap().stats);
    assert!(one.received > 0 && other.received > 0 && one.duplicates + other.duplicates > 0);
    assert!(diary.overlapping().is_empty(), "{:?}", diary.overlapping());
}

#[tokio::test(start_paused = true)]
async fn hook_gets_receives_handlers_and_ends_with_their_durations() {
    let rig = Rig::new("jobs").await;
    rig.send(["ack", "fail"]).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(secs(100)))
        .on_event(move |event| {
            let line = match event {
                ReceiveEvent::Received { messages, .. } => format!("received {messages}"),
                ReceiveEvent::Handled { outcome, elapsed, .. } => {
                    format!("handled {outcome:?} {}", elapsed.as_secs())
                }
                ReceiveEvent::Settled { how, age, .. } => format!("{} {}", how.as_str(), age.as_secs()),
                ReceiveEvent::HandlerFailed { error, .. } => error.to_string(),
                _ => panic!("{event:?}"),
            };
            log.lock().unwrap().push(line);
        })
        .message_handler(|message, _| async move {
            sleep(secs(3)).await;
            if message.body() == Some("ack") { Ok(Outcome::Ack) } else { Err("it fails")? }
        })
        .build()
        .unwrap();
    consumer.run_until(sleep(secs(10))).await.unwrap();
    let told = told.lock().unwrap();
    let count = |line: &str| told.iter().filter(|other| *other == line).count();
    for line in ["handled Some(Ack) 3", "acked 3", "it fails", "handled None 3", "nacked 3"] {
        assert_eq!(count(line), 1, "{line}: {told:?}");
    }
    let received: usize = (0..=2).map(|messages| messages * count(&format!("received {messages}"))).sum();
    assert_eq!(received, 2, "{told:?}");
}
