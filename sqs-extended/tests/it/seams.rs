//! The methods of `Execute` by which layers above open and store payloads themselves.

use sqs_client::client::{CallOptions, Execute, OperationError as _, Unopened};
use sqs_client::operation::Operation;
use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};
use sqs_client::types::{Message, SendMessageBatchRequestEntry};
use sqs_extended::{Error, ErrorKind, Pointer};

use super::faulty_store::{StoreCall, StoreFault};
use super::rig::{EventLog, Rig, large};
use super::sizes::entry;

/// A layer of another author, which knows `execute` alone.
#[derive(Clone)]
struct Foreign<H>(H);

impl<H: Execute> Execute for Foreign<H> {
    type Error = H::Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, H::Error> {
        self.0.execute::<O>(input, options).await
    }
}

/// Receives as a consumer does: all unopened, then opens each.
async fn receive<H: Execute>(client: &H, url: &str) -> Vec<(Message, Result<(), H::Error>)> {
    let input = ReceiveMessageInput::builder().queue_url(url).max_number_of_messages(10).build().unwrap();
    let output: ReceiveMessageOutput = client.receive_unopened(&input, CallOptions::default()).await.unwrap();
    let mut opened = Vec::new();
    for mut message in output.messages.unwrap_or_default() {
        let result = client.open(&mut message).await;
        opened.push((message, result));
    }
    opened
}

#[tokio::test(start_paused = true)]
async fn each_message_is_opened_by_itself() {
    let rig = Rig::new().await;
    for body in [large("a"), "small".to_owned(), large("b")] {
        rig.send(body).await;
    }
    let input =
        ReceiveMessageInput::builder().queue_url(&rig.url).max_number_of_messages(10).build().unwrap();
    let output = rig.client.receive_unopened(&input, CallOptions::default()).await.unwrap();
    assert_eq!(rig.store.calls().gets, 0);
    let mut messages = output.messages.unwrap();
    assert!(Pointer::from_body(messages[0].body().unwrap()).is_ok());
    rig.store.fail_next(StoreCall::Get, StoreFault::Fail(ErrorKind::Forbidden));
    let results = [
        rig.client.open(&mut messages[0]).await,
        rig.client.open(&mut messages[1]).await,
        rig.client.open(&mut messages[2]).await,
    ];
    assert!(results[0].is_err() && results[1].is_ok() && results[2].is_ok(), "{results:?}");
    let bodies: Vec<_> = messages.iter().map(|message| message.body().unwrap().to_owned()).collect();
    assert_eq!(bodies[1..], ["small".to_owned(), large("b")]);
    // Opening again changes nothing.
    rig.client.open(&mut messages[2]).await.unwrap();
    assert_eq!((messages[2].body().unwrap(), rig.store.calls().gets), (bodies[2].as_str(), 2));
    rig.client.queue(&rig.url).delete(&messages[2]).send().await.unwrap();
    rig.client.finish_cleanup().await;
    assert_eq!(rig.store.objects().len(), 1, "the handle of an opened message deletes its object");
}

#[tokio::test(start_paused = true)]
async fn foreign_layer_without_these_methods_opens_payloads() {
    let rig = Rig::new().await;
    rig.send(large("a")).await;
    let (message, result) = receive(&Foreign(rig.client.clone()), &rig.url).await.remove(0);
    result.unwrap();
    assert_eq!(message.body().unwrap(), large("a"));
}

#[tokio::test(start_paused = true)]
async fn message_that_does_not_open_is_unchanged_and_its_error_says_what_to_do() {
    for (kind, policy, expected) in [
        (ErrorKind::Unavailable, Unopened::Release, Unopened::Retry),
        (ErrorKind::Forbidden, Unopened::Delete, Unopened::Retry),
        (ErrorKind::Damaged, Unopened::Delete, Unopened::Release),
        (ErrorKind::TooLarge, Unopened::Delete, Unopened::Release),
        (ErrorKind::NotFound, Unopened::DeadLetter, Unopened::DeadLetter),
        (ErrorKind::NotFound, Unopened::Release, Unopened::Release),
        (ErrorKind::NotFound, Unopened::Delete, Unopened::Delete),
    ] {
        let rig = Rig::with("q", |builder| builder.missing_object(policy)).await;
        rig.send(large("a")).await;
        rig.store.fail_when(move |call, _| (call == StoreCall::Get).then_some(StoreFault::Fail(kind)));
        let (message, result) = receive(&rig.client, &rig.url).await.remove(0);
        let error: Error = result.unwrap_err();
        assert_eq!((error.kind(), error.unopened()), (kind, Some(expected)), "{kind:?}, {policy:?}");
        assert_eq!(message.body().unwrap(), rig.bodies()[0], "unchanged");
        rig.plain.queue(&rig.url).delete(&message).send().await.expect("a handle of SQS");
    }
    assert_eq!(Error::new(ErrorKind::NotFound, "another call").unopened(), None);
}

