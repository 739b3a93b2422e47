//! Stores that never respond: every call ends, and work that does not need the store continues.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_client::operation::Action;
use sqs_extended::{ByteStream, ErrorKind, ExtendedClient, MessagePayload, Payload, Threshold, UploadBody};
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::base_client::BaseClient;
use super::faulty_store::{StoreCall, StoreFault};
use super::rig::{EventLog, Rig, large};
use super::wrapped_store::WrappedStore;

const STORE_TIMEOUT: Duration = Duration::from_secs(7);

async fn rig() -> Rig {
    Rig::with("q", |builder| builder.store_timeout(STORE_TIMEOUT)).await
}

fn hang(rig: &Rig, which: StoreCall) {
    rig.store.fail_when(move |call, _| (call == which).then_some(StoreFault::Hang));
}

#[tokio::test(start_paused = true)]
async fn hanging_download_fails_only_its_own_message() {
    let rig = rig().await;
    rig.send(large("")).await;
    for number in 0..9 {
        rig.send(number.to_string()).await;
    }
    hang(&rig, StoreCall::Get);
    let started = Instant::now();
    let received = rig.client.receive(&rig.url).max_messages(10).send().await.unwrap();
    assert_eq!((received.len(), started.elapsed().as_secs()), (10, 7));
    let failed: Vec<_> = received.iter().filter_map(|message| message.body().err()).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].kind(), failed[0].is_retryable()), (ErrorKind::Unavailable, true));
    let says = failed[0].to_string();
    assert!(says.contains("within 7s") && says.contains("store_timeout"), "{says}");
}

#[tokio::test(start_paused = true)]
async fn hanging_downloads_do_not_block_later_ones() {
    let rig = rig().await;
    for number in 0..10 {
        rig.send(large(&number.to_string())).await;
    }
    hang(&rig, StoreCall::Get);
    assert!(rig.client.receive(&rig.url).send().await.unwrap().iter().all(|message| message.body().is_err()));
    rig.store.heal();
    rig.server.clock().advance(Duration::from_secs(31));
    assert!(rig.client.receive(&rig.url).send().await.unwrap().iter().all(|message| message.body().is_ok()));
}

