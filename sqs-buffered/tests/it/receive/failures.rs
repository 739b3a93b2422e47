//! Handlers that hang, block, panic or fail: timeouts, policies, and groups that go on.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{
    AfterFailure, BackOff, CancellationToken, Consumer, Json, Outcome, ReceiveCount, Router, blocking,
    dead_letter_after,
};
use sqs_client::types::MessageAttributeValue;
use tokio::time::{Instant, sleep};

use super::rig::{Rig, millis, secs, until};

type Log = Arc<Mutex<Vec<String>>>;

async fn reason(rig: &Rig, dead: &str) -> String {
    let letter = rig.client.receive_message().queue_url(rig.server.queue_url(dead));
    let letter = letter.message_attribute_names("All").send().await.unwrap();
    let attributes = letter.messages()[0].message_attributes().unwrap();
    attributes["DeadLetterReason"].string_value().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn handler_that_hangs_is_cancelled_and_its_message_retried() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("a", ["hangs", "next"]).await;
        let (log, start) = (Log::default(), Instant::now());
        let seen = Arc::clone(&log);
        let handler = move |body: String, count: ReceiveCount, cancelled: CancellationToken| {
            let seen = Arc::clone(&seen);
            async move {
                if body == "hangs" && count.0 == 1 {
                    cancelled.cancelled().await;
                    seen.lock().unwrap().push(format!("told after {} s", start.elapsed().as_secs()));
                    sleep(secs(3_000)).await;
                }
                seen.lock().unwrap().push(body);
            }
        };
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .concurrency(1)
            .handler_timeout(secs(60))
            .back_off(BackOff::Fixed(secs(1)))
            .handler(handler)
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.timed_out, stats.acked, stats.nacked, stats.aborted), (1, 2, 1, 0), "{name}");
        let log = log.lock().unwrap();
        assert_eq!(log[0], "told after 54 s", "{name}: {log:?}");
        let order = if name == "jobs" { ["next", "hangs"] } else { ["hangs", "next"] };
        assert_eq!(log[1..], order, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn batch_that_hangs_fails_as_a_whole() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .batch_size(2)
        .handler_timeout(secs(10))
        .back_off(BackOff::None)
        .batch_handler(move |_: Vec<String>| {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if is_first {
                    sleep(secs(3_000)).await;
                }
            }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!((stats.timed_out, stats.nacked, stats.acked), (2, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn shutdown_tells_handlers_at_its_beginning() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler(|cancelled: CancellationToken| async move {
            cancelled.cancelled().await;
            Outcome::Release
        })
        .build()
        .unwrap();
    let observed = consumer.clone();
    let start = Instant::now();
    let report = consumer.run_until(until(|| observed.stats().started == 1)).await.unwrap();
    assert_eq!((report.stats.released, report.stats.aborted, report.is_clean), (1, 0, true));
    assert!(start.elapsed() < secs(21), "{:?}", start.elapsed());
}

/// A blocked thread cannot be stopped. Given back, its message would be received again and again, and with it its group.
#[tokio::test]
async fn message_of_a_handler_that_blocks_stays_until_the_handler_returns() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        let dead = rig.dead_letter_after(3).await;
        rig.send_to("a", ["1", "2"]).await;
        let (running, most, runs) = <(Arc<AtomicU32>, Arc<AtomicU32>, Arc<AtomicU32>)>::default();
        let (now, peak, count) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&runs));
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .handler_timeout(millis(50))
            .concurrency(1)
            .wait_time(secs(1))
            .back_off(BackOff::None)
            .handler(blocking(move |_: String| {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                if count.fetch_add(1, Ordering::SeqCst) == 0 {
                    std::thread::sleep(millis(2_500));
                }
                now.fetch_sub(1, Ordering::SeqCst);
            }))
            .build()
            .unwrap();
        let end = until(|| rig.left() == 0);
        let stats = consumer.run_until(end).await.unwrap().stats;
        assert_eq!((stats.timed_out, stats.acked, stats.duplicates), (1, 2, 0), "{name}: {stats:?}");
        assert_eq!((most.load(Ordering::SeqCst), runs.load(Ordering::SeqCst)), (1, 3), "{name}");
        assert_eq!(rig.server.queue(dead).bodies(), Vec::<String>::new(), "{name}");
    }
}

