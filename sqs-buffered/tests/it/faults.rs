//! Failures of requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use sqs_buffered::{SendErrorKind, SendEvent};
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::Action;
use sqs_client::transport::{Transport, TransportFuture};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::InProcess;
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::base_client::{Base, BaseClient};
use super::rig::{Rig, SHAPES, default_client};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn throttled_queue_gets_one_request_at_a_time_until_it_recovers() {
    for fault in
        [Fault::throttle(), Fault::fail_entries(ErrorCode::RequestThrottled), Fault::status(503, "busy")]
    {
        let rig = Rig::standard().await;
        let requests = rig.count(Action::SendMessageBatch);
        let throttled = rig.server.faults().inject(fault.clone().on(Action::SendMessageBatch));
        let buffered = rig.buffered();
        for number in 0..1_000 {
            buffered.send_detached(rig.message(&number.to_string())).await.unwrap();
        }
        tokio::time::sleep(secs(20)).await;
        // Ten batches are in flight when the first one is refused. After that, there are at most a few requests per
        // second.
        assert!(requests.hits() < 100, "{fault:?}: {} requests", requests.hits());
        throttled.remove();
        let start = Instant::now();
        let summary = buffered.flush().await;
        assert_eq!((summary.succeeded, summary.failed()), (1_000, 0), "{fault:?}");
        assert!(start.elapsed() < secs(7), "{fault:?}: recovered after {:?}", start.elapsed());
    }
}

/// The client renews credentials and corrects clocks, so a batch must not fail because it was sent shortly before.
#[tokio::test(start_paused = true)]
async fn expired_credentials_and_wrong_clocks_are_retried_for_all_operations() {
    check_expired_credentials_and_wrong_clocks::<BaseClient>().await;
}

