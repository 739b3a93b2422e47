//! Receives in which one message has a wrong checksum.

use bytes::Bytes;
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::{Transport, TransportFuture};
use sqs_extended::{ErrorKind, ExtendedClient, ExtendedHandle, MessagePayload, Pointer};

use super::base_client::{Base, BaseClient};
use super::rig::{Extended, Rig, large};

/// Changes the first character of one key in every response to `g`, which no hexadecimal key contains.
#[derive(Debug)]
struct Garbling {
    inner: sqs_mock_server::InProcess,
    key: String,
}

impl Transport for Garbling {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            let response = self.inner.send(request).await?;
            let garbled = format!("g{}", &self.key[1..]);
            let change = |body: Bytes| String::from_utf8_lossy(&body).replace(&self.key, &garbled).into();
            Ok(response.map(change))
        })
    }
}

/// Three large messages, the second of which arrives damaged.
async fn damaged() -> (Rig, Extended, Pointer) {
    let rig = Rig::new().await;
    for mark in ["a", "b", "c"] {
        rig.send(large(mark)).await;
    }
    let (client, pointer) = garbling(&rig, 1);
    (rig, client, pointer)
}

/// A client below that damages the message with the pointer at this place of the queue.
fn garbling(rig: &Rig, place: usize) -> (Extended, Pointer) {
    let pointer = Pointer::from_body(&rig.bodies()[place]).unwrap();
    let transport = Garbling { inner: rig.server.transport(), key: pointer.key().to_owned() };
    let timeouts = TimeoutConfig::builder().build();
    let base = BaseClient::over(&rig.server, transport, RetryConfig::disabled(), timeouts);
    (ExtendedClient::new(base, rig.store.clone()), pointer)
}

#[tokio::test(start_paused = true)]
async fn typed_receive_fails_the_messages_of_a_group_behind_a_damaged_one() {
    for is_lazy in [false, true] {
        let rig = Rig::with("q.fifo", |builder| builder).await;
        for (group, mark) in [("x", "a"), ("x", "b"), ("x", "c"), ("y", "d")] {
            let send = rig.client.send_message().queue_url(&rig.url).message_body(large(mark));
            send.message_group_id(group).send().await.unwrap();
        }
        let (client, _) = garbling(&rig, 1);
        let receive = client.receive(&rig.url);
        let received = if is_lazy { receive.lazy() } else { receive }.send().await.unwrap();
        let kinds: Vec<_> = received.iter().map(|one| one.body().err().map(|error| error.kind())).collect();
        let (behind, damaged) = (Some(ErrorKind::Unavailable), Some(ErrorKind::Client));
        assert_eq!(kinds, [None, behind, None, damaged], "lazy: {is_lazy}");
    }
}

#[tokio::test(start_paused = true)]
async fn receive_with_a_damaged_message_loads_the_others() {
    let (rig, client, _) = damaged().await;
    let receive = client.receive_message().queue_url(&rig.url).max_number_of_messages(10).send().await;
    let output = receive.unwrap();
    let bodies: Vec<_> = output.messages().iter().map(|message| message.body().unwrap()).collect();
    assert_eq!(bodies, [large("a"), large("c")]);
    let damaged = &output.damaged_messages()[0];
    let pointer = Pointer::from_body(damaged.message.body().unwrap());
    assert!(pointer.unwrap().key().starts_with('g'), "the damaged pointer is kept");
    assert_eq!((damaged.mismatches.len(), rig.store.calls().gets), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn typed_receive_returns_the_damaged_message_as_failed() {
    for is_lazy in [false, true] {
        let (rig, client, pointer) = damaged().await;
        let receive = client.receive(&rig.url);
        let receive = if is_lazy { receive.lazy() } else { receive };
        let messages = receive.send().await.unwrap();
        assert_eq!(messages.len(), 3);
        for (message, mark) in messages.iter().zip(["a", "c"]) {
            let expected = (!is_lazy).then(|| large(mark));
            assert_eq!(message.body().unwrap(), expected.as_deref());
        }
        let MessagePayload::Failed(error) = &messages[2].payload else { panic!("{:?}", messages[2]) };
        assert_eq!(error.kind(), ErrorKind::Client);
        assert_eq!(error.client_error().unwrap().checksum_mismatches().len(), 1);
        // A damaged pointer must not be streamed either.
        let gets = rig.store.calls().gets;
        assert_eq!(messages[2].body_stream().await.unwrap_err().kind(), ErrorKind::Client);
        assert_eq!(rig.store.calls().gets, gets);
        // Its handle has no pointer, so a delete cannot remove a wrong object.
        assert_eq!(ExtendedHandle::parse(messages[2].receipt_handle().unwrap()), None);
        client.queue(&rig.url).delete(&messages[2].message).send().await.unwrap();
        assert!(rig.store.bytes(&pointer).is_some());
        assert_eq!((rig.bodies().len(), client.stats().payloads_failed), (2, 1));
    }
}
