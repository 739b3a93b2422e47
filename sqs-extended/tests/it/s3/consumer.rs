//! A consumer while S3 fails for some payloads: no handler sees a pointer, and the other messages do not wait.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use sqs_buffered::{BackOff, Consumer};
use sqs_client::config::retry::RetryConfig;
use sqs_client::types::QueueAttributeName;
use sqs_extended::ExtendedClientBuilder;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::S3Action;
use tokio::time::{Instant, sleep, timeout};

use super::backend::Backend;
use super::rig::BUCKET;

const HEALTHY: usize = 5;
const MINUTE: Duration = Duration::from_secs(60);

/// A queue with a dead-letter queue, one message that starts with `bad`, and others.
struct Case {
    backend: Backend,
    /// The key of the payload of the bad message.
    key: String,
}

impl Case {
    async fn start() -> Self {
        let backend = Backend::start().await;
        let plain = backend.server.client();
        plain.create_queue().queue_name("dead").send().await.unwrap();
        let policy =
            r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":"10"}"#;
        let set = plain.set_queue_attributes().queue_url(&backend.url);
        set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
        let client = backend.client(RetryConfig::standard());
        let send = |mark: String| {
            client.send_message().queue_url(&backend.url).message_body(mark + &"x".repeat(300_000)).send()
        };
        send("bad".to_owned()).await.unwrap();
        let key = backend.objects().pop_first().unwrap();
        for number in 0..HEALTHY {
            send(format!("ok{number}")).await.unwrap();
        }
        Self { backend, key }
    }