async fn send(rig: &Rig, prepared: &SendMessageBatchRequestEntry) -> bool {
    let input =
        SendMessageBatchInput::builder().queue_url(&rig.url).entries(prepared.clone()).build().unwrap();
    rig.client.execute::<SendMessageBatch>(&input, CallOptions::default()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn payload_of_a_prepared_entry_is_stored_once_over_all_attempts() {
    for stores_all in [false, true] {
        let rig = Rig::with("q", |builder| builder.store_all(stores_all)).await;
        let prepared = rig.client.prepare(&rig.url, &entry("a", large("a"))).await.unwrap().unwrap();
        rig.server.faults().inject(sqs_mock_server::faults::Fault::throttle().times(2));
        assert!(!send(&rig, &prepared).await && !send(&rig, &prepared).await && send(&rig, &prepared).await);
        assert_eq!((rig.store.calls().puts, rig.store.objects()), (1, rig.pointers()));
        assert_eq!(rig.receive().await[0].body().unwrap(), large("a"));
    }
}

/// A client below whose preparation fails, or never ends.
#[derive(Clone)]
struct Unready(sqs_client::Client, bool);

impl Execute for Unready {
    type Error = sqs_client::Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, sqs_client::Error> {
        self.0.execute::<O>(input, options).await
    }

    async fn prepare(
        &self,
        _: &str,
        _: &SendMessageBatchRequestEntry,
    ) -> Result<Option<SendMessageBatchRequestEntry>, sqs_client::Error> {
        if self.1 {
            std::future::pending::<()>().await;
        }
        Err(sqs_client::error::BuildError::missing_field("x", "y").into())
    }
}

#[tokio::test(start_paused = true)]
async fn preparation_that_does_not_end_well_leaves_no_object() {
    for hangs in [false, true] {
        let rig = Rig::new().await;
        let client = sqs_extended::ExtendedClient::new(Unready(rig.plain.clone(), hangs), rig.store.clone());
        let second = std::time::Duration::from_secs(1);
        let result = tokio::time::timeout(second, client.prepare(&rig.url, &entry("a", large("a")))).await;
        assert!(result.is_err() == hangs && result.is_ok_and(|result| result.is_err()) != hangs);
        client.finish_cleanup().await;
        assert_eq!(rig.store.calls().puts, 1);
        assert!(rig.store.objects().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn object_of_another_program_is_not_discarded() {
    let rig = Rig::with("q", |builder| builder.key_prefix("ours/")).await;
    let pointer = Pointer::new("own", "theirs/1b4e28ba-2fa1-41d2-883f-0016d3cca427");
    rig.store.overwrite(&pointer, vec![b'x']);
    let forwarded = entry("a", pointer.to_body(sqs_extended::PointerClass::Modern));
    rig.client.discard(&forwarded, false).await;
    rig.client.finish_cleanup().await;
    assert_eq!(rig.store.objects(), [pointer]);
}

#[tokio::test(start_paused = true)]
async fn discarded_entry_loses_its_object_unless_it_may_be_sent() {
    for is_maybe_sent in [false, true] {
        let events = EventLog::default();
        let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
        let prepared = rig.client.prepare(&rig.url, &entry("a", large("a"))).await.unwrap().unwrap();
        rig.client.discard(&prepared, is_maybe_sent).await;
        let kept = usize::from(is_maybe_sent);
        rig.client.finish_cleanup().await;
        assert_eq!((rig.store.objects().len(), events.count("OutcomeUnknown")), (kept, kept));
    }
}

#[tokio::test(start_paused = true)]
async fn entry_that_needs_no_object_is_sent_as_it_is() {
    let rig = Rig::new().await;
    let small = entry("a", "small");
    assert_eq!(rig.client.prepare(&rig.url, &small).await.unwrap(), None);
    rig.client.discard(&small, false).await;
    assert_eq!(rig.store.calls().puts, 0);
    rig.store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Forbidden));
    let error = rig.client.prepare(&rig.url, &entry("a", large("a"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    // The client below needs no preparation.
    assert_eq!(rig.plain.prepare(&rig.url, &entry("a", large("a"))).await.unwrap(), None);
}
