//! Payloads of sends that fail, are retried, or have an unknown outcome.

use std::time::Duration;

use sqs_client::client::{CallOptions, Execute as _, Retries};
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::operation::{Action, MaybeRepeated as _};
use sqs_client::types::{MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry};
use sqs_client::wire::checksum::{md5_of_attributes, md5_of_body};
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{ErrorKind, ExtendedClient, ExtendedClientBuilder, Payload};
use sqs_mock_server::faults::Fault;

use super::base_client::{Base, BaseClient};
use super::faulty_store::{StoreCall, StoreFault};
use super::rig::{EventLog, Rig, large};
use super::sizes::entry;

#[tokio::test(start_paused = true)]
async fn output_has_the_checksums_of_the_original_message() {
    let rig = Rig::new().await;
    let value = MessageAttributeValue::string("v");
    let sum = md5_of_attributes([(&"k", &value)]).unwrap();
    for (body, value) in [(large(""), Some(value)), (large(""), None), ("small".to_owned(), None)] {
        let mut send = rig.client.send_message().queue_url(&rig.url).message_body(&body);
        if let Some(value) = value.clone() {
            send = send.message_attributes("k", value);
        }
        let output = send.send().await.unwrap();
        assert_eq!(output.md5_of_message_body(), Some(md5_of_body(&body).as_str()));
        assert_eq!(output.md5_of_message_attributes(), value.map(|_| sum.as_str()));
    }
    let batch = rig.client.send_message_batch().queue_url(&rig.url);
    let output = batch.entries(entry("a", large("a"))).entries(entry("b", "small")).send().await.unwrap();
    let sums: Vec<_> = output.successful.iter().map(|entry| entry.md5_of_message_body.as_str()).collect();
    assert_eq!(sums, [md5_of_body(&large("a")).as_str(), md5_of_body("small").as_str()]);
    assert!(output.successful.iter().all(|entry| entry.md5_of_message_attributes.is_none()));
}

#[tokio::test(start_paused = true)]
async fn message_is_not_sent_if_its_payload_cannot_be_stored() {
    for kind in [ErrorKind::Unavailable, ErrorKind::Forbidden, ErrorKind::Rejected] {
        let rig = Rig::new().await;
        rig.store.fail_next(StoreCall::Put, StoreFault::Fail(kind));
        let send = rig.client.send_message().queue_url(&rig.url).message_body(large(""));
        let error = send.send().await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.is_retryable(), kind == ErrorKind::Unavailable);
        assert!(!error.is_outcome_unknown());
        rig.server.requests().of(Action::SendMessage).expect(0);
        assert_eq!(rig.store.calls().deletes, 0);
        assert_eq!(rig.client.stats().uploads_failed, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn object_is_deleted_if_the_response_to_its_upload_is_lost() {
    let rig = Rig::new().await;
    rig.store.fail_next(StoreCall::Put, StoreFault::LoseResponse);
    let send = rig.client.send_message().queue_url(&rig.url).message_body(large(""));
    assert_eq!(send.send().await.unwrap_err().kind(), ErrorKind::Unavailable);
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty() && rig.bodies().is_empty());
}

#[tokio::test(start_paused = true)]
async fn failed_upload_fails_only_its_entry() {
    let rig = Rig::new().await;
    rig.store.pass_next(StoreCall::Put);
    rig.store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Unavailable));
    let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(entry("a", large("a")));
    let batch =
        batch.entries(entry("b", large("b"))).entries(entry("c", large("c"))).entries(entry("d", "small"));
    let output = batch.send().await.unwrap();
    let sent: Vec<_> = output.successful.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(sent, ["a", "c", "d"]);
    let failed = &output.failed[0];
    assert_eq!((failed.id(), failed.code(), failed.sender_fault()), ("b", "PayloadNotStored", false));
    assert!(failed.message().unwrap().contains("s3://own/"), "{failed:?}");
    assert_eq!((rig.bodies().len(), rig.store.objects()), (3, rig.pointers()));
}