    /// Runs a consumer until the healthy messages are handled, and then for as long as `until` waits. Returns the first three
    /// characters of the bodies that its handler saw.
    async fn run<F: Future<Output = ()>>(
        &self,
        settings: impl FnOnce(
            ExtendedClientBuilder<sqs_client::Client>,
        ) -> ExtendedClientBuilder<sqs_client::Client>,
        until: impl FnOnce(Arc<Mutex<Vec<String>>>) -> F,
    ) -> Vec<String> {
        let client = self.backend.client_with(RetryConfig::standard(), |builder| {
            settings(builder.store_timeout(Duration::from_secs(1)))
        });
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&seen);
        let handler = move |body: String| {
            log.lock().unwrap().push(body[..3].to_owned());
            async { Ok::<_, String>(()) }
        };
        let consumer = Consumer::builder(client.clone(), &self.backend.url)
            .back_off(BackOff::Fixed(Duration::from_millis(100)))
            .wait_time(Duration::from_secs(1))
            .handler(handler)
            .build()
            .unwrap();
        let started = Instant::now();
        let done = async {
            while seen.lock().unwrap().iter().filter(|mark| mark.starts_with("ok")).count() < HEALTHY {
                sleep(Duration::from_millis(5)).await;
            }
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "healthy messages took {:?}",
                started.elapsed()
            );
            until(Arc::clone(&seen)).await;
        };
        let report = timeout(MINUTE, consumer.run_until(done)).await.expect("it ends").unwrap();
        assert_eq!((report.stats.failed, report.stats.dead_lettered), (0, 0), "{:?}", report.stats);
        client.finish_cleanup().await;
        assert!(self.backend.server.queue("dead").bodies().is_empty());
        let mut seen = seen.lock().unwrap().clone();
        seen.sort();
        seen
    }

    /// Waits until the handler has seen the bad message.
    async fn handled(seen: Arc<Mutex<Vec<String>>>) {
        while !seen.lock().unwrap().contains(&"bad".to_owned()) {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn failing_payload_delays_no_other_message_and_arrives_when_s3_recovers() {
    let get = |fault: Fault| fault.on_s3(S3Action::GetObject);
    for (what, fault) in [
        ("503", get(Fault::s3_error("SlowDown"))),
        ("500", get(Fault::status(500, "oops"))),
        ("403", get(Fault::s3_error("AccessDenied"))),
        ("no bucket", get(Fault::s3_error("NoSuchBucket"))),
        ("404", get(Fault::s3_error("NoSuchKey"))),
        ("hangs", get(Fault::latency(MINUTE))),
        ("truncates", get(Fault::truncate())),
        ("resets", get(Fault::reset_before())),
    ] {
        let case = Case::start().await;
        let injected = case.backend.server.faults().inject(fault.key_prefix(&case.key).bucket(BUCKET));
        let recovers = async |seen: Arc<Mutex<Vec<String>>>| {
            while injected.hits() < 2 {
                sleep(Duration::from_millis(5)).await;
            }
            assert!(!seen.lock().unwrap().contains(&"bad".to_owned()), "{what}");
            case.backend.server.faults().clear();
            Case::handled(seen).await;
        };
        let seen = case.run(|builder| builder, recovers).await;
        assert_eq!(seen, ["bad", "ok0", "ok1", "ok2", "ok3", "ok4"], "{what}: each is handled once");
        assert!(case.backend.objects().is_empty() && case.backend.live().is_empty(), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn payload_that_trickles_arrives_after_the_others() {
    let case = Case::start().await;
    let pace = Fault::s3_pace(150_000).on_s3(S3Action::GetObject).key_prefix(&case.key);
    case.backend.server.faults().inject(pace);
    // It takes 2 s: with the timeout of the other cases, that would be too slow.
    let seen = case.run(|builder| builder.store_timeout(Duration::from_secs(5)), Case::handled).await;
    assert_eq!(seen.len(), HEALTHY + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn payload_over_the_limit_is_given_back_with_its_object() {
    let case = Case::start().await;
    let long = case.backend.client(RetryConfig::standard());
    let send = long.send_message().queue_url(&case.backend.url);
    send.message_body("y".repeat(400_000)).send().await.unwrap();
    let seen = case.run(|builder| builder.max_payload_bytes(350_000), Case::handled).await;
    assert_eq!(seen, ["bad", "ok0", "ok1", "ok2", "ok3", "ok4"]);
    assert_eq!((case.backend.live().len(), case.backend.objects()), (1, case.backend.live()));
}

/// How long S3 fails: longer than all back-offs of a message with so few receives.
const OUTAGE: Duration = Duration::from_secs(6);

/// S3 fails for three payloads, and SQS allows two receives. Other messages come by themselves and behind those, with payloads and without.
async fn outage(name: &str, what: &str, fault: Fault) {
    let dead = if name == "jobs" { "dead" } else { "dead.fifo" };
    let backend = Backend::with_dead_letters(name, dead, 2).await;
    let client =
        backend.client_with(RetryConfig::standard(), |builder| builder.store_timeout(Duration::from_secs(1)));
    let send = async |group: String, mark: String, length: usize| {
        let send = client.send_message().queue_url(&backend.url).message_body(mark + &"x".repeat(length));
        if name == "jobs" { send } else { send.message_group_id(group) }.send().await.unwrap();
    };
    for number in 0..3 {
        send(format!("g{number}"), format!("bad{number}"), 300_000).await;
    }
    for key in backend.objects() {
        backend.server.faults().inject(fault.clone().key_prefix(&key).bucket(BUCKET));
    }
    for number in 0..3 {
        send(format!("h{number}"), format!("big{number}"), 300_000).await;
        send(format!("s{number}"), format!("own{number}"), 0).await;
        send(format!("g{number}"), format!("end{number}"), 0).await;
    }
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&seen);
    let handler = move |body: String| {
        log.lock().unwrap().push(body[..4].to_owned());
        async { Ok::<_, String>(()) }
    };
    let consumer = Consumer::builder(client.clone(), &backend.url)
        .back_off(BackOff::Fixed(Duration::from_millis(100)))
        .wait_time(Duration::from_secs(1))
        .handler(handler)
        .build()
        .unwrap();
    let end = async {
        sleep(OUTAGE).await;
        let early = seen.lock().unwrap().clone();
        assert!(!early.iter().any(|mark| mark.starts_with("bad")), "{name}, {what}: {early:?}");
        for mark in ["big", "own"] {
            let count = early.iter().filter(|seen| seen.starts_with(mark)).count();
            assert_eq!(count, 3, "{name}, {what}: {early:?}");
        }
        backend.server.faults().clear();
        while !backend.server.queue(name).bodies().is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let report = timeout(MINUTE, consumer.run_until(end)).await.expect("it ends").unwrap();
    assert!(backend.server.queue(dead).bodies().is_empty(), "{name}, {what}");
    assert_eq!(
        (report.stats.acked, report.stats.dead_lettered),
        (12, 0),
        "{name}, {what}: {:?}",
        report.stats
    );
    let seen = seen.lock().unwrap().clone();
    if name != "jobs" {
        let place = |mark: String| seen.iter().position(|seen| *seen == mark);
        for number in 0..3 {
            let (bad, end) = (place(format!("bad{number}")), place(format!("end{number}")));
            assert!(bad < end, "{what}: {seen:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn messages_survive_an_outage_for_their_payloads_that_is_longer_than_their_receives() {
    let get = |fault: Fault| fault.on_s3(S3Action::GetObject);
    let faults = [
        ("503", get(Fault::s3_error("SlowDown"))),
        ("403", get(Fault::s3_error("AccessDenied"))),
        ("no bucket", get(Fault::s3_error("NoSuchBucket"))),
        ("hangs", get(Fault::latency(MINUTE))),
    ];
    let cases = faults
        .iter()
        .flat_map(|(what, fault)| ["jobs", "jobs.fifo"].map(|name| outage(name, what, fault.clone())));
    join_all(cases).await;
}
