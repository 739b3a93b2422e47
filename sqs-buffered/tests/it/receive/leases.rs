//! Leases are renewed while needed, lost when refused, and not used afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

use futures_util::StreamExt as _;
use sqs_buffered::{BackOff, BufferedClient, Consumer, Outcome, ReceiveEvent, Receiver};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::super::base_client::{Base, BaseClient};
use super::diary::Diary;
use super::rig::{Rig, Sent, millis, secs, until};

#[tokio::test(start_paused = true)]
async fn handler_that_takes_many_visibility_timeouts_sees_one_delivery() {
    check_long_handlers::<BaseClient>().await;
}

pub(crate) async fn check_long_handlers<C: Base>() {
    for (name, timeout) in [("jobs", 1), ("jobs", 30), ("jobs.fifo", 4)] {
        let rig = Rig::<C>::over(MockSqs::in_process(), name, RetryConfig::standard()).await;
        rig.set(QueueAttributeName::VisibilityTimeout, &timeout.to_string()).await;
        let group = name.ends_with(".fifo");
        if group {
            rig.send_to("a", ["1"]).await;
        } else {
            rig.send(["1"]).await;
        }
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(move |message, lease| {
                let page = seen.start(&message);
                async move {
                    sleep(secs(12 * timeout)).await;
                    assert!(!lease.is_lost());
                    drop(page);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        assert_eq!((report.stats.received, report.stats.acked, diary.bodies().len()), (1, 1, 1), "I11");
        let renewals = rig.sent_of(Action::ChangeMessageVisibilityBatch).len();
        assert!((20..=28).contains(&renewals), "half-way, so about two for each timeout: {renewals}");
        rig.check_requests(&BTreeMap::new(), "I12");
    }
}

#[tokio::test(start_paused = true)]
async fn renewals_of_many_handlers_go_in_batches() {
    let rig = Rig::new("jobs").await;
    rig.send((0..50).map(|number| number.to_string())).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(20)
        .prefetch(30)
        .message_handler(|_, _| async {
            sleep(secs(100)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.received, report.stats.acked), (50, 50), "those that waited were renewed too");
    let renewed: usize =
        rig.sent_of(Action::ChangeMessageVisibilityBatch).iter().map(|sent| sent.handles().len()).sum();
    assert!(renewed >= 50 * 6, "{renewed}");
    let requests = rig.sent_of(Action::ChangeMessageVisibilityBatch).len();
    assert!(requests * 5 <= renewed, "well filled batches: {requests} requests for {renewed} renewals");
    rig.check_requests(&BTreeMap::new(), "I12");
}

#[tokio::test(start_paused = true)]
async fn refused_renewal_loses_the_lease_and_sends_nothing_more_for_the_message() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let refuse = Fault::fail_entries(ErrorCode::MessageNotInflight).on(Action::ChangeMessageVisibilityBatch);
    rig.server.faults().inject(refuse.times(1));
    let log = Arc::new(Mutex::new(Vec::new()));
    let (seen, told) = (Arc::clone(&log), Arc::new(Mutex::new(0)));
    let lost = Arc::clone(&told);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .on_event(move |event| {
            *lost.lock().unwrap() += u32::from(matches!(event, ReceiveEvent::LeaseLost { .. }));
        })
        .message_handler(move |_, lease| {
            let seen = Arc::clone(&seen);
            async move {
                let start = Instant::now();
                let was_lost = tokio::select! {
                    () = lease.lost() => true,
                    () = sleep(secs(20)) => false,
                };
                seen.lock().unwrap().push((was_lost, start.elapsed(), lease.receipt_handle().to_owned()));
                assert_eq!(lease.is_lost(), was_lost);
                assert_eq!(lease.extend(secs(5)).await.is_err(), was_lost);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 2);
    assert!(log[0].0 && (secs(13)..secs(17)).contains(&log[0].1), "half-way through 30 s: {log:?}");
    assert!(!log[1].0, "the second delivery is another lease");
    assert_eq!((report.stats.leases_lost, report.stats.acked, *told.lock().unwrap()), (1, 1, 1));
    let of_first = |action| {
        let sent = rig.sent_of(action);
        sent.iter().flat_map(Sent::handles).filter(|(handle, _)| *handle == log[0].2).count()
    };
    assert_eq!(of_first(Action::ChangeMessageVisibilityBatch), 1, "the one that was refused");
    assert_eq!(of_first(Action::DeleteMessageBatch), 0);
}

#[tokio::test(start_paused = true)]
async fn lease_survives_transient_failures_of_renewals() {
    lease_outlives(Fault::error(ErrorCode::InternalFailure).times(14)).await;
}

/// A handler keeps its message despite these failures of renewals.
async fn lease_outlives(fault: Fault) {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let fault = rig.server.faults().inject(fault.on(Action::ChangeMessageVisibilityBatch));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |_, lease| async move {
            sleep(secs(120)).await;
            assert!(!lease.is_lost());
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert!(fault.is_spent());
    assert_eq!((report.stats.received, report.stats.acked, report.stats.leases_lost), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn lease_whose_renewals_keep_failing_is_lost_at_its_deadline() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    rig.server
        .faults()
        .inject(Fault::error(ErrorCode::InternalFailure).on(Action::ChangeMessageVisibilityBatch));
    let lost_after = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&lost_after);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |_, lease| {
            let seen = Arc::clone(&seen);
            async move {
                let start = Instant::now();
                lease.lost().await;
                seen.lock().unwrap().get_or_insert(start.elapsed());
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    consumer.run_until(until(|| lost_after.lock().unwrap().is_some())).await.unwrap();
    let lost_after = lost_after.lock().unwrap().unwrap();
    assert!((secs(28)..=millis(28_010)).contains(&lost_after), "two seconds before the 30: {lost_after:?}");
    assert!(rig.sent_of(Action::DeleteMessageBatch).is_empty(), "no ack for what is lost");
}

#[tokio::test(start_paused = true)]
async fn longest_lease_ends_renewals_unless_the_handler_extends_it() {
    let rig = Rig::new("jobs").await;
    rig.send(["plain"]).await;
    let lost_after = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lost_after);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .max_lease(secs(100))
        .back_off(BackOff::None)
        .message_handler(move |_, lease| {
            let seen = Arc::clone(&seen);
            async move {
                let start = Instant::now();
                if !seen.lock().unwrap().is_empty() {
                    let left = lease.extend(secs(500)).await?;
                    assert_eq!(left.as_secs(), 498);
                    assert_eq!(lease.deadline().map(|at| at - start), Some(secs(498)));
                    assert_eq!(lease.extend(secs(10)).await?.as_secs(), 498, "it has more than that");
                }
                lease.lost().await;
                seen.lock().unwrap().push(start.elapsed().as_secs());
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let both = until(|| lost_after.lock().unwrap().len() == 2);
    consumer.run_until(both).await.unwrap();
    let lost_after = lost_after.lock().unwrap();
    assert!((85..=100).contains(&lost_after[0]), "{lost_after:?}");
    assert_eq!(lost_after[1], 498, "{lost_after:?}");
}

#[tokio::test(start_paused = true)]
async fn lease_with_less_than_half_of_its_time_is_renewed_before_the_handler_starts() {
    let rig = Rig::new("jobs").await;
    rig.send((0..10).map(|number| number.to_string())).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).limit(10).start().await.unwrap();
    while let Some(received) = receiver.next().await {
        let left = received.lease().deadline().unwrap() - Instant::now();
        let hidden = rig.hidden_for(received.lease().receipt_handle());
        assert!(left >= secs(15) && left + secs(2) <= hidden, "{left:?} of {hidden:?}");
        received.ack().await.unwrap();
        // Covers every moment of a lease.
        sleep(millis(3_700)).await;
        if rig.left() == 0 {
            break;
        }
    }
    let stats = receiver.close().await.unwrap();
    assert_eq!((stats.received, stats.acked), (10, 10));
}

#[tokio::test(start_paused = true)]
async fn message_whose_renewal_fails_is_not_handled() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    rig.server
        .faults()
        .inject(Fault::error(ErrorCode::InternalFailure).on(Action::ChangeMessageVisibilityBatch));
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(1)
        .prefetch(1)
        .message_handler(move |message, _| {
            seen.start(&message);
            async {
                sleep(secs(20)).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(sleep(secs(29))).await.unwrap();
    assert_eq!(diary.bodies().len(), 1, "the second had ten seconds left when the first was done");
    assert_eq!((report.stats.started, report.stats.leases_lost), (1, 1), "{:?}", report.stats);
}

#[tokio::test(start_paused = true)]
async fn lease_survives_throttled_renewals() {
    lease_outlives(Fault::fail_entries(ErrorCode::InternalFailure).times(8)).await;
}

#[tokio::test]
async fn extend_beyond_the_longest_lease_returns_on_a_real_clock() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let builder = Receiver::builder(&buffered, &rig.url).max_lease(secs(100)).wait_time(secs(0));
    let mut receiver = builder.start().await.unwrap();
    let received = receiver.next().await.unwrap();
    let extend = async |wanted| {
        let extended = received.lease().extend(wanted);
        tokio::time::timeout(secs(10), extended).await.expect("at once").unwrap()
    };
    assert!(extend(secs(500)).await > secs(497));
    assert!(extend(std::time::Duration::MAX).await > secs(43_190), "all that the service allows");
    received.ack().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn extend_of_a_message_that_is_settled_meanwhile_ends() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    rig.server.faults().inject(Fault::latency(secs(20)).on(Action::ChangeMessageVisibilityBatch));
    let buffered = BufferedClient::new(rig.base.clone());
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let received = receiver.next().await.unwrap();
    let lease = received.lease().clone();
    let extending = tokio::spawn(async move { lease.extend(secs(500)).await });
    sleep(secs(1)).await;
    assert!(!extending.is_finished());
    received.ack().await.unwrap();
    let start = Instant::now();
    assert!(extending.await.unwrap().is_err());
    assert!(start.elapsed() < secs(1));
}

#[tokio::test(start_paused = true)]
async fn failing_renewals_are_reported_before_the_lease_is_lost() {
    let rig = Rig::with(MockSqs::in_process(), "jobs", RetryConfig::disabled()).await;
    rig.send(["1"]).await;
    let fault =
        rig.server.faults().inject(Fault::status(503, "down").on(Action::ChangeMessageVisibilityBatch));
    let told = Arc::new(Mutex::new(0));
    let failures = Arc::clone(&told);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .on_event(move |event| {
            *failures.lock().unwrap() += u32::from(matches!(event, ReceiveEvent::RenewalFailed { .. }));
        })
        .message_handler(move |_, _| async {
            sleep(secs(60)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let start = Instant::now();
    let end = async {
        until(|| *told.lock().unwrap() > 0).await;
        assert!(start.elapsed() < secs(23), "there is time for another: {:?}", start.elapsed());
        fault.remove();
        until(|| rig.left() == 0).await;
    };
    let report = consumer.run_until(end).await.unwrap();
    assert_eq!((report.stats.received, report.stats.acked, report.stats.leases_lost), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn renewal_without_a_response_is_retried_before_the_leases_are_lost() {
    let rig = Rig::new("jobs").await;
    rig.send((0..5).map(|number| number.to_string())).await;
    let hangs = Fault::latency(secs(100)).on(Action::ChangeMessageVisibilityBatch).times(1);
    let hangs = rig.server.faults().inject(hangs);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |_, _| async {
            sleep(secs(60)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((hangs.hits(), report.stats.leases_lost), (1, 0), "{:?}", report.stats);
    assert_eq!((report.stats.started, report.stats.acked), (5, 5));
}

#[tokio::test(start_paused = true)]
async fn delete_that_replaces_a_renewal_is_no_failure() {
    // A renewal whose next random pause is too long for its lease has failed before the delete.
    fastrand::seed(1);
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    rig.server.faults().inject(Fault::throttle().on(Action::ChangeMessageVisibilityBatch));
    let buffered = BufferedClient::new(rig.base.clone());
    let consumer = Consumer::builder_with(&buffered, &rig.url)
        .message_handler(|_, _| async {
            sleep(secs(17)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let stats = buffered.stats();
    assert_eq!((stats.superseded, stats.failed, stats.succeeded), (1, 0, 1), "{stats:?}");
    assert_eq!((report.stats.acked, report.stats.renewal_failures, report.stats.leases_lost), (1, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn handler_that_succeeds_after_a_lost_lease_does_not_run_again_if_its_message_is_here() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("a", ["1"]).await;
        let fault = Fault::throttle().on(Action::ChangeMessageVisibilityBatch);
        let fault = rig.server.faults().inject(fault);
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(move |message, _| {
                let page = seen.start(&message);
                async move {
                    sleep(secs(60)).await;
                    drop(page);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let end = async {
            sleep(secs(29)).await;
            fault.remove();
            until(|| rig.left() == 0).await;
        };
        let stats = consumer.run_until(end).await.unwrap().stats;
        assert_eq!((stats.received, stats.acked, stats.leases_lost), (2, 1, 1), "{name}: {stats:?}");
        assert_eq!(diary.bodies().len(), 1, "{name}: it ran once");
    }
}

#[tokio::test(start_paused = true)]
async fn handler_of_twenty_minutes_has_one_effect() {
    for extends in [false, true] {
        let rig = Rig::new("jobs").await;
        rig.send(["1", "2"]).await;
        let effects = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&effects);
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(move |_, lease| {
                let counted = Arc::clone(&counted);
                async move {
                    if extends {
                        lease.extend(secs(1_500)).await?;
                    }
                    sleep(secs(1_200)).await;
                    *counted.lock().unwrap() += 1;
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        let told = (report.stats.received, report.stats.leases_lost, *effects.lock().unwrap());
        assert_eq!(told, (2, 0, 2), "extends: {extends}");
    }
}

/// A queue with a visibility timeout of a minute: renewals begin after half of it.
#[tokio::test(start_paused = true)]
async fn renewals_that_fail_for_28_seconds_lose_no_lease() {
    let rig = Rig::new("jobs").await;
    rig.set(QueueAttributeName::VisibilityTimeout, "60").await;
    rig.send(["1", "2", "3"]).await;
    let starts = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&starts);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |_, _| {
            *counted.lock().unwrap() += 1;
            async {
                sleep(secs(200)).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let outage = async {
        sleep(secs(26)).await;
        let outage = Fault::error(ErrorCode::InternalError).on(Action::ChangeMessageVisibilityBatch);
        let outage = rig.server.faults().inject(outage);
        sleep(secs(28)).await;
        assert!(outage.hits() > 0);
        outage.remove();
        until(|| rig.left() == 0).await;
    };
    let stats = consumer.run_until(outage).await.unwrap().stats;
    assert_eq!((stats.received, stats.acked, stats.leases_lost, *starts.lock().unwrap()), (3, 3, 0, 3));
}

#[tokio::test(start_paused = true)]
async fn message_is_given_back_if_too_little_of_its_longest_lease_is_left_for_a_run() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("g", ["slow", "behind it"]).await;
    let diary = Diary::default();
    let seen = diary.clone();
    let slow = Consumer::builder(rig.base.clone(), &rig.url).max_lease(secs(60));
    let slow = slow.message_handler(move |message, _| {
        let page = seen.start(&message);
        async move {
            sleep(if message.body() == Some("slow") { secs(50) } else { secs(1) }).await;
            drop(page);
            Ok(Outcome::Ack)
        }
    });
    let (slow, started) = (slow.build().unwrap(), Instant::now());
    slow.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(diary.bodies(), ["slow", "behind it"]);
    assert!(started.elapsed() < secs(90) && slow.stats().returned == 1, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn overload_that_outlasts_the_longest_lease_gives_the_message_back() {
    let rig = Rig::new("jobs").await;
    rig.send(["busy"]).await;
    let (started, done) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&done);
    let busy = Consumer::builder(rig.base.clone(), &rig.url).max_lease(secs(60));
    let busy = busy.message_handler(move |_, _| {
        let is_busy = started.elapsed() < secs(100);
        if !is_busy {
            log.lock().unwrap().push(started.elapsed());
        }
        async move { Ok(if is_busy { Outcome::Overloaded } else { Outcome::Ack }) }
    });
    let busy = busy.build().unwrap();
    busy.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(done.lock().unwrap().len(), 1);
    assert!(busy.stats().returned >= 1, "{:?}", busy.stats());
}
