//! The events of the hook, and the totals.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{Entry, Linger, SendErrorKind, SendEvent};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;

use super::rig::Rig;

/// An event as text.
fn words(event: &SendEvent<'_>, url: &str) -> String {
    match event {
        SendEvent::Batch { queue_url, action, entries, bytes, retried, elapsed, error, .. } => {
            assert_eq!((*queue_url, *action), (url, Action::SendMessageBatch));
            let failed = if error.is_some() { ", failed" } else { "" };
            format!("batch of {entries}, {bytes} bytes, {retried} retried, {elapsed:?}{failed}")
        }
        SendEvent::Retried { error, attempts, retry_in, .. } => {
            assert!(*retry_in <= Duration::from_secs(1));
            format!("retried {}: {:?}", attempts, error.code())
        }
        SendEvent::Failed { error, action, .. } => format!("failed {action:?}: {:?}", error.kind()),
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn hook_gets_batches_retries_and_failures() {
    let rig = Rig::standard().await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hook = {
        let (heard, url) = (Arc::clone(&heard), rig.url.clone());
        move |event: &SendEvent<'_>| heard.lock().unwrap().push(words(event, &url))
    };
    let linger = Linger::Fixed(Duration::from_millis(10));
    let buffered = rig.builder().linger(linger).on_event(hook).build().unwrap();
    let faults = rig.server.faults();
    faults.inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).body_contains("bad"));
    faults.inject(Fault::throttle().times(1));
    faults.inject(Fault::latency(Duration::from_millis(30)));
    let good = buffered.enqueue(Entry::new(&rig.url, "good")).await.unwrap();
    let bad = buffered.enqueue(Entry::new(&rig.url, "bad")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(buffered.stats().batches_in_flight, 1);
    good.await.unwrap();
    assert_eq!(bad.await.unwrap_err().kind(), SendErrorKind::Rejected);
    assert_eq!(buffered.stats().batches_in_flight, 0);
    let heard = heard.lock().unwrap();
    let expected = [
        "batch of 2, 7 bytes, 0 retried, 30ms, failed",
        "retried 1: Some(\"RequestThrottled\")",
        "retried 1: Some(\"RequestThrottled\")",
        "batch of 2, 7 bytes, 2 retried, 30ms",
        "failed SendMessageBatch: Rejected",
    ];
    assert_eq!(*heard, expected);
}

#[tokio::test(start_paused = true)]
async fn panic_of_the_hook_does_not_affect_entries() {
    let rig = Rig::standard().await;
    let buffered = rig.builder().on_event(|_| panic!("the hook is broken")).build().unwrap();
    rig.server.faults().inject(Fault::throttle().times(1));
    buffered.send(&rig.url, "tea").await.unwrap();
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents));
    assert_eq!(buffered.send(&rig.url, "tea").await.unwrap_err().kind(), SendErrorKind::Rejected);
    buffered.close().await;
    assert_eq!((rig.bodies().len(), buffered.stats().entries), (1, 0));
}