pub(crate) async fn check_expired_credentials_and_wrong_clocks<C: Base>() {
    for code in [ErrorCode::ExpiredToken, ErrorCode::SignatureDoesNotMatch, ErrorCode::RequestTimeTooSkewed] {
        let rig = Rig::<C>::over("q", 7, &[]).await;
        let buffered = rig.buffered();
        let inject = |action| rig.server.faults().inject(Fault::error(code.clone()).on(action).times(3));
        let sends = inject(Action::SendMessageBatch);
        buffered.send(&rig.url, "tea").await.unwrap();
        let message = rig.receive().await.remove(0);
        let handle = message.receipt_handle().unwrap();
        let changes = inject(Action::ChangeMessageVisibilityBatch);
        buffered.change_visibility(&rig.url, handle, Duration::from_secs(60)).await.unwrap();
        let deletes = inject(Action::DeleteMessageBatch);
        buffered.delete(&rig.url, handle).await.unwrap();
        assert_eq!((sends.hits(), changes.hits(), deletes.hits()), (3, 3, 3), "{code}");
        assert!(rig.bodies().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn transient_failures_are_retried() {
    let passing = [
        Fault::throttle(),
        Fault::error(ErrorCode::InternalFailure),
        Fault::status(503, "busy"),
        Fault::reset_before(),
        Fault::fail_entries(ErrorCode::InternalFailure),
        Fault::fail_entries(ErrorCode::RequestThrottled),
        Fault::fail_entries(ErrorCode::InvalidMessageContents).sender_fault(false),
    ];
    for fault in passing {
        let rig = Rig::standard().await;
        let struck = rig.server.faults().inject(fault.clone().times(3));
        rig.buffered().send(&rig.url, "tea").await.unwrap();
        assert_eq!((struck.hits(), rig.bodies()), (3, vec!["tea".to_owned()]), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn receipt_marks_possible_duplicates_after_lost_responses() {
    for fault in [Fault::reset_after(), Fault::truncate(), Fault::omit_entries()] {
        let rig = Rig::standard().await;
        rig.server.faults().inject(fault.clone().times(1));
        let receipt = rig.buffered().send(&rig.url, "tea").await.unwrap();
        assert!(receipt.maybe_duplicate, "{fault:?}");
        assert_eq!(rig.bodies(), ["tea", "tea"]);
    }
}

#[tokio::test(start_paused = true)]
async fn permanent_failures_end_with_their_error() {
    check_permanent_failures::<BaseClient>().await;
}

pub(crate) async fn check_permanent_failures<C: Base>() {
    let table = [
        (Fault::fail_entries(ErrorCode::InvalidMessageContents), SendErrorKind::Rejected, 1, false),
        (Fault::fail_entries(ErrorCode::InternalFailure), SendErrorKind::Rejected, 4, false),
        (Fault::error(ErrorCode::KmsDisabled), SendErrorKind::Request, 1, false),
        (Fault::throttle(), SendErrorKind::Request, 4, false),
        (Fault::reset_after(), SendErrorKind::Request, 4, true),
        (Fault::omit_entries(), SendErrorKind::Unaccounted, 4, true),
        (Fault::error(ErrorCode::BatchRequestTooLong), SendErrorKind::TooLarge, 1, false),
        (Fault::fail_entries(ErrorCode::RequestThrottled), SendErrorKind::Rejected, 4, false),
    ];
    for (fault, kind, attempts, maybe_sent) in table {
        let rig = Rig::<C>::over("q", 7, &[]).await;
        let struck = rig.server.faults().inject(fault.clone());
        let buffered = rig.builder().max_attempts(4).build().unwrap();
        let error = buffered.send(&rig.url, "tea").await.unwrap_err();
        assert_eq!(
            (error.kind(), struck.hits(), error.is_outcome_unknown()),
            (kind, attempts, maybe_sent),
            "{fault:?}"
        );
        let is_throttled = error.code() == Some("RequestThrottled");
        assert_eq!((error.is_retryable(), error.is_throttle()), (attempts == 4, is_throttled), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_entry_that_failed_fails() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).body_contains("bad"));
    let buffered = rig.buffered();
    let (good, bad) = tokio::join!(buffered.send(&rig.url, "good"), buffered.send(&rig.url, "bad"));
    assert!(good.is_ok());
    let error = bad.unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (Some("InvalidMessageContents"), Some("This failure was injected."))
    );
}

/// A stored message with a wrong checksum is reported and not sent again.
#[tokio::test(start_paused = true)]
async fn wrong_checksum_is_reported_and_not_retried() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::corrupt());
    let error = rig.buffered().send(&rig.url, "tea").await.unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::ChecksumMismatch, true));
    assert_eq!((error.message_id().is_some(), rig.bodies().len()), (true, 1));
}

/// A batch that is too long for SQS is split.
#[tokio::test(start_paused = true)]
async fn batch_that_is_too_long_for_sqs_is_split_in_halves() {
    let rig = Rig::standard().await;
    let too_long = Fault::error(ErrorCode::BatchRequestTooLong).when(|request| {
        request.entries.iter().filter_map(|entry| entry.body).map(str::len).sum::<usize>() > 300
    });
    let struck = rig.server.faults().inject(too_long.on(Action::SendMessageBatch));
    let buffered = rig.builder().max_attempts(1).build().unwrap();
    let sends = (0..10).map(|_| {
        let (buffered, url) = (buffered.clone(), rig.url.clone());
        tokio::spawn(async move { buffered.send(url, "x".repeat(100)).await })
    });
    for send in sends.collect::<Vec<_>>() {
        send.await.unwrap().unwrap();
    }
    // Ten, or one and nine; then five or four; and three at a time from there on.
    assert_eq!((rig.bodies().len(), (1..=3).contains(&struck.hits())), (10, true), "{}", struck.hits());
}

#[tokio::test(start_paused = true)]
async fn entry_that_cannot_be_sent_ends_at_the_delivery_timeout() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::throttle());
    let buffered =
        rig.builder().max_attempts(u32::MAX).delivery_timeout(Duration::from_secs(20)).build().unwrap();
    let start = Instant::now();
    let error = buffered.send(&rig.url, "tea").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (SendErrorKind::Timeout, Some("RequestThrottled")));
    assert!((Duration::from_secs(10)..=Duration::from_secs(20)).contains(&start.elapsed()));
}