#[tokio::test(start_paused = true)]
async fn batch_is_not_sent_if_all_its_entries_have_failed() {
    let rig = Rig::new().await;
    rig.store
        .fail_when(|call, _| (call == StoreCall::Put).then_some(StoreFault::Fail(ErrorKind::Unavailable)));
    let many = (0..10).map(|index| (format!("a{index}"), MessageAttributeValue::number(index))).collect();
    let many = SendMessageBatchRequestEntry::builder()
        .id("b")
        .message_body(large(""))
        .set_message_attributes(Some(many));
    let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(entry("a", large("a")));
    let output = batch.entries(many.build().unwrap()).send().await.unwrap();
    let failed: Vec<_> =
        output.failed.iter().map(|entry| (entry.id(), entry.code(), entry.sender_fault())).collect();
    assert_eq!(failed, [("a", "PayloadNotStored", false), ("b", "InvalidParameterValue", true)]);
    assert!(output.successful.is_empty());
    rig.server.requests().of(Action::SendMessageBatch).expect(0);
}

#[tokio::test(start_paused = true)]
async fn object_of_a_rejected_message_is_deleted() {
    check_objects_of_rejected_messages::<BaseClient>().await;
}

pub(crate) async fn check_objects_of_rejected_messages<C: Base>() {
    let refusals = [
        Fault::error(ErrorCode::AccessDenied),
        Fault::throttle(),
        Fault::error(ErrorCode::QueueDoesNotExist),
    ];
    for fault in refusals {
        let rig = Rig::<C>::over("q", RetryConfig::disabled(), |builder| builder).await;
        rig.server.faults().inject(fault.clone().times(2));
        let send = rig.client.send_message().queue_url(&rig.url).message_body(large(""));
        assert_eq!(send.send().await.unwrap_err().kind(), ErrorKind::Client);
        let batch = rig.client.send_message_batch().queue_url(&rig.url);
        let batch = batch.entries(entry("a", large("a"))).entries(entry("b", large("b")));
        assert!(batch.send().await.is_err());
        rig.client.finish_cleanup().await;
        assert!(rig.store.objects().is_empty(), "{fault:?}");
        assert_eq!(rig.client.stats().objects_deleted, 3);
    }
}

#[tokio::test(start_paused = true)]
async fn object_is_kept_if_the_outcome_of_the_send_is_unknown() {
    check_objects_of_unknown_outcomes::<BaseClient>().await;
}

