//! `BufferedClient` and `Consumer` with the extended client.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{BufferedClient, Consumer, Entry, Outcome, SendErrorKind};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::types::{MessageAttributeValue, QueueAttributeName};
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{ErrorKind, ExtendedHandle, MessagePayload};
use sqs_mock_server::faults::Fault;

use super::base_client::{Base, BaseClient};
use super::faulty_store::{StoreCall, StoreFault};
use super::rig::{Rig, large};

async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Receives and deletes all messages and returns their sorted bodies.
async fn consume<C: Base>(rig: &Rig<C>) -> Vec<String> {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&bodies);
    let consumer = Consumer::builder(rig.client.clone(), &rig.url)
        .message_handler(move |message, _| {
            seen.lock().unwrap().push(message.body().unwrap().to_owned());
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.bodies().is_empty())).await.unwrap();
    assert!(report.is_clean);
    let mut bodies = std::mem::take(&mut *bodies.lock().unwrap());
    bodies.sort();
    bodies
}

#[tokio::test(start_paused = true)]
async fn large_messages_are_batched_and_consumed() {
    check_batches_of_large_messages::<BaseClient>().await;
}

pub(crate) async fn check_batches_of_large_messages<C: Base>() {
    for name in ["q", "q.fifo"] {
        let rig = Rig::<C>::over(name, RetryConfig::disabled(), |builder| builder).await;
        let buffered = BufferedClient::new(rig.client.clone());
        let mut tickets = Vec::new();
        let mut sent = Vec::new();
        for number in 0..30 {
            let body = if number % 3 == 0 { number.to_string() } else { large(&number.to_string()) };
            sent.push(body.clone());
            let mut entry = Entry::new(&rig.url, body);
            if rig.url.ends_with(".fifo") {
                entry = entry.message_group_id(format!("g{}", number % 4));
            }
            tickets.push(buffered.enqueue(entry).await.unwrap());
        }
        for ticket in tickets {
            ticket.await.unwrap();
        }
        buffered.close().await;
        assert_eq!(rig.store.objects(), rig.pointers());
        assert_eq!(rig.store.objects().len(), 20);
        sent.sort();
        assert_eq!(consume(&rig).await, sent, "{name}");
        assert!(rig.store.objects().is_empty());
        rig.server.requests().of(Action::DeleteMessage).expect(0);
    }
}

/// As in the guide to streaming.
#[tokio::test(start_paused = true)]
async fn consumer_over_the_client_below_streams_payloads_while_it_renews_their_leases() {
    for (name, deletes_object) in [("q", true), ("q", false), ("q.fifo", true)] {
        let rig = Rig::with(name, |builder| builder).await;
        for number in 0..3 {
            let send = rig.client.send_message().queue_url(&rig.url).message_body(large(&number.to_string()));
            let group = name.ends_with(".fifo").then(|| "g".to_owned());
            send.set_message_group_id(group).send().await.unwrap();
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, client, url) = (Arc::clone(&seen), rig.client.clone(), rig.url.clone());
        let consumer =
            Consumer::builder(rig.client.inner().clone(), &rig.url).message_handler(move |message, _| {
                let (log, client, url) = (Arc::clone(&log), client.clone(), url.clone());
                async move {
                    let body = client.body_stream(&message).await?;
                    tokio::time::sleep(Duration::from_secs(100)).await;
                    let text = body.text(300_000).await?;
                    log.lock().unwrap().push(text[..1].to_owned());
                    if let MessagePayload::Lazy(payload) = client.payload(&message)
                        && deletes_object
                    {
                        let handle = message.receipt_handle().unwrap();
                        let handle = ExtendedHandle::new(payload.pointer().clone(), handle).to_string();
                        client.delete_message().queue_url(url).receipt_handle(handle).send().await?;
                    }
                    Ok(Outcome::Ack)
                }
            });
        let done = async {
            while seen.lock().unwrap().len() < 3 || !rig.bodies().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let report = consumer.build().unwrap().run_until(done).await.unwrap();
        assert!(report.is_clean && report.stats.failed == 0, "{name}: {:?}", report.stats);
        rig.client.finish_cleanup().await;
        let mut seen = seen.lock().unwrap().clone();
        seen.sort();
        assert_eq!(seen, ["0", "1", "2"], "{name}");
        assert_eq!(rig.store.objects().len(), if deletes_object { 0 } else { 3 }, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn payload_is_stored_again_after_a_failure_and_once_over_all_attempts_to_send() {
    let rig = Rig::new().await;
    for _ in 0..3 {
        rig.store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Unavailable));
    }
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InternalFailure).times(1));
    let buffered = BufferedClient::builder(rig.client.clone()).max_attempts(5).build().unwrap();
    buffered.send(&rig.url, large("")).await.unwrap();
    assert_eq!(rig.store.calls().puts, 4);
    assert_eq!((rig.bodies().len(), rig.store.objects()), (1, rig.pointers()));
}

