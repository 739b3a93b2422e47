//! Received messages and the state of their payloads.

use std::collections::HashMap;
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName};
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{
    Error, ErrorKind, ExtendedHandle, ExtendedMessage, MessagePayload, Pointer, PointerClass, Unopened,
};
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::faulty_store::{StoreCall, StoreFault};
use super::rig::{EventLog, Rig, large};

pub(crate) fn failure(message: &ExtendedMessage) -> &Error {
    match &message.payload {
        MessagePayload::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn receive_one(rig: &Rig) -> ExtendedMessage {
    let mut messages = rig.client.receive(&rig.url).send().await.unwrap();
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}

#[tokio::test(start_paused = true)]
async fn large_message_is_received_as_it_was_sent() {
    let rig = Rig::new().await;
    let body = large("Grüße");
    let color = MessageAttributeValue::string("red");
    let send = rig.client.send_message().queue_url(&rig.url).message_body(&body);
    let sent = send.message_attributes("color", color.clone()).send().await.unwrap();
    let receive = rig.client.receive_message().queue_url(&rig.url).message_attribute_names("All");
    let message = receive.send().await.unwrap().messages.unwrap().remove(0);
    assert_eq!(message.body(), Some(&*body));
    assert_eq!(message.message_attributes(), Some(&HashMap::from([("color".to_owned(), color)])));
    assert_eq!(message.md5_of_body(), sent.md5_of_message_body());
    assert_eq!(message.md5_of_message_attributes(), sent.md5_of_message_attributes());
    let MessagePayload::Loaded(payload) = rig.client.payload(&message) else { panic!("not loaded") };
    assert_eq!((payload.pointer(), payload.length()), (&rig.store.objects()[0], body.len() as u64));
    let stats = rig.client.stats();
    assert_eq!((stats.uploads, stats.downloads, stats.downloaded_bytes), (1, 1, body.len() as u64));
}

#[tokio::test(start_paused = true)]
async fn small_message_is_received_without_store_calls() {
    let rig = Rig::new().await;
    rig.send("small").await;
    let message = receive_one(&rig).await;
    assert!(matches!(message.payload, MessagePayload::Inline));
    assert_eq!(message.body().unwrap(), Some("small"));
    assert_eq!(ExtendedHandle::parse(message.receipt_handle().unwrap()), None);
    assert_eq!(rig.store.calls().total(), 0);
    // Pointers are recognized by these attributes; the request is otherwise unchanged.
    let request: Vec<sqs_client::operation::receive_message::ReceiveMessageInput> = {
        rig.receive().await;
        rig.server.requests().of(Action::ReceiveMessage).inputs()
    };
    assert_eq!(request[1].message_attribute_names(), ["ExtendedPayloadSize", "SQSLargePayloadSize"]);
}

/// A forged pointer must not give access to other buckets.
#[tokio::test(start_paused = true)]
async fn pointer_to_a_foreign_bucket_causes_no_store_call() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    let foreign = Pointer::new("foreign", "secret");
    rig.store.overwrite(&foreign, "secret");
    let body = foreign.to_body(PointerClass::Modern);
    rig.send_raw(&body, Some(("ExtendedPayloadSize", "6"))).await;
    let message = receive_one(&rig).await;
    let error = failure(&message);
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::ForeignBucket, Some(&foreign)));
    assert!(error.to_string().contains("allow_bucket"), "{error}");
    assert_eq!(message.message.body(), Some(&*body));
    let again = rig.client.resolve(message.message.clone()).await;
    assert_eq!(failure(&again).kind(), ErrorKind::ForeignBucket);
    // A forged handle that names a foreign object deletes only the message.
    let handle = ExtendedHandle::new(foreign.clone(), message.receipt_handle().unwrap()).to_string();
    rig.client.delete_message().queue_url(&rig.url).receipt_handle(handle).send().await.unwrap();
    assert_eq!(rig.store.calls().total(), 0);
    assert!(rig.bodies().is_empty() && rig.store.bytes(&foreign).is_some());
    assert_eq!(events.count("PayloadFailed"), 2);
}