/// Each receive of a message that cannot run would count towards the dead-letter queue.
#[tokio::test]
async fn message_of_a_handler_that_blocks_beyond_its_lease_waits_until_the_handler_returns() {
    let rig = Rig::new("jobs").await;
    let dead = rig.dead_letter_after(4).await;
    rig.send(["1"]).await;
    let runs = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&runs);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler_timeout(millis(50))
        .visibility_timeout(secs(2))
        .max_lease(secs(2))
        .wait_time(secs(1))
        .back_off(BackOff::None)
        .handler(blocking(move |_: String| {
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                std::thread::sleep(millis(5_500));
            }
        }))
        .build()
        .unwrap();
    let end = until(|| rig.left() == 0);
    let stats = consumer.run_until(end).await.unwrap().stats;
    assert_eq!((stats.acked, runs.load(Ordering::SeqCst)), (1, 2), "{stats:?}");
    assert_eq!(rig.server.queue(dead).bodies(), Vec::<String>::new(), "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn batch_handler_is_told_when_its_leases_are_lost() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let (log, start) = (Arc::clone(&told), Instant::now());
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .batch_size(2)
        .max_lease(secs(60))
        .batch_handler(move |tokens: Vec<CancellationToken>| {
            let log = Arc::clone(&log);
            async move {
                if log.lock().unwrap().is_empty() {
                    tokens[0].cancelled().await;
                    log.lock().unwrap().push(start.elapsed());
                }
            }
        })
        .build()
        .unwrap();
    consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let told = told.lock().unwrap();
    assert!(told.len() == 1 && (secs(30)..secs(120)).contains(&told[0]), "{told:?}");
}