#[tokio::test(start_paused = true)]
async fn large_entry_with_ten_attributes_is_rejected_at_once() {
    let rig = Rig::new().await;
    let mut entry = Entry::new(&rig.url, large(""));
    for number in 0..10 {
        let value = sqs_client::types::MessageAttributeValue::number(number);
        entry = entry.message_attributes(format!("a{number}"), value);
    }
    let buffered = BufferedClient::new(rig.client.clone());
    let error = buffered.send_entry(entry).await.unwrap_err();
    assert_eq!(error.kind(), SendErrorKind::Rejected);
    assert!(error.message().unwrap().contains("at most 9 attributes"), "{error}");
    assert_eq!(rig.store.calls().puts, 0);
}

#[tokio::test(start_paused = true)]
async fn bodies_over_the_sqs_limit_are_stored_and_consumed() {
    let rig = Rig::new().await;
    let buffered = BufferedClient::builder(rig.client.clone()).max_message_bytes(8 << 20).build().unwrap();
    let bodies: Vec<_> = (0..3).map(|number| format!("{number}{}", "x".repeat(3 << 20))).collect();
    for body in &bodies {
        drop(buffered.enqueue(Entry::new(&rig.url, body)).await.unwrap());
    }
    buffered.flush().await;
    buffered.close().await;
    assert_eq!(consume(&rig).await, bodies);
    assert!(rig.store.objects().is_empty());
}

/// No handler sees the pointer. The redrive policy moves the message, so its object is still in use.
#[tokio::test(start_paused = true)]
async fn message_that_does_not_load_is_not_handled_and_keeps_its_object() {
    let rig = Rig::new().await;
    let dead = rig.plain.create_queue().queue_name("dead").send().await.unwrap().queue_url.unwrap();
    let asked = rig.plain.get_queue_attributes().queue_url(&dead);
    let asked = asked.attribute_names(QueueAttributeName::QueueArn).send().await.unwrap();
    let arn = &asked.attributes.unwrap()[&QueueAttributeName::QueueArn];
    let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"3"}}"#);
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
    rig.send(large("")).await;
    let pointer = rig.bodies().remove(0);
    rig.store.fail_when(|call, _| (call == StoreCall::Get).then_some(StoreFault::Fail(ErrorKind::Damaged)));
    let consumer = Consumer::builder(rig.client.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.bodies().is_empty())).await.unwrap();
    assert_eq!((report.stats.unopened, report.stats.started), (3, 0));
    assert_eq!(rig.server.queue("dead").bodies(), [pointer]);
    assert_eq!(rig.store.objects().len(), 1);
    rig.store.heal();
    let messages = rig.client.receive(&dead).send().await.unwrap();
    assert_eq!(messages[0].body().unwrap(), Some(&*large("")));
}

/// A message of SQS has ten attributes at most, and a pointer is one.
#[tokio::test(start_paused = true)]
async fn large_message_with_nine_attributes_becomes_a_dead_letter_without_its_reason() {
    let rig = Rig::with("q", |builder| builder).await;
    rig.plain.create_queue().queue_name("dead").send().await.unwrap();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":"9"}"#;
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
    let send = rig.client.send_message().queue_url(&rig.url).message_body(large("1"));
    let value = || MessageAttributeValue::string("v");
    let send = (0..9).fold(send, |send, number| send.message_attributes(format!("a{number}"), value()));
    send.send().await.unwrap();
    let consumer = Consumer::builder(rig.client.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::DeadLetter("why".to_owned())) })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.bodies().is_empty())).await.unwrap().stats;
    assert_eq!((stats.dead_lettered, stats.dead_letter_errors), (1, 0), "{stats:?}");
    let receive = rig.client.receive_message().queue_url(rig.server.queue_url("dead"));
    let received = receive.message_attribute_names("All").send().await.unwrap();
    let letter = &received.messages()[0];
    assert_eq!(letter.body(), Some(&*large("1")));
    assert_eq!(letter.message_attributes().unwrap().len(), 9);
}

