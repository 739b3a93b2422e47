//! Messages stay hidden while their payloads are loaded. Concurrent downloads are limited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{ErrorKind, ExtendedClient, MemoryStore, StoreCall, StoreFault};
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep, timeout};

use super::rig::{EventLog, Rig, large};
use super::wrapped_store::WrappedStore;

/// A store with slow downloads that records how many ran at once.
#[derive(Clone)]
struct Slow {
    store: WrappedStore,
    most: Arc<AtomicUsize>,
}

impl Slow {
    fn new(inner: MemoryStore, takes: Duration) -> Self {
        let (running, most) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let seen = Arc::clone(&most);
        let mut store = WrappedStore::new(inner);
        store.before_gets = Some(Arc::new(move |()| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&seen));
            Box::pin(async move {
                most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                sleep(takes).await;
                running.fetch_sub(1, Ordering::Relaxed);
            })
        }));
        Self { store, most }
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_four_payloads_are_loaded_at_once() {
    let rig = Rig::new().await;
    for number in 0..20 {
        rig.send(large(&number.to_string())).await;
    }
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(1));
    let client = ExtendedClient::new(rig.base.clone(), slow.store.clone());
    let started = Instant::now();
    let receive = || client.receive(&rig.url).send();
    let (first, second) = tokio::join!(receive(), receive());
    assert_eq!(first.unwrap().len() + second.unwrap().len(), 20);
    assert_eq!((slow.most.load(Ordering::Relaxed), started.elapsed().as_secs()), (4, 5));
}

#[tokio::test(start_paused = true)]
async fn messages_stay_hidden_while_their_payloads_are_loaded() {
    for own_timeout in [None, Some(Duration::from_secs(30))] {
        let rig = Rig::new().await;
        rig.send(large("")).await;
        rig.send("small").await;
        let client = ExtendedClient::new(
            rig.base.clone(),
            Slow::new(rig.store.clone(), Duration::from_secs(100)).store,
        );
        let mut receive = client.receive(&rig.url);
        if let Some(timeout) = own_timeout {
            receive = receive.visibility_timeout(timeout);
        }
        let receive = tokio::spawn(receive.send());
        for _ in 0..99 {
            sleep(Duration::from_secs(1)).await;
            assert!(rig.receive_plain().await.is_empty());
        }
        let messages = receive.await.unwrap().unwrap();
        assert_eq!(messages.len(), 2);
        // The last renewal restored the whole visibility timeout.
        sleep(Duration::from_secs(29)).await;
        assert!(rig.receive_plain().await.is_empty());
        for message in messages {
            client.queue(&rig.url).delete(&message.message).send().await.unwrap();
        }
        assert!(rig.bodies().is_empty() && rig.store.objects().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn loading_ends_after_an_hour_and_all_messages_stay_hidden() {
    let rig = Rig::new().await;
    for number in 0..10 {
        rig.send(large(&number.to_string())).await;
    }
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(1_000));
    let builder = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).concurrency(1);
    let client = builder.store_timeout(Duration::from_secs(3_600)).build().unwrap();
    let started = Instant::now();
    let messages = client.receive(&rig.url).send().await.unwrap();
    assert_eq!((messages.len(), started.elapsed().as_secs(), rig.in_flight()), (10, 3_600, 10));
    let failed: Vec<_> = messages.iter().filter_map(|message| message.body().err()).collect();
    assert_eq!(failed.len(), 7);
    for error in failed {
        assert!(error.is_retryable() && error.to_string().contains("more than 3600 s"), "{error}");
    }
    // The last renewal restored the whole visibility timeout.
    sleep(Duration::from_secs(29)).await;
    assert!(rig.receive_plain().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn fast_download_renews_no_visibility_timeout() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    assert_eq!(rig.receive().await.len(), 1);
    rig.server.requests().of(Action::ChangeMessageVisibilityBatch).expect(0);
}

#[tokio::test(start_paused = true)]
async fn failed_renewal_is_reported_and_loading_continues() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let events = EventLog::default();
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(20));
    let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone())
        .on_event(events.listener())
        .build()
        .unwrap();
    let denied = Fault::error(ErrorCode::AccessDenied).on(Action::ChangeMessageVisibilityBatch);
    rig.server.faults().inject(denied);
    let messages = client.receive(&rig.url).send().await.unwrap();
    assert_eq!(messages[0].body().unwrap(), Some(&*large("")));
    assert_eq!(events.count("RenewalFailed"), 2);
}

