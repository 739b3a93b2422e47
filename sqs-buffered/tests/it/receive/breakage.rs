//! Internal failures: hooks, transports, the client below. A run continues or ends with an error, never silently.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use futures_util::StreamExt as _;
use sqs_buffered::{BackOff, BufferedClient, Consumer, Outcome, ReceiveErrorKind, Receiver, SendErrorKind};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::diary::Diary;
use super::meddler::meddling;
use super::rig::{Rig, secs, until};

#[tokio::test(start_paused = true)]
async fn panic_of_the_hook_does_not_stop_the_consumer() {
    let rig = Rig::new("jobs").await;
    rig.send((0..5).map(|number| number.to_string())).await;
    let fault =
        Fault::error(ErrorCode::InternalFailure).on(Action::ReceiveMessage).on(Action::DeleteMessageBatch);
    rig.server.faults().inject(fault.probability(0.5));
    let fault = Fault::fail_entries(ErrorCode::MessageNotInflight).on(Action::ChangeMessageVisibilityBatch);
    rig.server.faults().inject(fault.times(3));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::None)
        // Without the panic hook, which would print it.
        .on_event(|_| std::panic::resume_unwind(Box::new("a panic")))
        .message_handler(|_, lease| async move {
            tokio::select! {
                () = sleep(secs(40)) => Ok(Outcome::Ack),
                () = lease.lost() => Err("lost")?,
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.leases_lost, report.stats.failed, report.stats.acked), (3, 3, 5));
}

#[tokio::test(start_paused = true)]
async fn receive_that_panics_ends_the_run_with_an_error() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let client = meddling(&rig, |number, body| {
        if number > 1 {
            std::panic::resume_unwind(Box::new("a panic"));
        }
        body
    });
    let consumer = Consumer::builder(client, &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let error = tokio::time::timeout(secs(100), consumer.run()).await.expect("it ends").unwrap_err();
    assert_eq!(error.kind(), ReceiveErrorKind::Aborted);
    assert!(error.to_string().contains("a receive has ended unexpectedly"), "{error}");
    assert_eq!((consumer.stats().acked, consumer.stats().receiving, rig.in_flight()), (1, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn run_ends_when_its_client_is_closed() {
    let rig = Rig::new("jobs").await;
    rig.send((0..30).map(|number| number.to_string())).await;
    let buffered = BufferedClient::new(rig.base.clone());
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder_with(&buffered, &rig.url)
        .concurrency(3)
        .message_handler(move |message, _| {
            seen.start(&message);
            async {
                sleep(secs(5)).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let mut receiver = Receiver::builder(&buffered, &rig.url).limit(1).start().await.unwrap();
    let run = tokio::spawn(async move { consumer.run().await });
    until(|| diary.bodies().len() == 3).await;
    buffered.close().await;
    let start = Instant::now();
    let error = run.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ReceiveErrorKind::Closed, "{error}");
    assert!(start.elapsed() < secs(40), "{:?}", start.elapsed());
    assert_eq!(diary.bodies().len(), 3, "nothing is handled that cannot be deleted");
    while receiver.next().await.is_some() {}
    assert_eq!(receiver.failure().await.unwrap().kind(), ReceiveErrorKind::Closed);
}

#[tokio::test(start_paused = true)]
async fn messages_without_a_message_id_are_each_handled() {
    let rig = Rig::new("jobs").await;
    rig.send((0..6).map(|number| number.to_string())).await;
    let client = meddling(&rig, |_, body| {
        let mut answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
        for message in answer["Messages"].as_array_mut().into_iter().flatten() {
            message.as_object_mut().unwrap().remove("MessageId");
        }
        answer.to_string().into()
    });
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(client, &rig.url)
        .message_handler(move |message, _| {
            seen.start(&message);
            async {
                sleep(secs(1)).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let mut bodies = diary.bodies();
    bodies.sort();
    assert_eq!((bodies.join(""), report.stats.duplicates), ("012345".to_owned(), 0));
}

#[tokio::test(start_paused = true)]
async fn hook_may_use_the_lease_of_its_event() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let fault = Fault::throttle().on(Action::ChangeMessageVisibilityBatch);
    rig.server.faults().inject(fault);
    let buffered = BufferedClient::new(rig.base.clone());
    let leases = Arc::new(std::sync::Mutex::new(None::<sqs_buffered::Lease>));
    let (held, told) = (Arc::clone(&leases), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&told);
    let builder = Receiver::builder(&buffered, &rig.url).on_event(move |event| {
        if matches!(event, sqs_buffered::ReceiveEvent::LeaseLost { .. }) {
            count.fetch_add(1, Relaxed);
            assert_eq!(held.lock().unwrap().as_ref().and_then(sqs_buffered::Lease::deadline), None);
        }
    });
    let mut receiver = builder.start().await.unwrap();
    let received = receiver.next().await.unwrap();
    *leases.lock().unwrap() = Some(received.lease().clone());
    // The lease ends exactly now, and settling the message notices it first.
    sleep(received.lease().deadline().unwrap() - Instant::now()).await;
    assert_eq!(received.ack().await.unwrap_err().kind(), SendErrorKind::LeaseLost);
    assert_eq!(told.load(Relaxed), 1, "once");
}

/// Two receives: the first one is refused, and the messages of the second are given back.
#[tokio::test(start_paused = true)]
async fn no_message_is_hidden_after_receiving_ends_with_an_error() {
    let refusal = Fault::error(ErrorCode::AccessDenied).on(Action::ReceiveMessage).times(1);
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(refusal.clone());
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(20)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let late = async {
        sleep(secs(1)).await;
        rig.send(["late"]).await;
    };
    let (result, ()) = tokio::join!(consumer.run(), late);
    assert_eq!((result.unwrap_err().code(), rig.in_flight()), (Some("AccessDenied"), 0));
    assert_eq!(consumer.stats().returned, 1);

    let buffered = BufferedClient::new(rig.base.clone());
    rig.server.faults().inject(refusal);
    let mut receiver = Receiver::builder(&buffered, &rig.url).limit(20).start().await.unwrap();
    let handed_out = receiver.next().await.unwrap();
    rig.send(["more"]).await;
    let settle = async {
        sleep(secs(5)).await;
        handed_out.ack().await.unwrap();
    };
    let start = Instant::now();
    let (result, ()) = tokio::join!(receiver.close(), settle);
    assert_eq!((result.unwrap_err().code(), rig.in_flight()), (Some("AccessDenied"), 0));
    assert!(start.elapsed() >= secs(5), "what was handed out is waited for");
}