/// Until the permission is granted again: attempts to load the payload are not counted as receives.
#[tokio::test(start_paused = true)]
async fn denied_access_to_a_payload_does_not_use_up_the_receives_of_its_message() {
    for name in ["q", "q.fifo"] {
        let rig = Rig::with(name, |builder| builder).await;
        let dead = if name == "q" { "dead" } else { "dead.fifo" };
        let mut create = rig.plain.create_queue().queue_name(dead);
        if name != "q" {
            create = create.attributes(QueueAttributeName::FifoQueue, "true");
        }
        create.send().await.unwrap();
        let arn = format!("arn:aws:sqs:us-east-1:000000000000:{dead}");
        let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"2"}}"#);
        let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
        set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
        for body in ["1", "2"] {
            let send = rig.client.send_message().queue_url(&rig.url).message_body(large(body));
            if name == "q" { send } else { send.message_group_id("a") }.send().await.unwrap();
        }
        rig.store
            .fail_when(|call, _| (call == StoreCall::Get).then_some(StoreFault::Fail(ErrorKind::Forbidden)));
        let consumer = Consumer::builder(rig.client.clone(), &rig.url)
            .message_handler(|_, _| async { Ok(Outcome::Ack) })
            .build()
            .unwrap();
        let end = async {
            tokio::time::sleep(std::time::Duration::from_secs(300)).await;
            rig.store.heal();
            until(|| rig.bodies().is_empty()).await;
        };
        let stats = consumer.run_until(end).await.unwrap().stats;
        assert_eq!((stats.acked, stats.dead_lettered), (2, 0), "{name}: {stats:?}");
        assert!(rig.server.queue(dead).bodies().is_empty(), "{name}");
    }
}

/// The lanes of `BufferedClient` make each attempt by a separate call.
#[tokio::test(start_paused = true)]
async fn batches_retried_after_a_lost_response_share_no_objects() {
    for fault in [Fault::reset_after(), Fault::truncate(), Fault::omit_entries()] {
        for name in ["q", "q.fifo"] {
            let rig = Rig::with(name, |builder| builder).await;
            let lost = rig.server.faults().inject(fault.clone().on(Action::SendMessageBatch).times(2));
            let buffered = BufferedClient::new(rig.client.clone());
            let mut tickets = Vec::new();
            for number in 0..9 {
                let body = if number % 3 == 0 { number.to_string() } else { large(&number.to_string()) };
                let mut entry = Entry::new(&rig.url, body);
                if name.ends_with(".fifo") {
                    entry = entry.message_group_id(format!("g{}", number % 2));
                }
                tickets.push(buffered.enqueue(entry).await.unwrap());
            }
            buffered.flush().await;
            for ticket in tickets {
                ticket.await.unwrap();
            }
            buffered.close().await;
            assert_eq!(lost.hits(), 2);
            let (pointers, bodies) = (rig.pointers(), rig.bodies().len());
            let distinct: HashSet<_> = pointers.iter().map(|pointer| pointer.key().to_owned()).collect();
            assert_eq!(distinct.len(), pointers.len(), "{name} {fault:?}: two messages share an object");
            assert!(pointers.iter().all(|pointer| rig.store.bytes(pointer).is_some()), "{name} {fault:?}");
            if name.ends_with(".fifo") {
                assert_eq!((bodies, pointers.len()), (9, 6), "{fault:?}");
            } else {
                assert!(bodies > 9, "{fault:?}: nothing was retried");
            }
            let consumed: HashSet<_> = consume(&rig).await.into_iter().collect();
            assert_eq!(consumed.len(), 9, "{name} {fault:?}");
            assert!(pointers.iter().all(|pointer| rig.store.bytes(pointer).is_none()), "{name} {fault:?}");
        }
    }
}