pub(crate) async fn check_objects_of_unknown_outcomes<C: Base>() {
    for fault in [
        Fault::reset_after(),
        Fault::truncate(),
        Fault::error(ErrorCode::InternalFailure),
        Fault::reset_before(),
    ] {
        let events = EventLog::default();
        let settings = |builder: ExtendedClientBuilder<C>| builder.on_event(events.listener());
        let rig = Rig::over("q", RetryConfig::disabled(), settings).await;
        rig.server.faults().inject(fault.clone().times(2));
        let send = rig.client.send_message().queue_url(&rig.url).message_body(large(""));
        assert!(send.send().await.unwrap_err().is_outcome_unknown(), "{fault:?}");
        let batch = rig.client.send_message_batch().queue_url(&rig.url);
        assert!(batch.entries(entry("a", large("a"))).send().await.is_err());
        assert_eq!(rig.store.objects().len(), 2);
        assert_eq!((events.count("OutcomeUnknown"), rig.client.stats().outcomes_unknown), (2, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn message_with_a_checksum_mismatch_keeps_its_object() {
    let rig = Rig::new().await;
    rig.server.faults().inject(Fault::corrupt().times(2));
    let send = rig.client.send_message().queue_url(&rig.url).message_body(large(""));
    let error = send.send().await.unwrap_err();
    assert_eq!(error.client_error().unwrap().kind(), sqs_client::ErrorKind::Checksum);
    let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(entry("a", large("a")));
    assert!(batch.send().await.is_err());
    assert_eq!(rig.store.objects(), rig.pointers());
    assert_eq!(rig.bodies().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn checksum_error_of_a_batch_lists_the_entries_that_were_not_stored() {
    let rig = Rig::new().await;
    rig.server.faults().inject(Fault::corrupt().times(1));
    rig.store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Unavailable));
    let batch = rig.client.send_message_batch().queue_url(&rig.url);
    let error =
        batch.entries(entry("a", large("a"))).entries(entry("b", large("b"))).send().await.unwrap_err();
    let output: &sqs_client::operation::send_message_batch::SendMessageBatchOutput =
        error.client_error().unwrap().output().unwrap();
    assert_eq!((output.successful[0].id(), output.failed[0].id()), ("b", "a"));
}

#[tokio::test(start_paused = true)]
async fn only_objects_of_rejected_entries_are_deleted() {
    let rig = Rig::new().await;
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).entry(1));
    let omitted = Fault::omit_entries().entry(2);
    rig.server.faults().inject(omitted);
    let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(entry("a", large("a")));
    let output = batch.entries(entry("b", large("b"))).entries(entry("c", large("c"))).send().await.unwrap();
    assert_eq!((output.successful.len(), output.failed.len()), (1, 1));
    rig.client.finish_cleanup().await;
    assert_eq!((rig.bodies().len(), rig.store.objects()), (2, rig.pointers()));
}

#[tokio::test(start_paused = true)]
async fn each_send_attempt_stores_its_own_object() {
    let rig = Rig::retrying("q", RetryConfig::standard(), |builder| builder).await;
    rig.server.faults().inject(Fault::reset_after().times(2));
    rig.send(large("a")).await;
    rig.server.requests().of(Action::SendMessage).expect(3);
    assert_eq!((rig.pointers().len(), rig.store.objects()), (3, rig.pointers()));
    rig.server.faults().inject(Fault::reset_after().times(1));
    let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(entry("a", large("a")));
    let output = batch.entries(entry("b", "small")).entries(entry("c", large("c"))).send().await.unwrap();
    assert_eq!(output.successful.len(), 3);
    assert_eq!((rig.pointers().len(), rig.store.objects()), (7, rig.pointers()));
    assert_eq!(rig.client.stats().outcomes_unknown, 4);
    let messages = rig.receive().await;
    assert_eq!(messages.iter().filter(|message| message.body().unwrap().len() == 262_145).count(), 7);
    for message in &messages {
        rig.client.queue(&rig.url).delete(message).send().await.unwrap();
        rig.client.finish_cleanup().await;
        assert_eq!(rig.store.objects(), rig.pointers());
    }
}

/// SQS accepts the first request, but its response is lost. SQS rejects the second request.
#[tokio::test(start_paused = true)]
async fn rejection_after_a_lost_response_is_an_unknown_outcome() {
    for name in ["q", "q.fifo"] {
        let rig = Rig::retrying(name, RetryConfig::standard(), |builder| builder).await;
        let sends = [Action::SendMessage, Action::SendMessageBatch];
        let group = name.ends_with(".fifo").then(|| "g".to_owned());
        for action in sends {
            rig.server.faults().inject(Fault::reset_after().on(action).times(1));
            rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(action).times(1));
        }
        let send = rig.client.send_message().queue_url(&rig.url).message_body(large("a"));
        let error = send.set_message_group_id(group.clone()).send().await.unwrap_err();
        assert_eq!(error.client_error().unwrap().code(), Some("AccessDenied"));
        assert!(error.is_outcome_unknown(), "{name}");
        let mut b = entry("b", large("b"));
        b.message_group_id = group;
        let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(b);
        assert!(batch.send().await.unwrap_err().is_outcome_unknown(), "{name}");
        for action in sends {
            rig.server.requests().of(action).expect(2);
        }
        rig.client.finish_cleanup().await;
        // Only the second request was rejected, so only its objects are deleted.
        assert_eq!((rig.pointers().len(), rig.store.objects()), (2, rig.pointers()), "{name}");
        assert_eq!(rig.client.stats().outcomes_unknown, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn batch_output_says_that_an_earlier_request_may_have_succeeded() {
    for (lost, is_maybe) in [(0, false), (1, true)] {
        let rig = Rig::retrying("q", RetryConfig::standard(), |builder| builder).await;
        rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(lost));
        let refusal = Fault::fail_entries(ErrorCode::InvalidMessageContents).entry(0);
        rig.server.faults().inject(refusal.skip(lost));
        let batch = rig.client.send_message_batch().queue_url(&rig.url).entries(entry("a", large("a")));
        let output = batch.entries(entry("b", large("b"))).send().await.unwrap();
        assert_eq!((output.failed.len(), output.is_maybe_repeated()), (1, is_maybe));
        // Only the first request may have sent the rejected entry, so only its object stays.
        rig.client.finish_cleanup().await;
        assert_eq!(rig.store.objects(), rig.pointers());
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_with_different_objects_share_one_limit() {
    let rig = Rig::retrying("q", RetryConfig::standard(), |builder| builder).await;
    rig.server.faults().inject(Fault::reset_after());
    let error =
        rig.client.send_message().queue_url(&rig.url).message_body(large("")).send().await.unwrap_err();
    assert!(error.is_outcome_unknown());
    assert_eq!(error.client_error().unwrap().attempts(), 3);
    rig.server.requests().of(Action::SendMessage).expect(3);
    assert_eq!((rig.pointers().len(), rig.store.objects()), (3, rig.pointers()));
    // If a retry cannot store its object, the call ends with the error of the first request.
    rig.store.pass_next(StoreCall::Put);
    rig.store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Unavailable));
    let error =
        rig.client.send_message().queue_url(&rig.url).message_body(large("")).send().await.unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (ErrorKind::Client, true));
    assert_eq!((rig.pointers().len(), rig.store.objects()), (4, rig.pointers()));
}

/// SQS accepts the first attempt, but its response is lost. The second attempt reports a failed entry.
#[tokio::test(start_paused = true)]
async fn failed_entry_of_a_retried_batch_keeps_its_object() {
    let rig = Rig::retrying("q.fifo", RetryConfig::standard(), |builder| builder).await;
    rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(1));
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).entry(0).skip(1));
    let batch = rig.client.send_message_batch().queue_url(&rig.url);
    let grouped = |id: &str| {
        let mut entry = entry(id, large(id));
        entry.message_group_id = Some(id.to_owned());
        entry
    };
    let output = batch.entries(grouped("a")).entries(grouped("b")).send().await.unwrap();
    assert_eq!((output.failed[0].id(), output.successful[0].id()), ("a", "b"));
    assert_eq!(rig.pointers().len(), 2);
    for pointer in rig.pointers() {
        assert!(rig.store.bytes(&pointer).is_some(), "a message in the queue has no object");
    }
    assert_eq!(rig.client.stats().outcomes_unknown, 1);
}