#[tokio::test(start_paused = true)]
async fn payload_in_an_allowed_bucket_is_read_and_deleted() {
    let rig = Rig::with("q", |builder| builder.allow_bucket("other")).await;
    let other = Pointer::new("other", "01234567-89ab-4cde-8f01-23456789abcd");
    rig.store.overwrite(&other, "tea");
    rig.send_raw(other.to_body(PointerClass::Legacy), Some(("SQSLargePayloadSize", "3"))).await;
    let message = rig.receive().await.remove(0);
    assert_eq!(message.body(), Some("tea"));
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn invalid_pointer_is_returned_with_its_error() {
    let pointer = Pointer::new("own", "k").to_body(PointerClass::Modern);
    let size = "ExtendedPayloadSize";
    let table = [
        ("hello", "5"),
        ("[]", "5"),
        (r#"["x",{"s3BucketName":"own","s3Key":"k"}]"#, "5"),
        (r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"own"}]"#, "5"),
        (pointer.as_str(), "-1"),
        (pointer.as_str(), "1.5"),
    ];
    for (body, bytes) in table {
        let rig = Rig::new().await;
        rig.send_raw(body, Some((size, bytes))).await;
        let message = receive_one(&rig).await;
        assert_eq!(failure(&message).kind(), ErrorKind::BadPointer, "{body} {bytes}");
        assert_eq!(message.message.body(), Some(body));
        assert!(message.message.message_attributes().unwrap().contains_key(size));
        assert_eq!(rig.store.calls().total(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn pointer_body_without_the_attribute_is_a_plain_body() {
    let rig = Rig::new().await;
    let body = Pointer::new("own", "k").to_body(PointerClass::Modern);
    rig.send_raw(&body, None).await;
    let message = receive_one(&rig).await;
    assert!(matches!(message.payload, MessagePayload::Inline));
    assert_eq!((message.message.body(), rig.store.calls().total()), (Some(&*body), 0));
}

#[tokio::test(start_paused = true)]
async fn small_body_with_a_reserved_attribute_fails_and_stays_unchanged() {
    let rig = Rig::new().await;
    let send = rig.client.send_message().queue_url(&rig.url).message_body("small");
    send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(5)).send().await.unwrap();
    let message = receive_one(&rig).await;
    assert_eq!(failure(&message).kind(), ErrorKind::BadPointer);
    assert_eq!((message.message.body(), rig.store.calls().total()), (Some("small"), 0));
}

#[tokio::test(start_paused = true)]
async fn messages_with_bad_payloads_do_not_affect_the_others() {
    let rig = Rig::new().await;
    for number in 0..9 {
        rig.send(large(&number.to_string())).await;
    }
    rig.send_raw("broken", Some(("ExtendedPayloadSize", "1"))).await;
    let gone = rig.pointers()[0].clone();
    let lost = rig.store.bytes(&gone).unwrap();
    rig.store.remove(&gone);
    let receive = rig.client.receive_message().queue_url(&rig.url).max_number_of_messages(10);
    let output = receive.send().await.unwrap();
    assert_eq!((output.messages().len(), output.unopened_messages().len()), (8, 2));
    let mut loaded: Vec<_> =
        output.messages().iter().map(|message| message.body().unwrap().to_owned()).collect();
    loaded.push(String::from_utf8(lost.to_vec()).unwrap());
    loaded.sort();
    assert_eq!(loaded, (0..9).map(|number| large(&number.to_string())).collect::<Vec<_>>());
    // The message without its object keeps its pointer, so it can be resolved later.
    let mut unopened = output.unopened_messages().iter().map(|unopened| &unopened.message);
    let missing = unopened.find(|message| message.body() == Some(&gone.to_body(PointerClass::Modern)));
    let missing = missing.unwrap().clone();
    assert!(missing.message_attributes().unwrap().contains_key("ExtendedPayloadSize"));
    assert!(
        matches!(rig.client.payload(&missing), MessagePayload::Lazy(payload) if *payload.pointer() == gone)
    );
    assert_eq!(failure(&rig.client.resolve(missing.clone()).await).kind(), ErrorKind::NotFound);
    rig.store.overwrite(&gone, lost.clone());
    let found = rig.client.resolve(missing).await;
    assert_eq!(found.body().unwrap().map(str::as_bytes), Some(&*lost));
    rig.client.queue(&rig.url).delete(&found.message).send().await.unwrap();
    rig.client.finish_cleanup().await;
    assert_eq!(rig.store.bytes(&gone), None);
}

#[tokio::test(start_paused = true)]
async fn deleting_a_message_that_failed_to_load_keeps_its_object() {
    for is_lazy_first in [false, true] {
        let rig = Rig::new().await;
        rig.send(large("")).await;
        rig.store
            .fail_when(|call, _| (call == StoreCall::Get).then_some(StoreFault::Fail(ErrorKind::Forbidden)));
        let message = if is_lazy_first {
            let lazy = rig.client.receive(&rig.url).lazy().send().await.unwrap().remove(0);
            rig.client.resolve(lazy.message).await
        } else {
            receive_one(&rig).await
        };
        assert_eq!(failure(&message).kind(), ErrorKind::Forbidden);
        assert_eq!(ExtendedHandle::parse(message.receipt_handle().unwrap()), None);
        rig.client.queue(&rig.url).delete(&message.message).send().await.unwrap();
        assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn forbidden_object_is_not_treated_as_missing() {
    for policy in [Unopened::Release, Unopened::Delete] {
        let rig = Rig::with("q", |builder| builder.missing_object(policy)).await;
        rig.send(large("")).await;
        rig.store.fail_next(StoreCall::Get, StoreFault::Fail(ErrorKind::Forbidden));
        assert_eq!(failure(&receive_one(&rig).await).kind(), ErrorKind::Forbidden);
        assert_eq!((rig.bodies().len(), rig.in_flight()), (1, 1), "{policy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn message_with_a_missing_object_is_handled_by_the_policy() {
    for (policy, left) in
        [(Unopened::Retry, 2), (Unopened::Release, 2), (Unopened::DeadLetter, 2), (Unopened::Delete, 1)]
    {
        let rig = Rig::with("q", |builder| builder.missing_object(policy)).await;
        rig.send(large("gone")).await;
        rig.store.remove(&rig.store.objects()[0]);
        rig.send("small").await;
        let receive = rig.client.receive_message().queue_url(&rig.url).max_number_of_messages(10);
        let output = receive.send().await.unwrap();
        assert_eq!((output.unopened_messages().len(), rig.bodies().len()), (left - 1, left), "{policy:?}");
        assert!(output.messages().len() == 1 && output.messages()[0].body() == Some("small"));
    }
}

#[tokio::test(start_paused = true)]
async fn message_is_returned_if_the_missing_object_policy_fails() {
    let events = EventLog::default();
    let settings = |builder: sqs_extended::ExtendedClientBuilder<_>| {
        builder.missing_object(Unopened::Delete).on_event(events.listener())
    };
    let rig = Rig::with("q", settings).await;
    rig.send(large("gone")).await;
    rig.store.remove(&rig.store.objects()[0]);
    rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(Action::DeleteMessage));
    assert_eq!(failure(&receive_one(&rig).await).kind(), ErrorKind::NotFound);
    assert_eq!(events.count("PolicyFailed"), 1);
}

#[tokio::test(start_paused = true)]
async fn policy_delete_that_hangs_delays_no_receive_beyond_half_of_the_visibility_timeout() {
    for (open_timeout, seconds) in [(None, 15), (Some(1), 5), (Some(3_600), 30)] {
        let events = EventLog::default();
        let settings = |builder: sqs_extended::ExtendedClientBuilder<_>| {
            let builder = builder.missing_object(Unopened::Delete).on_event(events.listener());
            match open_timeout {
                Some(seconds) => builder.open_timeout(Duration::from_secs(seconds)),
                None => builder,
            }
        };
        let rig = Rig::with("q", settings).await;
        rig.send(large("gone")).await;
        rig.store.remove(&rig.store.objects()[0]);
        rig.send("small").await;
        rig.server.faults().inject(Fault::latency(Duration::from_secs(3_600)).on(Action::DeleteMessage));
        let started = Instant::now();
        let receive = rig.client.receive_message().queue_url(&rig.url).max_number_of_messages(10);
        let output = receive.send().await.unwrap();
        assert_eq!(started.elapsed().as_secs(), seconds);
        assert_eq!((output.messages().len(), output.unopened_messages().len()), (1, 1));
        let error = output.unopened_messages()[0].error.downcast_ref::<Error>().unwrap();
        assert_eq!((error.kind(), events.count("PolicyFailed")), (ErrorKind::NotFound, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn typed_receive_asks_for_all_attributes_by_both_names() {
    let rig = Rig::new().await;
    rig.client.receive(&rig.url).wait_time(Duration::ZERO).send().await.unwrap();
    let requests: Vec<sqs_client::operation::receive_message::ReceiveMessageInput> =
        rig.server.requests().of(Action::ReceiveMessage).inputs();
    assert_eq!(requests[0].message_system_attribute_names(), [MessageSystemAttributeName::All]);
    assert_eq!(requests[0].attribute_names(), [QueueAttributeName::All], "the only name in older services");
    assert_eq!(requests[0].message_attribute_names(), ["All"]);
}

#[tokio::test(start_paused = true)]
async fn lazy_receive_loads_nothing() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let mut messages = rig.client.receive(&rig.url).lazy().send().await.unwrap();
    let message = messages.remove(0);
    let MessagePayload::Lazy(payload) = &message.payload else { panic!("{message:?}") };
    assert_eq!((payload.length(), payload.pointer()), (262_145, &rig.store.objects()[0]));
    assert_eq!((message.body().unwrap(), rig.store.calls().gets), (None, 0));
    let loaded = rig.client.resolve(message.message).await;
    assert_eq!(loaded.body().unwrap(), Some(&*large("")));
    rig.client.queue(&rig.url).delete(&loaded.message).send().await.unwrap();
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty() && rig.bodies().is_empty());
}

#[tokio::test(start_paused = true)]
async fn message_received_by_another_client_is_resolved() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let event: Message = rig.receive_plain().await.remove(0);
    let message = rig.client.resolve(event).await;
    assert_eq!(message.body().unwrap(), Some(&*large("")));
    assert_eq!(message.message.message_attributes(), None);
    rig.client
        .delete_message()
        .queue_url(&rig.url)
        .set_receipt_handle(message.message.receipt_handle)
        .send()
        .await
        .unwrap();
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty() && rig.bodies().is_empty());
}