#[tokio::test(start_paused = true)]
async fn downloads_continue_while_a_renewal_hangs() {
    let rig = Rig::new().await;
    for number in 0..10 {
        rig.send(large(&number.to_string())).await;
    }
    let events = EventLog::default();
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(20));
    let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone())
        .on_event(events.listener())
        .build()
        .unwrap();
    let hanging = Fault::latency(Duration::from_secs(3_600));
    rig.server.faults().inject(hanging.on(Action::ChangeMessageVisibilityBatch));
    let started = Instant::now();
    let messages = client.receive(&rig.url).send().await.unwrap();
    assert!(messages.iter().all(|message| message.body().is_ok()));
    // Three rounds of 20 seconds, and 5 seconds for the last renewal.
    assert_eq!((messages.len(), started.elapsed().as_secs()), (10, 65));
    assert!(events.count("RenewalFailed") >= 2);
}

#[tokio::test(start_paused = true)]
async fn dropped_receive_makes_its_messages_visible_again() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    rig.send("small").await;
    rig.store.fail_when(|call, _| (call == StoreCall::Get).then_some(StoreFault::Hang));
    let typed = rig.client.receive(&rig.url).send();
    assert!(timeout(Duration::from_secs(5), typed).await.is_err());
    sleep(Duration::from_millis(1)).await;
    assert_eq!((rig.bodies().len(), rig.in_flight()), (2, 0));
    assert!(timeout(Duration::from_secs(5), rig.receive()).await.is_err());
    sleep(Duration::from_millis(1)).await;
    assert_eq!((rig.bodies().len(), rig.in_flight()), (2, 0));
    // Messages that were returned to the caller stay hidden.
    rig.store.heal();
    assert_eq!(rig.receive().await.len(), 2);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(rig.in_flight(), 2);
}

#[tokio::test(start_paused = true)]
async fn unknown_visibility_timeout_is_reported_if_a_download_is_slow() {
    for (seconds, own_timeout, count) in [(20, None, 1), (0, None, 0), (20, Some(30), 0), (20, Some(0), 0)] {
        let rig = Rig::new().await;
        rig.send(large("")).await;
        let events = EventLog::default();
        let slow = Slow::new(rig.store.clone(), Duration::from_secs(seconds));
        let client = ExtendedClient::builder(rig.base.clone(), slow.store.clone())
            .on_event(events.listener())
            .build()
            .unwrap();
        rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(Action::GetQueueAttributes));
        let mut receive = client.receive(&rig.url);
        if let Some(timeout) = own_timeout {
            receive = receive.visibility_timeout(Duration::from_secs(timeout));
        }
        assert_eq!(receive.send().await.unwrap()[0].body().unwrap(), Some(&*large("")));
        assert_eq!(events.count("LeaseUnknown"), count, "{seconds} s, {own_timeout:?}");
    }
}

/// SQS rejects a renewal that would hide a message for more than 12 hours after its receive.
#[tokio::test(start_paused = true)]
async fn renewal_of_the_longest_visibility_timeout_is_shortened_and_succeeds() {
    let (rig, events) = (Rig::new().await, EventLog::default());
    rig.send(large("")).await;
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(100));
    let builder = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).on_event(events.listener());
    let receive = builder.build().unwrap().receive(&rig.url).visibility_timeout(Duration::from_secs(43_200));
    assert!(receive.send().await.unwrap()[0].body().is_ok());
    assert_eq!(events.count("RenewalFailed"), 0);
    let renewals = rig.server.requests().of(Action::ChangeMessageVisibilityBatch);
    renewals.expect(1);
}

#[tokio::test(start_paused = true)]
async fn payloads_over_the_memory_budget_fail_and_receives_take_turns() {
    let rig = Rig::new().await;
    for number in 0..8 {
        rig.send(large(&number.to_string())).await;
    }
    let slow = Slow::new(rig.store.clone(), Duration::from_secs(1));
    let builder = ExtendedClient::builder(rig.base.clone(), slow.store.clone()).max_payload_bytes(300_000);
    let client = builder.memory_budget(600_000).build().unwrap();
    let started = Instant::now();
    let receive = || client.receive(&rig.url).max_messages(4).send();
    let (first, second) = tokio::join!(receive(), receive());
    for messages in [first.unwrap(), second.unwrap()] {
        let loaded = messages.iter().filter(|message| message.body().is_ok()).count();
        let failed: Vec<_> = messages.iter().filter_map(|message| message.body().err()).collect();
        assert_eq!((loaded, failed.len()), (2, 2));
        assert!(
            failed.iter().all(|error| error.kind() == ErrorKind::Unavailable && error.is_retryable()),
            "{failed:?}"
        );
        let late = messages.iter().find(|message| message.body().is_err()).unwrap();
        let body = late.body_stream().await.unwrap().collect(usize::MAX).await.unwrap();
        assert_eq!(body.len(), 262_145);
    }
    assert!(started.elapsed() >= Duration::from_secs(2), "the receives did not take turns");
    assert!(slow.most.load(Ordering::Relaxed) <= 2);
}
