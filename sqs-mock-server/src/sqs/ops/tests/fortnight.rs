//! Fourteen days of virtual time.

use sqs_client::operation::start_message_move_task::StartMessageMoveTaskInput;

use super::*;

const HOUR: u64 = 3600;
const DAYS: u64 = 14;

async fn count(rig: &Rig, url: &str) -> usize {
    let available = rig.attribute(url, "ApproximateNumberOfMessages").await;
    available.and_then(|count| count.parse().ok()).expect("a count")
}

#[tokio::test(start_paused = true)]
async fn retention_deduplication_delays_and_move_task_over_fourteen_days() {
    let rig = rig();
    let dead = rig.queue("dead", &[("MessageRetentionPeriod", "1209600")]).await;
    let policy = redrive_to("dead", 1);
    let source = rig.queue("source", &[("VisibilityTimeout", "60"), ("RedrivePolicy", &policy)]).await;
    let kept = rig.queue("kept", &[("DelaySeconds", "900")]).await;
    let fifo = rig.fifo_queue("hourly.fifo").await;
    for hour in 0..DAYS * 24 {
        // The second is a duplicate within five minutes; the next hour's is not.
        rig.send_to_group(&fifo, "g", "the same").await;
        rig.pass(299).await;
        rig.send_to_group(&fifo, "g", "the same").await;
        if hour % 24 == 0 {
            rig.send(&kept, &hour.to_string()).await;
            rig.send(&source, &hour.to_string()).await;
            assert_eq!(rig.receive(&source).await.len(), 1);
        }
        rig.pass(HOUR - 299).await;
        assert!(rig.receive(&source).await.is_empty(), "the message is a dead letter now");
    }
    // Retention is four days; the message of the fifth last day has just expired.
    assert_eq!(count(&rig, &kept).await, 4);
    assert_eq!(count(&rig, &fifo).await, 4 * 24 - 1);
    assert_eq!(count(&rig, &dead).await, 14);
    rig.pass(299).await;
    // The first is fourteen days old.
    assert_eq!(count(&rig, &dead).await, 13);
    let back = rig.queue("back", &[]).await;
    let start = StartMessageMoveTaskInput::builder().source_arn(arn("dead")).destination_arn(arn("back"));
    rig.call(start.max_number_of_messages_per_second(1)).await.unwrap();
    rig.pass(5).await;
    assert_eq!((count(&rig, &back).await, count(&rig, &dead).await), (6, 7));
    rig.pass(60).await;
    assert_eq!((count(&rig, &back).await, count(&rig, &dead).await), (13, 0));
    // Retention starts anew in this queue.
    rig.pass(4 * 24 * HOUR - 66).await;
    assert_eq!(count(&rig, &back).await, 13);
    rig.pass(66).await;
    assert_eq!(count(&rig, &back).await, 0);
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs((DAYS + 4) * 24 * HOUR + 299 + 65));
}