/// The client below, with its default settings, does not hide failures from the lanes by its own retries.
#[tokio::test(start_paused = true)]
async fn retrying_client_does_not_retry_requests_of_lanes() {
    let rig = Rig::standard().await;
    let client = default_client(&rig.server, rig.server.transport());
    let buffered = sqs_buffered::BufferedClient::builder(client).max_attempts(4).build().unwrap();
    let lost = rig.server.faults().inject(Fault::reset_after().times(1));
    let receipt = buffered.send(&rig.url, "tea").await.unwrap();
    assert_eq!((receipt.maybe_duplicate, lost.hits(), rig.bodies().len()), (true, 1, 2));
    let struck = rig.server.faults().inject(Fault::error(ErrorCode::InternalFailure));
    buffered.send(&rig.url, "more").await.unwrap_err();
    assert_eq!(struck.hits(), 4);
}

#[tokio::test(start_paused = true)]
async fn visibility_change_with_a_lost_lease_is_not_retried() {
    let rig = Rig::standard().await;
    let lost = Fault::fail_entries(ErrorCode::MessageNotInflight).sender_fault(false);
    let struck = rig.server.faults().inject(lost);
    let error =
        rig.buffered().change_visibility(&rig.url, "handle", Duration::from_secs(1)).await.unwrap_err();
    assert_eq!((error.kind(), struck.hits()), (SendErrorKind::LeaseLost, 1), "{error}");
}

/// Within five minutes, whatever the settings.
#[tokio::test(start_paused = true)]
async fn fifo_message_is_not_sent_again_after_the_deduplication_window() {
    let rig = Rig::fifo().await;
    let struck = rig.server.faults().inject(Fault::throttle());
    let builder = rig.builder().max_attempts(u32::MAX).delivery_timeout(Duration::from_hours(1));
    let buffered = builder.dedup_id(sqs_buffered::DedupId::GenerateUuid).build().unwrap();
    let start = Instant::now();
    let entry = sqs_buffered::Entry::new(&rig.url, "tea").message_group_id("g");
    let error = buffered.send_entry(entry).await.unwrap_err();
    assert_eq!((error.kind(), struck.hits() > 50), (SendErrorKind::Timeout, true));
    assert!((secs(270)..=secs(280)).contains(&start.elapsed()), "{:?}", start.elapsed());
    for shape in SHAPES {
        let rig = Rig::fifo().await;
        let buffered = hanging(&rig, shape.len(), Duration::from_hours(1));
        let tickets = rig.begin(&buffered, shape).await;
        let last = Instant::now() - Duration::from_millis(1);
        for ticket in tickets {
            let error = ticket.await.unwrap_err();
            assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Timeout, true));
        }
        assert_eq!(last.elapsed(), secs(290), "{shape:?}");
    }
}

