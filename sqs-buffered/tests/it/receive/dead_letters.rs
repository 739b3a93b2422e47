//! Messages that handlers send to the dead-letter queue.

use sqs_buffered::{BackOff, BufferedClient, Consumer, Outcome, ReceiveEvent};
use sqs_client::operation::Action;
use sqs_client::types::{MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName};
use std::sync::{Arc, Mutex};

use super::rig::{Rig, secs, until};

/// Sets a dead-letter queue for the queue of the rig.
async fn with_dead_letters(rig: &Rig, name: &str) -> String {
    rig.create(name).await;
    let url = rig.server.queue_url(name);
    let asked =
        rig.client.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::QueueArn);
    let arn = asked.send().await.unwrap().attributes.unwrap()[&QueueAttributeName::QueueArn].clone();
    let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"100"}}"#);
    rig.set(QueueAttributeName::RedrivePolicy, &policy).await;
    url
}

#[tokio::test(start_paused = true)]
async fn dead_letter_has_body_attributes_group_and_reason() {
    for (name, dead) in [("jobs", "dead"), ("jobs.fifo", "dead.fifo")] {
        let rig = Rig::new(name).await;
        let dead_url = with_dead_letters(&rig, dead).await;
        for body in ["1", "2", "3"] {
            let send = rig.client.send_message().queue_url(&rig.url).message_body(body).message_group_id("g");
            send.message_attributes("kind", MessageAttributeValue::string("order")).send().await.unwrap();
        }
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(|_, _| async { Ok(Outcome::DeadLetter("cannot be read".into())) })
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        assert_eq!((report.stats.dead_lettered, report.stats.acked), (3, 0));
        assert_eq!(rig.sent_of(Action::GetQueueUrl).len(), 1, "asked once");
        assert_eq!(rig.server.queue(dead).bodies(), ["1", "2", "3"]);
        let received = rig.client.queue(&dead_url).receive().send().await.unwrap();
        let first = &received.messages()[0];
        let attributes = first.message_attributes().unwrap();
        assert_eq!(attributes["DeadLetterReason"].string_value(), Some("cannot be read"));
        assert_eq!(attributes["kind"].string_value(), Some("order"));
        assert_eq!(first.attributes().unwrap()[&MessageSystemAttributeName::MessageGroupId], "g");
    }
}

#[tokio::test(start_paused = true)]
async fn dead_letter_without_a_dead_letter_queue_is_a_failure() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let reasons = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reasons);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(secs(50)))
        .on_event(move |event| {
            if let ReceiveEvent::DeadLetterFailed { reason, .. } = event {
                told.lock().unwrap().push((*reason).to_owned());
            }
        })
        .message_handler(|_, _| async { Ok(Outcome::DeadLetter("bad".into())) })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| !reasons.lock().unwrap().is_empty())).await.unwrap();
    assert_eq!(*reasons.lock().unwrap(), ["the queue has no dead-letter queue"]);
    assert_eq!((report.stats.dead_lettered, report.stats.nacked, rig.left()), (0, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn changed_dead_letter_queue_is_found_after_a_failure() {
    let rig = Rig::new("jobs").await;
    let first = with_dead_letters(&rig, "first").await;
    rig.send(["1"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(secs(1)))
        .message_handler(|_, _| async { Ok(Outcome::DeadLetter("bad".into())) })
        .build()
        .unwrap();
    let change = async {
        until(|| rig.left() == 0).await;
        rig.client.delete_queue().queue_url(first).send().await.unwrap();
        with_dead_letters(&rig, "second").await;
        rig.send(["2"]).await;
        until(|| rig.left() == 0).await;
    };
    let report = consumer.run_until(change).await.unwrap();
    assert_eq!((report.stats.dead_lettered, report.stats.dead_letter_errors), (2, 1));
    assert_eq!(rig.server.queue("second").bodies(), ["2"]);
}

#[tokio::test(start_paused = true)]
async fn dead_letter_may_be_larger_than_messages_of_the_producer() {
    let rig = Rig::new("jobs").await;
    with_dead_letters(&rig, "dead").await;
    rig.send(["x".repeat(100)]).await;
    let buffered = BufferedClient::builder(rig.base.clone()).max_message_bytes(10).build().unwrap();
    let consumer = Consumer::builder_with(&buffered, &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::DeadLetter("bad".into())) })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((report.stats.dead_lettered, rig.server.queue("dead").bodies()[0].len()), (1, 100));
}
