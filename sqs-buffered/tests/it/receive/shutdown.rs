//! The end of a run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sqs_buffered::{Consumer, Outcome};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::types::Message;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::super::base_client::{Base, BaseClient};
use super::diary::Diary;
use super::rig::{Rig, Sent, millis, secs, until};

#[tokio::test(start_paused = true)]
async fn after_a_shutdown_no_message_is_hidden() {
    check_shutdown::<BaseClient>().await;
}

pub(crate) async fn check_shutdown<C: Base>() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::<C>::over(MockSqs::in_process(), name, RetryConfig::standard()).await;
        for number in 0..60 {
            let group = (number % 7).to_string();
            rig.send_to(&group, [number.to_string()]).await;
        }
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .concurrency(4)
            .prefetch(30)
            .message_handler(move |message, _| {
                let page = seen.start(&message);
                async move {
                    sleep(secs(3)).await;
                    drop(page);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(sleep(secs(7))).await.unwrap();
        assert_eq!(rig.in_flight(), 0, "I10");
        let stats = report.stats;
        assert!(report.is_clean && stats.returned > 0 && stats.acked > 0, "{stats:?}");
        assert_eq!((stats.received, stats.held, stats.receiving), (stats.acked + stats.returned, 0, 0), "I1");
        assert_eq!(u64::try_from(60 - rig.left()).unwrap(), stats.acked);
        assert_eq!(consumer.stats(), stats);
    }
}

#[tokio::test(start_paused = true)]
async fn running_receive_is_awaited_and_its_messages_become_visible_again() {
    let rig = Rig::new("jobs").await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async { panic!("nothing starts after the end") })
        .build()
        .unwrap();
    let start = Instant::now();
    let late = async {
        sleep(secs(5)).await;
        rig.send(["late"]).await;
    };
    let (report, ()) = tokio::join!(consumer.run_until(sleep(secs(1))), late);
    let report = report.unwrap();
    assert_eq!((report.stats.received, report.stats.returned, report.stats.started), (1, 1, 0));
    assert_eq!((rig.left(), rig.in_flight(), report.is_clean), (1, 0, true));
    assert!(start.elapsed() < secs(7), "no longer than it took: {:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn handlers_are_stopped_before_the_grace_is_over_and_their_messages_become_visible() {
    let rig = Rig::new("jobs").await;
    rig.send(["short", "long"]).await;
    let finished = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&finished);
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |message, _| {
            let (count, page) = (Arc::clone(&count), seen.start(&message));
            async move {
                sleep(if message.body() == Some("short") { secs(5) } else { secs(500) }).await;
                count.fetch_add(1, Ordering::Relaxed);
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let run = tokio::spawn({
        let consumer = consumer.clone();
        async move { consumer.run().await }
    });
    until(|| diary.bodies().len() == 2).await;
    let start = Instant::now();
    let report = consumer.shutdown(secs(20)).await.unwrap();
    assert!((secs(17)..secs(20)).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert_eq!((report.stats.acked, report.stats.aborted, report.stats.returned), (1, 1, 1));
    assert!(!report.is_clean);
    assert_eq!((rig.in_flight(), rig.left(), finished.load(Ordering::Relaxed)), (0, 1, 1));
    assert_eq!(run.await.unwrap().unwrap(), report);
}

#[tokio::test(start_paused = true)]
async fn shutdown_with_a_handler_that_never_ends_takes_25_seconds_at_most() {
    // First with requests that work, then with visibility changes that hang.
    for hangs in [false, true] {
        let rig = Rig::new("jobs").await;
        rig.send((0..20).map(|number| number.to_string())).await;
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .prefetch(10)
            .message_handler(move |message, _| {
                let page = seen.start(&message);
                async move {
                    let _page = page;
                    std::future::pending().await
                }
            })
            .build()
            .unwrap();
        let started = async {
            until(|| diary.bodies().len() == 10).await;
            if hangs {
                let hang = Fault::latency(secs(1_000)).on(Action::ChangeMessageVisibilityBatch);
                rig.server.faults().inject(hang);
            }
            Instant::now()
        };
        let mut ended = Instant::now();
        let report = consumer.run_until(async { ended = started.await }).await.unwrap();
        assert!(ended.elapsed() <= secs(25), "{:?}", ended.elapsed());
        assert_eq!((report.stats.aborted, report.is_clean), (10, false));
        if !hangs {
            assert_eq!((report.stats.returned, rig.in_flight()), (20, 0), "I10");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn receives_longer_than_the_grace_are_cancelled_and_counted() {
    let rig = Rig::new("jobs").await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .grace(secs(2))
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let start = Instant::now();
    let report = consumer.run_until(sleep(secs(1))).await.unwrap();
    assert!(start.elapsed() < secs(4), "{:?}", start.elapsed());
    assert_eq!((report.stats.receives_abandoned, report.is_clean), (1, false));
}

#[tokio::test(start_paused = true)]
async fn receive_with_lost_response_before_shutdown_is_counted_or_recovered() {
    for (name, abandoned) in [("jobs", 1), ("jobs.fifo", 0)] {
        let rig = Rig::new(name).await;
        rig.send_to("a", (0..10).map(|number| number.to_string())).await;
        rig.server.faults().inject(Fault::reset_after().on(Action::ReceiveMessage).times(1));
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(|_, _| async { panic!("nothing starts after the end") })
            .build()
            .unwrap();
        let start = Instant::now();
        let report = consumer.run_until(sleep(millis(50))).await.unwrap();
        assert!(start.elapsed() < secs(1), "{:?}", start.elapsed());
        assert_eq!((report.stats.receives_abandoned, report.is_clean), (abandoned, abandoned == 0), "{name}");
        assert_eq!(rig.in_flight(), if abandoned == 0 { 0 } else { 10 }, "{name}");
        assert_eq!(report.stats.returned, if abandoned == 0 { 10 } else { 0 }, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn messages_of_a_dropped_run_become_visible_again_in_the_background() {
    let rig = Rig::new("jobs").await;
    rig.send((0..20).map(|number| number.to_string())).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(5)
        .prefetch(10)
        .message_handler(|_, _| async {
            sleep(secs(60)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    assert!(tokio::time::timeout(secs(40), consumer.run()).await.is_err());
    let dropped = Instant::now();
    until(|| rig.in_flight() == 0).await;
    assert!(dropped.elapsed() < secs(1), "it did not have to run out: {:?}", dropped.elapsed());
    assert_eq!(rig.left(), 20);
    let error = consumer.shutdown(secs(1)).await.unwrap_err();
    assert!(error.to_string().contains("dropped"), "{error}");
    let receives = rig.sent_of(Action::ReceiveMessage).len();
    sleep(secs(100)).await;
    assert_eq!((rig.sent_of(Action::ReceiveMessage).len(), rig.in_flight()), (receives, 0));
}

#[tokio::test(start_paused = true)]
async fn outcomes_within_the_grace_take_effect() {
    let rig = Rig::new("jobs").await;
    rig.send((0..10).map(|number| number.to_string())).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async {
            sleep(secs(10)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(sleep(millis(500))).await.unwrap();
    assert_eq!((report.stats.acked, report.stats.returned, rig.left()), (10, 0, 0));
    assert!(report.is_clean);
}

#[tokio::test(start_paused = true)]
async fn maximum_grace_waits_for_handlers_without_limit() {
    let rig = Rig::new("jobs").await;
    rig.send(["long"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .grace(std::time::Duration::MAX)
        .message_handler(|_, _| async {
            sleep(secs(3_000)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(sleep(secs(1))).await.unwrap();
    assert_eq!((report.stats.acked, report.is_clean), (1, true));
}

#[tokio::test(start_paused = true)]
async fn later_grace_wins_during_a_shutdown() {
    let rig = Rig::new("jobs").await;
    rig.send(["long"]).await;
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |message, _| {
            seen.start(&message);
            async {
                sleep(secs(500)).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let run = tokio::spawn({
        let consumer = consumer.clone();
        async move { consumer.run().await }
    });
    until(|| diary.bodies().len() == 1).await;
    let start = Instant::now();
    let impatient = async {
        sleep(secs(2)).await;
        consumer.shutdown(secs(0)).await
    };
    let (patient, impatient) = tokio::join!(consumer.shutdown(secs(400)), impatient);
    assert!(start.elapsed() < secs(4), "{:?}", start.elapsed());
    assert_eq!(patient.unwrap(), impatient.unwrap());
    assert_eq!((run.await.unwrap().unwrap().stats.aborted, rig.in_flight()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn shutdown_does_not_wait_for_queue_attributes() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::latency(secs(90)).on(Action::GetQueueAttributes));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let start = Instant::now();
    let report = consumer.run_until(sleep(secs(1))).await.unwrap();
    assert!(report.is_clean && start.elapsed() < secs(2), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn message_whose_delete_is_under_way_at_the_end_of_the_grace_stays_hidden() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("a", (0..10).map(|number| number.to_string())).await;
        rig.server.faults().inject(Fault::latency(secs(20)).on(Action::DeleteMessageBatch));
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .grace(secs(4))
            .message_handler(|_, _| async { Ok(Outcome::Ack) })
            .build()
            .unwrap();
        let deleting = || {
            let deletes = rig.sent_of(Action::DeleteMessageBatch);
            deletes.iter().flat_map(Sent::handles).map(|(handle, _)| handle).collect::<BTreeSet<_>>()
        };
        let report = consumer.run_until(until(|| !deleting().is_empty())).await.unwrap();
        let under_way = deleting();
        let stats = report.stats;
        assert_eq!(stats.deleting, u64::try_from(under_way.len()).unwrap(), "{stats:?}");
        assert_eq!((stats.acked, stats.returned + stats.deleting, stats.held), (0, 10, 0), "{stats:?}");
        assert_eq!(rig.hidden().len(), under_way.len(), "the others are visible");
        let shown = rig.sent_of(Action::ChangeMessageVisibilityBatch);
        assert!(shown.iter().flat_map(Sent::handles).all(|(handle, _)| !under_way.contains(&handle)));
        sleep(secs(30)).await;
        assert_eq!(rig.left(), 10 - under_way.len(), "the lane has deleted them");
    }
}

#[tokio::test(start_paused = true)]
async fn second_consumer_sees_nothing_that_the_first_handled_before_its_shutdown_with_slow_deletes() {
    // The deletes end within the grace, or after it, but always within the leases.
    for (name, takes, grace) in [("jobs", 4, 25), ("jobs.fifo", 4, 25), ("jobs", 10, 3), ("jobs.fifo", 10, 3)]
    {
        let rig = Rig::new(name).await;
        for number in 0..400 {
            rig.send_to(&(number % 20).to_string(), [number.to_string()]).await;
        }
        let deletes = |fault: Fault| rig.server.faults().inject(fault.on(Action::DeleteMessageBatch));
        deletes(Fault::latency(secs(takes)));
        deletes(Fault::reset_after().probability(0.2));
        let ledger = Diary::default();
        let consumer = || {
            let ledger = ledger.clone();
            let builder =
                Consumer::builder(rig.base.clone(), &rig.url).concurrency(20).prefetch(20).grace(secs(grace));
            let handler = move |message: Arc<Message>, _| {
                let page = ledger.start(&message);
                async move {
                    sleep(millis(500)).await;
                    page.acked();
                    Ok(Outcome::Ack)
                }
            };
            builder.message_handler(handler).build().unwrap()
        };
        let report = consumer().run_until(sleep(secs(5))).await.unwrap();
        let handled = ledger.bodies().len();
        assert!((20..400).contains(&handled), "{handled} {report:?}");
        assert_eq!(report.stats.deleting > 0, takes > grace, "{report:?}");
        consumer().run_until(until(|| rig.left() == 0)).await.unwrap();
        let bodies = ledger.bodies();
        assert_eq!(bodies.len(), 400, "each message is handled once");
        assert_eq!(bodies.iter().collect::<BTreeSet<_>>().len(), 400, "each message is handled");
    }
}

#[tokio::test(start_paused = true)]
async fn idle_consumer_stops_at_once_if_it_may_cancel_receives_or_is_told_twice() {
    for cancels in [true, false] {
        let rig = Rig::new("jobs").await;
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .cancel_receives(cancels)
            .message_handler(|_, _| async { Ok(Outcome::Ack) })
            .build()
            .unwrap();
        let handle = consumer.spawn().unwrap();
        sleep(secs(1)).await;
        let start = Instant::now();
        let again = async {
            sleep(millis(500)).await;
            if !cancels {
                consumer.shutdown(secs(0)).await.unwrap();
            }
        };
        let (report, ()) = tokio::join!(handle.shutdown(secs(25)), again);
        assert_eq!(report.unwrap().stats.receives_abandoned, 1);
        assert!(start.elapsed() < millis(1_600), "{cancels}: {:?}", start.elapsed());
    }
}