#[tokio::test(start_paused = true)]
async fn call_dropped_before_its_request_leaves_no_objects() {
    let rig = Rig::new().await;
    rig.store.pass_next(StoreCall::Put);
    rig.store.fail_next(StoreCall::Put, StoreFault::Hang);
    let batch = rig.client.send_message_batch().queue_url(&rig.url);
    let batch = batch.entries(entry("a", large("a"))).entries(entry("b", large("b"))).send();
    let dropped = tokio::time::timeout(std::time::Duration::from_secs(1), batch).await;
    assert!(dropped.is_err());
    assert_eq!(rig.store.objects().len(), 1);
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty());
    rig.server.requests().of(Action::SendMessageBatch).expect(0);
}

#[tokio::test(start_paused = true)]
async fn call_dropped_during_its_request_keeps_its_object_and_reports_it() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    rig.server.faults().inject(Fault::latency(Duration::from_mins(1)).on(Action::SendMessage));
    let send = rig.client.send_message().queue_url(&rig.url).message_body(large("")).send();
    assert!(tokio::time::timeout(Duration::from_secs(1), send).await.is_err());
    assert_eq!((rig.store.objects().len(), events.count("OutcomeUnknown")), (1, 1));
    assert_eq!((rig.client.stats().outcomes_unknown, rig.client.stats().cleanup_pending), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn content_based_deduplication_compares_the_original_bodies() {
    let rig = Rig::with("q.fifo", |builder| builder).await;
    let send = |body: String| {
        rig.client.send_message().queue_url(&rig.url).message_group_id("g").message_body(body).send()
    };
    let first = send(large("a")).await.unwrap();
    let second = send(large("a")).await.unwrap();
    assert_eq!(first.message_id(), second.message_id());
    send(large("b")).await.unwrap();
    assert_eq!(rig.bodies().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn content_based_deduplication_compares_streams_with_a_hash() {
    let rig = Rig::with("q.fifo", |builder| builder).await;
    let send = |payload: Payload| rig.client.send_stream(&rig.url, payload).message_group_id("g").send();
    let first = send("tea".into()).await.unwrap();
    let second = send("tea".into()).await.unwrap();
    assert_eq!(first.output.message_id(), second.output.message_id());
    send(Payload::from("tea").without_hash()).await.unwrap();
    assert_eq!(rig.bodies().len(), 2);
}

/// A caller that retries by itself must see the outcome of each request.
#[tokio::test(start_paused = true)]
async fn call_without_retries_sends_one_request_with_its_own_object() {
    for (name, messages) in [("q", 2), ("q.fifo", 1)] {
        let rig = Rig::retrying(name, RetryConfig::standard(), |builder| builder).await;
        rig.server.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
        let mut input = SendMessageInput::default();
        input.queue_url = Some(rig.url.clone());
        input.message_body = Some(large(""));
        input.message_group_id = name.ends_with(".fifo").then(|| "g".to_owned());
        let error = rig
            .client
            .execute::<SendMessage>(&input, CallOptions::with_retries(Retries::Never))
            .await
            .unwrap_err();
        assert!(error.is_outcome_unknown());
        rig.server.requests().of(Action::SendMessage).expect(1);
        rig.client.execute::<SendMessage>(&input, CallOptions::with_retries(Retries::Never)).await.unwrap();
        rig.server.requests().of(Action::SendMessage).expect(2);
        assert_eq!((rig.pointers().len(), rig.store.objects().len()), (messages, 2), "{name}");
        assert!(rig.pointers().iter().all(|pointer| rig.store.bytes(pointer).is_some()));
    }
}

#[tokio::test(start_paused = true)]
async fn equal_payloads_are_deduplicated_if_queue_attributes_are_unreadable() {
    for (fault, requests) in
        [(Fault::error(ErrorCode::AccessDenied), 1), (Fault::throttle(), 3), (Fault::reset_before(), 3)]
    {
        let rig = Rig::with("q.fifo", |builder| builder).await;
        rig.server.faults().inject(fault.clone().on(Action::GetQueueAttributes));
        for _ in 0..2 {
            let send = rig.client.send_message().queue_url(&rig.url).message_group_id("g");
            send.message_body(large("a")).send().await.unwrap();
        }
        assert_eq!(rig.pointers().len(), 1, "{fault:?}");
        // Only a denial is cached; after other errors the attributes are requested again.
        rig.server.faults().clear();
        for mark in ["b", "c"] {
            let send = rig.client.send_message().queue_url(&rig.url).message_group_id("g");
            send.message_body(large(mark)).send().await.unwrap();
        }
        rig.server.requests().of(Action::GetQueueAttributes).expect(requests);
    }
}

/// The error of SQS must reach the caller: an id made from the content would hide it.
#[tokio::test(start_paused = true)]
async fn queue_without_content_based_deduplication_gets_no_generated_id() {
    let rig = Rig::new().await;
    let create =
        rig.plain.create_queue().queue_name("o.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let url = create.send().await.unwrap().queue_url.unwrap();
    let send = async || {
        let send = rig.client.send_message().queue_url(&url).message_group_id("g").message_body(large("a"));
        send.send().await.unwrap_err()
    };
    assert!(send().await.client_error().unwrap().message().unwrap().contains("MessageDeduplicationId"));
    tokio::time::advance(std::time::Duration::from_mins(6)).await;
    rig.server.faults().inject(Fault::throttle().on(Action::GetQueueAttributes));
    assert!(send().await.client_error().unwrap().message().unwrap().contains("MessageDeduplicationId"));
}

#[tokio::test(start_paused = true)]
async fn operation_timeout_covers_all_attempts_of_a_large_message() {
    for is_batch in [false, true] {
        let rig = Rig::new().await;
        let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_secs(10));
        let timeouts = timeouts.operation_attempt_timeout(Duration::from_secs(8)).build();
        let retry = RetryConfig::standard();
        let base = BaseClient::over(&rig.server, rig.server.transport(), retry, timeouts);
        let client = ExtendedClient::new(base, rig.store.clone());
        rig.server.faults().inject(Fault::latency(Duration::from_secs(3_600)));
        let started = tokio::time::Instant::now();
        let error = if is_batch {
            let batch = client.send_message_batch().queue_url(&rig.url);
            batch.entries(entry("a", large(""))).send().await.unwrap_err()
        } else {
            client.send_message().queue_url(&rig.url).message_body(large("")).send().await.unwrap_err()
        };
        assert_eq!((started.elapsed().as_secs(), rig.store.calls().puts), (10, 2), "{error}");
        assert!(error.is_outcome_unknown() && error.client_error().unwrap().is_timeout(), "{error}");
    }
}
