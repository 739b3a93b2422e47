//! Loaded payloads, and the errors of payloads that cannot be loaded.

use sqs_client::wire::checksum::md5_of_body;
use sqs_extended::{ErrorKind, Pointer, PointerClass};

use super::faulty_store::{StoreCall, StoreFault};
use super::receiving::{failure, receive_one};
use super::rig::{Rig, large};

#[tokio::test(start_paused = true)]
async fn changed_object_is_an_error_and_never_a_body() {
    type Change = fn(&Rig, &Pointer);
    let changes: [(&str, Change); 6] = [
        ("shorter", |rig, at| rig.store.overwrite(at, large("")[1..].to_owned())),
        ("longer", |rig, at| rig.store.overwrite(at, large("") + "x")),
        ("empty", |rig, at| rig.store.overwrite(at, "")),
        ("other bytes", |rig, at| rig.store.overwrite(at, large("y"))),
        ("not text", |rig, at| rig.store.overwrite(at, vec![0xff; 262_145])),
        ("cut off", |rig, _| {
            rig.store.fail_when(|call, _| (call == StoreCall::Get).then_some(StoreFault::Truncate(100)));
        }),
    ];
    for (name, change) in changes {
        let rig = Rig::new().await;
        rig.send(large("")).await;
        let body = rig.bodies().remove(0);
        change(&rig, &rig.store.objects()[0]);
        let message = receive_one(&rig).await;
        let expected = if name == "cut off" { ErrorKind::Unavailable } else { ErrorKind::Damaged };
        assert_eq!(failure(&message).kind(), expected, "{name}");
        assert_eq!(message.message.body(), Some(&*body), "{name}");
        assert_eq!(message.message.md5_of_body(), Some(md5_of_body(&body).as_str()));
    }
}

#[tokio::test(start_paused = true)]
async fn object_replaced_while_it_is_read_is_damaged() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    rig.store.fail_next(StoreCall::Get, StoreFault::Interrupt(100));
    let store = rig.store.clone();
    let is_first = std::sync::atomic::AtomicBool::new(true);
    rig.store.fail_when(move |call, at| {
        // The first response has begun, so the second one is for another version.
        if call == StoreCall::Get && is_first.swap(false, std::sync::atomic::Ordering::Relaxed) {
            store.overwrite(at, large("y"));
        }
        None
    });
    let message = receive_one(&rig).await;
    assert_eq!(failure(&message).kind(), ErrorKind::Damaged);
}

#[tokio::test(start_paused = true)]
async fn interrupted_download_is_resumed() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    for fault in [StoreFault::Interrupt(100_000), StoreFault::Truncate(0), StoreFault::Interrupt(70_000)] {
        rig.store.fail_next(StoreCall::Get, fault);
    }
    assert_eq!(receive_one(&rig).await.body().unwrap(), Some(&*large("")));
    assert_eq!(rig.store.calls().gets, 4);
}

#[tokio::test(start_paused = true)]
async fn object_without_a_hash_is_loaded_if_it_is_text() {
    let rig = Rig::new().await;
    rig.store_and_send("k", "Grüße".as_bytes()).await;
    assert_eq!(receive_one(&rig).await.body().unwrap(), Some("Grüße"));
    rig.store_and_send("l", &[0xff, 0xfe]).await;
    assert_eq!(failure(&receive_one(&rig).await).kind(), ErrorKind::NotText);
}

#[tokio::test(start_paused = true)]
async fn payload_over_the_maximum_is_not_requested() {
    let rig = Rig::with("q", |builder| builder.max_payload_bytes(300_000)).await;
    rig.send("x".repeat(300_001)).await;
    let message = receive_one(&rig).await;
    assert_eq!(failure(&message).kind(), ErrorKind::TooLarge);
    assert_eq!(rig.store.calls().gets, 0);
}

