//! 3.7: "SQS unavailable: server-side error: 100,015 attempts over 23 days: 3 at once, 2 after 1 s, 10 with 1..20 s, 100,000
//! at 20 s".

use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::types::Message;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::{Fault, InjectedFault};

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

/// A server whose clock is frozen.
async fn frozen() -> Sns {
    Sns::with(MockSqs::builder().clock_frozen()).await
}

impl Sns {
    /// Makes sends to a queue fail, those of topics too.
    fn outage(&self, queue: &str) -> InjectedFault {
        let fault = Fault::error(ErrorCode::ServiceUnavailable).on(Action::SendMessage).queue(queue);
        self.server.faults().inject(fault)
    }

    /// Advances the clock, and waits for messages.
    async fn bodies_after(&self, pause: Duration, queue: &str, count: usize) -> Vec<String> {
        self.server.clock().advance(pause);
        self.server.queue(queue).expect_messages(count).await.expect("messages");
        self.bodies(queue).await
    }
}

#[tokio::test]
async fn short_failure_is_retried_at_once() {
    let mut sns = frozen().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    let outage = Fault::reset_before().on(Action::SendMessage).queue("q").times(3);
    let outage = sns.server.faults().inject(outage);
    sns.publish(&topic, "tea").await;
    assert_eq!((sns.bodies("q").await, outage.hits()), (vec!["tea".to_owned()], 3));
    assert!(sns.notes("Publish").await.is_empty());
}

#[tokio::test]
async fn message_arrives_by_the_clock_after_an_outage() {
    let mut sns = frozen().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    sns.subscribe_queue(&topic, "other", &[RAW]).await;
    let outage = sns.outage("q");
    sns.publish(&topic, "tea").await;
    assert_eq!(sns.bodies("other").await, ["tea"]);
    assert_eq!(outage.hits(), 4, "one attempt and three retries");
    // Subscriptions have the order of their random ids.
    let notes = sns.notes("Publish").await;
    let expected = format!("not yet delivered to {}, but tried again: ", queue_arn("q"));
    assert!(notes.iter().any(|note| note.starts_with(&expected)), "{notes:?}");
    outage.remove();
    assert!(sns.bodies("q").await.is_empty());
    assert_eq!(sns.bodies_after(Duration::from_secs(1), "q", 1).await, ["tea"]);
}

/// "SNS keeps the order": a message waits behind an earlier one of its group, in each queue.
#[tokio::test]
async fn outage_keeps_the_order_of_groups() {
    let mut sns = frozen().await;
    let topic = sns.fifo_topic("a.fifo").await;
    sns.subscribe_queue(&topic, "q.fifo", &[RAW]).await;
    let outage = sns.outage("q.fifo");
    sns.publish_to_group(&topic, "g", "1").await;
    outage.remove();
    for text in ["2", "3"] {
        sns.publish_to_group(&topic, "g", text).await;
    }
    sns.publish_to_group(&topic, "h", "4").await;
    assert_eq!(sns.bodies("q.fifo").await, ["4"], "the group of the first message waits, others do not");
    assert_eq!(sns.bodies_after(Duration::from_secs(1), "q.fifo", 4).await, ["1", "2", "3"]);
}

#[tokio::test]
async fn message_is_in_the_dead_letter_queue_after_23_days() {
    let mut sns = frozen().await;
    let topic = sns.topic("a", &[]).await;
    sns.queue("dead").await;
    let redrive = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
    sns.subscribe_queue(&topic, "q", &[RAW, ("RedrivePolicy", &redrive)]).await;
    let outage = sns.outage("q");
    sns.publish(&topic, "tea").await;
    sns.server.clock().advance(23 * DAY);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(sns.bodies("dead").await.is_empty());
    assert_eq!(sns.bodies_after(DAY, "dead", 1).await, ["tea"]);
    assert!(outage.hits() < 100, "after a jump, not all attempts are made: {}", outage.hits());
    let records = sns.wire.get("/_mock/requests?service=sns").await.content(200);
    let latest = records["requests"].as_array().and_then(|all| all.last()).expect("a record");
    assert_eq!(latest["action"], "Retry");
    assert_eq!(latest["id"], "1", "the number of the delivery");
    let note = latest["warnings"][0].as_str().unwrap_or_default();
    assert!(
        note.starts_with(&format!("moved from {} to the dead-letter queue", queue_arn("q"))),
        "{records}"
    );
}

/// "at least once": an attempt whose answer is lost is repeated. FIFO queues recognize the second message.
#[tokio::test]
async fn lost_answer_doubles_the_message_of_a_standard_queue() {
    let mut sns = frozen().await;
    let (standard, fifo) = (sns.topic("a", &[]).await, sns.fifo_topic("a.fifo").await);
    sns.subscribe_queue(&standard, "q", &[RAW]).await;
    sns.subscribe_queue(&fifo, "q.fifo", &[RAW]).await;
    for queue in ["q", "q.fifo"] {
        sns.server.faults().inject(Fault::reset_after().on(Action::SendMessage).queue(queue).times(1));
    }
    sns.publish(&standard, "tea").await;
    sns.publish_to_group(&fifo, "g", "tea").await;
    assert_eq!(sns.bodies("q").await, ["tea", "tea"]);
    assert_eq!(sns.bodies("q.fifo").await, ["tea"]);
}

#[tokio::test]
async fn fault_of_the_sender_is_not_retried() {
    let mut sns = frozen().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    let fault = Fault::error(ErrorCode::InvalidParameterValue).on(Action::SendMessage).queue("q");
    let fault = sns.server.faults().inject(fault);
    sns.publish(&topic, "tea").await;
    assert_eq!(fault.hits(), 1);
    let notes = sns.notes("Publish").await;
    assert!(notes[0].starts_with(&format!("dropped for {}: ", queue_arn("q"))), "{notes:?}");
}

#[tokio::test]
async fn reset_forgets_messages_that_wait() {
    let mut sns = frozen().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    sns.outage("q");
    sns.publish(&topic, "tea").await;
    sns.server.reset();
    sns.queue("q").await;
    sns.server.clock().advance(DAY);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(sns.receive("q").await, Vec::<Message>::new());
}