#[tokio::test]
async fn panic_of_a_blocking_handler_is_a_panic() {
    let rig = Rig::new("jobs").await;
    let dead = rig.dead_letter_after(100).await;
    rig.send(["1"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .on_error(dead_letter_after(1))
        .wait_time(secs(1))
        .handler(blocking(|_: String| -> () { panic!("no tea") }))
        .build()
        .unwrap();
    let end = until(|| rig.left() == 0);
    let stats = consumer.run_until(end).await.unwrap().stats;
    assert_eq!((stats.panicked, stats.dead_lettered), (1, 1));
    assert_eq!(reason(&rig, dead).await, "the handler panicked: no tea");
}

#[derive(Debug)]
struct Outer(std::num::ParseIntError);

impl std::fmt::Display for Outer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the price is wrong")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn message_becomes_a_dead_letter_after_three_failures_with_all_causes() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        let dead = rig.dead_letter_after(100).await;
        rig.send_to("a", ["x", "7"]).await;
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .back_off(BackOff::Fixed(secs(1)))
            .on_error(dead_letter_after(3))
            .handler(async |body: String| body.parse::<u32>().map(drop).map_err(Outer))
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.failed, stats.dead_lettered, stats.acked), (3, 1, 1), "{name}");
        let reason = reason(&rig, dead).await;
        assert!(reason.starts_with("the price is wrong: invalid digit found in string"), "{name}: {reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn policy_sees_the_failure_and_decides() {
    let rig = Rig::new("jobs").await;
    rig.send(["error", "panic", "hangs"]).await;
    let log = Log::default();
    let seen = Arc::clone(&log);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler_timeout(secs(5))
        .on_error(move |failure| {
            let kind = (failure.error().is_some(), failure.is_panic(), failure.is_timeout());
            assert!(failure.age().is_some_and(|age| age < secs(60)) && failure.receive_count() == 1);
            let body = failure.message().body().unwrap_or_default();
            seen.lock().unwrap().push(format!("{body}: {failure} {kind:?}"));
            Some(Outcome::Ack)
        })
        .handler(async |body: String| match &*body {
            "error" => Err("no tea"),
            "panic" => panic!("no cup"),
            _ => {
                sleep(secs(60)).await;
                Ok(())
            }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!((stats.failed, stats.panicked, stats.timed_out, stats.acked), (1, 1, 1, 3));
    let mut log = log.lock().unwrap().clone();
    log.sort_unstable();
    let expected = [
        "error: no tea (true, false, false)",
        "hangs: the handler took longer than 5s (false, false, true)",
        "panic: the handler panicked: no cup (false, true, false)",
    ];
    assert_eq!(log, expected);
}

#[tokio::test(start_paused = true)]
async fn policy_that_panics_does_not_end_the_consumer() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let runs = Arc::new(AtomicU32::new(0));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler_timeout(Duration::from_hours(12))
        .back_off(BackOff::None)
        .on_error(|_| panic!("no policy"))
        .handler(move || {
            let is_first = runs.fetch_add(1, Ordering::Relaxed) == 0;
            async move { if is_first { Err("no tea") } else { Ok(()) } }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!((stats.failed, stats.acked), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn retries_of_a_policy_count_as_failures() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.dead_letter_after(100).await;
        rig.send_to("a", ["1"]).await;
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .on_error(|failure| {
                let is_last = failure.receive_count() >= 5;
                Some(if is_last { Outcome::DeadLetter(failure.to_string()) } else { Outcome::Retry(secs(1)) })
            })
            .handler(async || Err::<(), _>("no tea"))
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.failed, stats.dead_lettered, stats.received), (5, 1, 1), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn error_of_a_batch_reaches_the_policy() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .on_error(|failure| {
            let is_wrong = matches!(failure.error(), Some(error) if error.is::<Outer>());
            is_wrong.then_some(Outcome::Ack)
        })
        .batch_handler(async |bodies: Vec<String>| {
            bodies.iter().try_for_each(|_| "x".parse::<u32>().map(drop).map_err(Outer))
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!((stats.failed, stats.acked), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn handler_cancels_only_its_own_token() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2", "3"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(1)
        .handler(async |token: CancellationToken| {
            let was_cancelled = token.is_cancelled();
            token.cancel();
            if was_cancelled { Err("cancelled by another") } else { Ok(()) }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!((stats.acked, stats.failed), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn handler_is_told_when_its_lease_is_lost() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let told = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&told);
    let refuse = sqs_mock_server::faults::Fault::fail_entries(
        sqs_client::wire::service_error::ErrorCode::MessageNotInflight,
    );
    rig.server
        .faults()
        .inject(refuse.on(sqs_client::operation::Action::ChangeMessageVisibilityBatch).times(1));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .handler(move |token: CancellationToken, count: ReceiveCount| {
            let counted = Arc::clone(&counted);
            async move {
                if count.0 == 1 {
                    token.cancelled().await;
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!((told.load(Ordering::Relaxed), stats.leases_lost), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn group_goes_on_after_a_failure_if_it_may() {
    let rig = Rig::new("jobs.fifo").await;
    rig.dead_letter_after(100).await;
    rig.send_to("a", ["bad", "1", "2"]).await;
    let log = Log::default();
    let seen = Arc::clone(&log);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(secs(10)))
        .after_failure(AfterFailure::Continue)
        .handler(move |body: String, count: ReceiveCount| {
            let is_bad = body == "bad" && count.0 < 3;
            seen.lock().unwrap().push(body);
            async move { if is_bad { Err("bad") } else { Ok(()) } }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    assert_eq!(*log.lock().unwrap(), ["bad", "1", "2", "bad", "bad"]);
    assert_eq!((stats.failed, stats.nacked, stats.retried_in_place, stats.acked), (2, 2, 0, 3));
}

#[tokio::test(start_paused = true)]
async fn router_handles_each_type_and_dead_letters_the_others() {
    #[derive(serde::Deserialize)]
    struct Order {
        id: u32,
    }
    let rig = Rig::new("jobs").await;
    let dead = rig.dead_letter_after(100).await;
    for kind in ["created", "cancelled", "lost"] {
        let send = rig.client.send_message().queue_url(&rig.url).message_body(r#"{"id":7}"#);
        send.message_attributes("type", MessageAttributeValue::string(kind)).send().await.unwrap();
    }
    let log = Log::default();
    let (created, cancelled) = (Arc::clone(&log), Arc::clone(&log));
    let router = Router::by_attribute("type")
        .route("created", move |Json(order): Json<Order>| {
            created.lock().unwrap().push(format!("created {}", order.id));
            async {}
        })
        .route("cancelled", move |body: String| {
            cancelled.lock().unwrap().push(format!("cancelled {body}"));
            async { Ok::<_, String>(()) }
        });
    let consumer = Consumer::builder(rig.base.clone(), &rig.url).handler(router).build().unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    let mut log = log.lock().unwrap().clone();
    log.sort_unstable();
    assert_eq!(log, [r#"cancelled {"id":7}"#, "created 7"]);
    assert_eq!((stats.acked, stats.dead_lettered), (2, 1));
    let reason = reason(&rig, dead).await;
    assert!(reason.contains("\"lost\"") && reason.contains("\"cancelled\", \"created\""), "{reason}");
}

#[test]
fn invalid_settings_of_handlers_are_refused_at_build_time() {
    let server = sqs_mock_server::MockSqs::in_process();
    let builder = || Consumer::builder(server.client(), server.queue_url("jobs"));
    let twice = Router::by_attribute("type").route("a", async || {}).route("a", async || {});
    let error = builder().handler(twice).build().unwrap_err();
    assert_eq!(error.to_string(), "Router::route is \"a\", allowed is each type once");
    let error = builder().priority(1).handler(async || {}).build().unwrap_err();
    assert_eq!(error.to_string(), "priority is 1, allowed is 0 without a pool");
    let error = builder().handler_timeout(Duration::MAX).handler(async || {}).build().unwrap_err();
    assert!(error.to_string().ends_with("allowed is 1 ms to 12 hours"), "{error}");
    let error = builder().handler_timeout(Duration::ZERO).handler(async || {}).build().unwrap_err();
    assert_eq!(error.to_string(), "handler_timeout is 0ns, allowed is 1 ms to 12 hours");
}