/// A client that never responds to its first requests.
fn hanging(rig: &Rig, requests: usize, timeout: Duration) -> sqs_buffered::BufferedClient<BaseClient> {
    rig.server.faults().inject(Fault::latency(Duration::from_hours(1)).times(requests as u64));
    let (retry, timeouts) = (RetryConfig::standard(), TimeoutConfig::disabled());
    let endless = BaseClient::over(&rig.server, rig.server.transport(), retry, timeouts);
    let builder = sqs_buffered::BufferedClient::builder(endless).delivery_timeout(timeout);
    builder.attempt_timeout(Duration::MAX).in_flight(sqs_buffered::InFlight::Fixed(requests)).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn client_that_never_responds_frees_its_place() {
    for shape in SHAPES {
        let rig = Rig::standard().await;
        let buffered = hanging(&rig, shape.len(), secs(120));
        let tickets = rig.begin(&buffered, shape).await;
        let last = Instant::now() - Duration::from_millis(1);
        for ticket in tickets {
            let error = ticket.await.unwrap_err();
            assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Timeout, true));
        }
        assert_eq!((last.elapsed(), buffered.stats().batches_in_flight), (secs(180), 0), "{shape:?}");
        buffered.send(&rig.url, "coffee").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn send_whose_connection_dies_silently_is_sent_again_after_thirty_seconds() {
    for rig in [Rig::standard().await, Rig::fifo().await] {
        rig.server.faults().inject(Fault::latency(Duration::from_hours(1)).times(1));
        let (retry, timeouts) = (RetryConfig::standard(), TimeoutConfig::disabled());
        let endless = BaseClient::over(&rig.server, rig.server.transport(), retry, timeouts);
        let (buffered, start) = (sqs_buffered::BufferedClient::new(endless), Instant::now());
        let receipt = buffered.send_entry(rig.message("tea")).await.unwrap();
        assert_eq!(receipt.maybe_duplicate, !rig.url.ends_with(".fifo"));
        assert!((secs(30)..secs(31)).contains(&start.elapsed()), "{:?}", start.elapsed());
    }
}

/// Panics when it sends its first request, or while it waits for the response.
#[derive(Debug)]
struct Breaking {
    transport: InProcess,
    is_slow: bool,
    requests: AtomicUsize,
}

impl Transport for Breaking {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            let is_first = self.requests.fetch_add(1, Ordering::Relaxed) == 0;
            if is_first && self.is_slow {
                tokio::time::sleep(secs(1)).await;
            }
            assert!(!is_first, "the transport is broken");
            self.transport.send(request).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn request_that_panics_is_retried() {
    for (messages, is_slow) in [(1, false), (1, true), (10, false), (10, true)] {
        let rig = Rig::standard().await;
        let breaking = Breaking { transport: rig.server.transport(), is_slow, requests: AtomicUsize::new(0) };
        let client = default_client(&rig.server, breaking);
        let buffered = sqs_buffered::BufferedClient::new(client);
        let sends = (0..messages).map(|_| buffered.send(&rig.url, "tea"));
        for receipt in futures_util::future::join_all(sends).await {
            assert!(receipt.unwrap().maybe_duplicate, "nobody knows what the panicked request did");
        }
        assert_eq!(rig.bodies().len(), messages);
    }
}

#[tokio::test(start_paused = true)]
async fn request_that_always_panics_fails_with_the_panic_text() {
    for messages in [1, 10] {
        let rig = Rig::standard().await;
        let breaking =
            Breaking { transport: rig.server.transport(), is_slow: false, requests: AtomicUsize::new(0) };
        let client = default_client(&rig.server, breaking);
        let buffered = sqs_buffered::BufferedClient::builder(client).max_attempts(1).build().unwrap();
        for ticket in rig.begin(&buffered, &[messages]).await {
            let error = ticket.await.unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert_eq!(cause, "the request panicked: the transport is broken");
            assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Request, true));
            assert_eq!((error.is_retryable(), error.is_throttle()), (true, false));
        }
        let stats = buffered.stats();
        assert_eq!((stats.batches, stats.batches_in_flight, stats.failed), (1, 0, messages as u64));
    }
}

#[tokio::test(start_paused = true)]
async fn events_of_a_panicked_request_say_that_its_outcome_is_unknown() {
    let rig = Rig::standard().await;
    let breaking =
        Breaking { transport: rig.server.transport(), is_slow: false, requests: AtomicUsize::new(0) };
    let client = default_client(&rig.server, breaking);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&heard);
    let hook = move |event: &SendEvent<'_>| {
        let (what, error) = match event {
            SendEvent::Batch { error: Some(error), .. } => ("batch", *error),
            SendEvent::Retried { error, .. } => ("retried", *error),
            _ => return,
        };
        notes.lock().unwrap().push((what, error.is_outcome_unknown(), error.is_retryable()));
    };
    let buffered = sqs_buffered::BufferedClient::builder(client).on_event(hook).build().unwrap();
    buffered.send(&rig.url, "tea").await.unwrap();
    assert_eq!(*heard.lock().unwrap(), [("batch", true, true), ("retried", true, true)]);
}