#[tokio::test(start_paused = true)]
async fn hanging_object_delete_is_retried_and_the_call_succeeds() {
    let events = EventLog::default();
    let settings = |builder: sqs_extended::ExtendedClientBuilder<_>| {
        builder.store_timeout(STORE_TIMEOUT).on_event(events.listener())
    };
    let rig = Rig::with("q", settings).await;
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    hang(&rig, StoreCall::Delete);
    let started = Instant::now();
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    rig.client.finish_cleanup().await;
    assert!(started.elapsed() >= 5 * STORE_TIMEOUT, "{:?}", started.elapsed());
    assert_eq!((events.count("CleanupFailed"), events.count("CleanupGivenUp")), (4, 1));
    assert_eq!(rig.store.objects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn message_is_not_sent_if_its_upload_times_out() {
    let rig = rig().await;
    rig.store.fail_next(StoreCall::Put, StoreFault::Hang);
    let started = Instant::now();
    let sent = rig.client.send_message().queue_url(&rig.url).message_body(large("")).send().await;
    let error = sent.unwrap_err();
    assert_eq!((error.kind(), started.elapsed().as_secs()), (ErrorKind::Unavailable, 7));
    assert!(error.is_retryable() && !error.is_outcome_unknown(), "{error:?}");
    rig.client.finish_cleanup().await;
    assert_eq!(
        (rig.bodies().len(), rig.store.calls().deletes),
        (0, 2),
        "it may exist, so it is deleted, twice"
    );
}

#[tokio::test(start_paused = true)]
async fn store_timeout_out_of_range_is_rejected() {
    let rig = Rig::new().await;
    for (timeout, is_good) in [
        (Duration::ZERO, false),
        (Duration::from_millis(999), false),
        (Duration::from_secs(1), true),
        (Duration::from_secs(3_600), true),
        (Duration::from_secs(3_601), false),
    ] {
        let built =
            ExtendedClient::builder(rig.base.clone(), rig.store.clone()).store_timeout(timeout).build();
        match built {
            Ok(_) => assert!(is_good, "{timeout:?}"),
            Err(error) => {
                assert!(!is_good && error.kind() == ErrorKind::Config, "{error}");
                assert!(error.to_string().contains("1 to 3600 s"), "{error}");
            }
        }
    }
}

/// A client of a store that pauses before each piece of a body and hangs after `pieces` pieces.
fn slow_client(rig: &Rig, pause: Duration, pieces: usize) -> ExtendedClient<BaseClient> {
    let over = move |body: ByteStream| {
        let drip = body.enumerate().then(move |(number, piece)| async move {
            sleep(if number < pieces { pause } else { Duration::from_secs(1 << 30) }).await;
            piece
        });
        drip.boxed()
    };
    let mut store = WrappedStore::new(rig.store.clone());
    store.puts = Some(Arc::new(move |mut upload| {
        if let UploadBody::Stream(body) = upload.body {
            upload.body = UploadBody::Stream(over(body));
        }
        upload
    }));
    store.gets = Some(Arc::new(move |mut object| {
        object.body = over(object.body);
        object.tag = None;
        object
    }));
    ExtendedClient::builder(rig.base.clone(), store).store_timeout(STORE_TIMEOUT).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn slow_payload_loads_if_it_keeps_a_pace_of_1_mib_a_second() {
    let rig = rig().await;
    let body = "x".repeat(320 * (64 << 10));
    rig.send(&body).await;
    for (pause, takes) in [(80, Ok(25)), (90, Err(27))] {
        let started = Instant::now();
        let receive = slow_client(&rig, Duration::from_millis(pause), usize::MAX).receive(&rig.url);
        let received = receive.visibility_timeout(Duration::from_secs(200)).send().await.unwrap().remove(0);
        let loaded = received.body().is_ok_and(|loaded| loaded == Some(&body));
        let seconds = started.elapsed().as_secs();
        assert_eq!(if loaded { Ok(seconds) } else { Err(seconds) }, takes, "7 s and 1 s for each of 20 MiB");
        rig.server.clock().advance(Duration::from_secs(201));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_stream_succeeds_and_a_stalled_one_fails() {
    let rig = rig().await;
    let body = "x".repeat(10 * (64 << 10));
    rig.send(&body).await;
    let started = Instant::now();
    let receive = slow_client(&rig, Duration::from_secs(6), usize::MAX).receive(&rig.url);
    let receive = receive.visibility_timeout(Duration::from_secs(200)).lazy();
    let stream = receive.send().await.unwrap()[0].body_stream().await.unwrap();
    assert!(stream.text(body.len()).await.unwrap() == body);
    assert_eq!(started.elapsed().as_secs(), 60, "the timeout applies to each piece, not to the whole stream");

    rig.server.clock().advance(Duration::from_secs(201));
    let client = slow_client(&rig, Duration::from_secs(6), 3);
    let received = client.receive(&rig.url).lazy().send().await.unwrap().remove(0);
    let MessagePayload::Lazy(_) = &received.payload else { panic!("{:?}", received.payload) };
    let mut stream = received.body_stream().await.unwrap();
    for _ in 0..3 {
        assert_eq!(stream.try_next().await.unwrap().map(|piece| piece.len()), Some(64 << 10));
        // The timeout does not count the time that the reader takes.
        sleep(10 * STORE_TIMEOUT).await;
    }
    let started = Instant::now();
    let error = stream.try_next().await.unwrap_err();
    assert_eq!((error.is_retryable(), started.elapsed()), (true, STORE_TIMEOUT), "{error}");
    assert!(error.to_string().contains("no bytes arrived within 7s"), "{error}");
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn slow_source_and_slow_store_succeed_and_a_stalled_store_fails() {
    let rig = rig().await;
    let source = |pause: u64| {
        let pieces = stream::iter(0..4).then(move |_| async move {
            sleep(Duration::from_secs(pause)).await;
            Ok::<_, std::io::Error>(Bytes::from_static(b"tea "))
        });
        Payload::from_stream(pieces)
    };
    let sent = slow_client(&rig, Duration::from_secs(30), usize::MAX)
        .send_stream(&rig.url, source(1_000))
        .send()
        .await
        .unwrap();
    assert_eq!(rig.store.bytes(&sent.pointer).unwrap(), "tea tea tea tea ");

    let started = Instant::now();
    let error = slow_client(&rig, Duration::from_secs(30), 2)
        .send_stream(&rig.url, source(1_000))
        .send()
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Unavailable && error.is_retryable(), "{error:?}");
    assert!(error.to_string().contains("no progress within 35s"), "{error}");
    assert_eq!(started.elapsed().as_secs(), 3_000 + 2 * 30 + 35);
    assert_eq!(rig.bodies().len(), 1);
}

/// The client below may have no timeouts, and its connection may be dead.
#[tokio::test(start_paused = true)]
async fn request_for_the_attributes_of_a_queue_that_is_never_answered_ends() {
    let settings = |builder: sqs_extended::ExtendedClientBuilder<_>| {
        builder.threshold(Threshold::Queue).store_timeout(STORE_TIMEOUT)
    };
    let rig = Rig::with("q", settings).await;
    let hour = Duration::from_secs(3_600);
    rig.server.faults().inject(Fault::latency(hour).on(Action::GetQueueAttributes));
    let started = Instant::now();
    rig.send(large("")).await;
    assert_eq!(started.elapsed().as_secs(), 30, "it is sent with the default threshold");
    hang(&rig, StoreCall::Get);
    assert!(rig.client.receive(&rig.url).send().await.unwrap()[0].body().is_err());
    assert_eq!(started.elapsed().as_secs(), 37, "the receive does not wait for the attributes");
    rig.client.finish_cleanup().await;
    assert_eq!(started.elapsed().as_secs(), 60, "the request of the receive has ended, too");
}