#[tokio::test(start_paused = true)]
async fn default_maximum_of_a_loaded_payload_is_256_mib() {
    let rig = Rig::new().await;
    for (key, bytes, kind, gets) in
        [("fits", "268435456", ErrorKind::NotFound, 1), ("exceeds", "268435457", ErrorKind::TooLarge, 1)]
    {
        let pointer = Pointer::new("own", key).to_body(PointerClass::Modern);
        rig.send_raw(pointer, Some(("ExtendedPayloadSize", bytes))).await;
        let message = receive_one(&rig).await;
        assert_eq!((failure(&message).kind(), rig.store.calls().gets), (kind, gets));
    }
}

#[tokio::test(start_paused = true)]
async fn error_after_the_last_byte_is_retryable() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    rig.store.fail_next(StoreCall::Get, StoreFault::Interrupt(262_145));
    let message = receive_one(&rig).await;
    let error = failure(&message);
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true));
    assert_eq!(rig.store.calls().gets, 1);
    assert_eq!(rig.client.resolve(message.message).await.body().unwrap(), Some(&*large("")));
}

#[tokio::test(start_paused = true)]
async fn resumed_download_is_retried_if_the_store_is_unavailable() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    rig.store.fail_next(StoreCall::Get, StoreFault::Interrupt(100));
    rig.store.fail_next(StoreCall::Get, StoreFault::Fail(ErrorKind::Unavailable));
    assert_eq!(receive_one(&rig).await.body().unwrap(), Some(&*large("")));
    assert_eq!(rig.store.calls().gets, 3);
}

#[tokio::test(start_paused = true)]
async fn message_that_failed_to_load_can_be_streamed() {
    let rig = Rig::with("q", |builder| builder.max_payload_bytes(300_000)).await;
    rig.send("x".repeat(300_001)).await;
    let message = receive_one(&rig).await;
    assert_eq!(failure(&message).kind(), ErrorKind::TooLarge);
    let body = message.body_stream().await.unwrap();
    assert_eq!(body.text(usize::MAX).await.unwrap().len(), 300_001);

    rig.send(large("")).await;
    rig.store.fail_next(StoreCall::Get, StoreFault::Fail(ErrorKind::NotFound));
    let message = receive_one(&rig).await;
    assert_eq!(failure(&message).kind(), ErrorKind::NotFound);
    let error = message.body_stream().max_length(262_144).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(message.body_stream().await.unwrap().text(usize::MAX).await.unwrap(), large(""));
    assert_eq!(rig.client.stats().downloads, 2);
}

#[tokio::test(start_paused = true)]
async fn body_stream_requests_only_payloads_that_are_not_loaded() {
    let rig = Rig::new().await;
    for (body, is_lazy, gets) in
        [("small", true, 0), ("small", false, 0), (&large(""), true, 1), (&large(""), false, 2)]
    {
        rig.send(body).await;
        let receive = rig.client.receive(&rig.url);
        let receive = if is_lazy { receive.lazy() } else { receive };
        let message = receive.send().await.unwrap().remove(0);
        assert_eq!(message.body_stream().await.unwrap().text(usize::MAX).await.unwrap(), body);
        assert_eq!(rig.store.calls().gets, gets, "a body that is loaded is not requested again");
    }
}

#[tokio::test(start_paused = true)]
async fn foreign_or_invalid_pointer_is_not_streamed() {
    let rig = Rig::new().await;
    let foreign = Pointer::new("foreign", "k").to_body(PointerClass::Modern);
    for (body, kind) in [(&*foreign, ErrorKind::ForeignBucket), ("none", ErrorKind::BadPointer)] {
        rig.send_raw(body, Some(("ExtendedPayloadSize", "4"))).await;
        let message = receive_one(&rig).await;
        assert_eq!(message.body_stream().await.unwrap_err().kind(), kind);
        assert_eq!(rig.client.body_stream(&message.message).await.unwrap_err().kind(), kind);
    }
    assert_eq!(rig.store.calls().total(), 0);
}
