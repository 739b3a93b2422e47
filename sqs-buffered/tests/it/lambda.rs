//! Handlers over SQS events of AWS Lambda.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sqs_buffered::{
    Handler, HandlerError, Idempotent, Json, LambdaHandler, Lease, MemoryStore, Outcome, ReceiveCount,
    SqsBatchResponse, SqsEvent, State,
};
use sqs_client::client::Unopened;
use tokio::time::{Instant, sleep};

use super::receive::opening::layer;
use super::receive::rig::Rig;

#[derive(serde::Deserialize)]
struct Order {
    id: u32,
    millis: u64,
}

/// The starts and ends of handlers.
type Seen = Arc<Mutex<Vec<String>>>;

async fn cook(
    Json(order): Json<Order>,
    ReceiveCount(count): ReceiveCount,
    State(seen): State<Seen>,
) -> Result<Outcome, HandlerError> {
    seen.lock().unwrap().push(format!("+{}", order.id));
    sleep(Duration::from_millis(order.millis)).await;
    seen.lock().unwrap().push(format!("-{}", order.id));
    assert_eq!(count, 3);
    match order.id % 100 {
        13 => Err("burnt".into()),
        14 => std::panic::resume_unwind(Box::new("dropped")),
        15 => Ok(Outcome::Nack(Duration::ZERO)),
        _ => Ok(Outcome::Ack),
    }
}

/// An event of messages given as group, number and time.
fn event(queue: &str, messages: &[(&str, u32, u64)]) -> SqsEvent {
    let record = |(group, id, millis): &(&str, u32, u64)| {
        json!({
            "messageId": id.to_string(),
            "receiptHandle": "AQEB",
            "body": json!({"id": id, "millis": millis}).to_string(),
            "attributes": {"ApproximateReceiveCount": "3", "MessageGroupId": group},
            "messageAttributes": {},
            "md5OfBody": "",
            "eventSource": "aws:sqs",
            "eventSourceARN": format!("arn:aws:sqs:eu-central-1:123456789012:{queue}"),
            "awsRegion": "eu-central-1",
        })
    };
    let records: Vec<_> = messages.iter().map(record).collect();
    serde_json::from_value(json!({ "Records": records })).unwrap()
}

fn failed(response: SqsBatchResponse) -> Vec<String> {
    let mut failed: Vec<_> =
        response.batch_item_failures.into_iter().map(|item| item.item_identifier).collect();
    failed.sort();
    failed
}

#[tokio::test(start_paused = true)]
async fn messages_of_standard_queues_run_concurrently_and_each_failure_is_reported() {
    let (seen, begun) = (Seen::default(), Instant::now());
    let handler = LambdaHandler::new(cook, Arc::clone(&seen)).concurrency(3);
    let messages: Vec<_> = (10..19).map(|id| ("table", id, 100)).collect();
    let mut event = event("orders", &messages);
    event.records[0].body = "soup".to_owned();
    assert_eq!(failed(handler.handle(event).await), ["10", "13", "14", "15"]);
    assert_eq!(
        begun.elapsed(),
        Duration::from_millis(300),
        "eight at a time of three, and one that is not JSON"
    );
    let most = seen.lock().unwrap().iter().fold((0_i32, 0), |(now, most), step| {
        let now = now + if step.starts_with('+') { 1 } else { -1 };
        (now, most.max(now))
    });
    assert_eq!(most, (0, 3));
}

#[tokio::test(start_paused = true)]
async fn deliveries_of_one_message_do_not_run_at_once() {
    let seen = Seen::default();
    let handler = LambdaHandler::new(cook, Arc::clone(&seen));
    assert_eq!(failed(handler.handle(event("orders", &[("", 7, 100), ("", 7, 100)])).await), [""; 0]);
    assert_eq!(*seen.lock().unwrap(), ["+7", "-7", "+7", "-7"]);
}

#[tokio::test(start_paused = true)]
async fn group_of_a_fifo_queue_runs_in_order_and_stops_at_its_first_failure() {
    let seen = Seen::default();
    let handler = LambdaHandler::new(cook, Arc::clone(&seen));
    let messages =
        [("a", 1, 50), ("b", 2, 10), ("a", 13, 10), ("b", 3, 10), ("a", 4, 10), ("c", 5, 30), ("a", 6, 10)];
    assert_eq!(failed(handler.handle(event("orders.fifo", &messages)).await), ["13", "4", "6"]);
    let steps = "+1 +2 +5 -2 +3 -3 -5 -1 +13 -13";
    assert_eq!(seen.lock().unwrap().join(" "), steps);
}

#[tokio::test(start_paused = true)]
async fn handlers_that_exceed_the_time_are_stopped_and_reported() {
    let (seen, begun) = (Seen::default(), Instant::now());
    let handler = LambdaHandler::new(cook, Arc::clone(&seen)).margin(Duration::from_millis(100));
    let messages = [("a", 1, 400), ("a", 2, 700), ("a", 3, 1), ("b", 4, 5_000), ("c", 5, 10)];
    let response = handler.handle_within(Duration::from_secs(1), event("orders.fifo", &messages)).await;
    assert_eq!(
        (failed(response), begun.elapsed()),
        (vec!["2".to_owned(), "3".to_owned(), "4".to_owned()], Duration::from_millis(900),)
    );
    sleep(Duration::from_secs(10)).await;
    assert!(!seen.lock().unwrap().contains(&"-4".to_owned()), "it was stopped");
    let response = handler.handle_within(Duration::ZERO, event("orders", &messages)).await;
    assert_eq!(failed(response).len(), 5, "without time nothing starts");
}

#[tokio::test(start_paused = true)]
async fn event_without_messages_has_no_failures() {
    let handler = LambdaHandler::new(cook, Seen::default());
    assert_eq!(handler.handle(SqsEvent::default()).await, SqsBatchResponse::default());
}

#[tokio::test(start_paused = true)]
async fn handler_in_lambda_has_no_lease() {
    let run = async |handler: LambdaHandler| failed(handler.handle(event("orders", &[("a", 1, 0)])).await);
    assert_eq!(run(LambdaHandler::new(async |_: Lease| {}, ())).await, ["1"]);
    let without = async |lease: Option<Lease>| assert!(lease.is_none());
    assert!(run(LambdaHandler::new(without, ())).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn idempotent_handler_runs_once_for_a_repeated_message() {
    let (seen, store) = (Seen::default(), Arc::new(MemoryStore::default()));
    let handler = LambdaHandler::new(Idempotent::new(cook, store), Arc::clone(&seen));
    let message = event("orders", &[("a", 1, 200)]);
    let (first, second) = tokio::join!(handler.handle(message.clone()), async {
        sleep(Duration::from_millis(100)).await;
        handler.handle(message.clone()).await
    });
    assert_eq!((failed(first).len(), failed(second)), (0, vec!["1".to_owned()]), "it is in progress");
    assert!(failed(handler.handle(message).await).is_empty(), "it is completed");
    assert_eq!(*seen.lock().unwrap(), ["+1", "-1"]);
}

/// An event of messages whose bodies are pointers, marked by this attribute.
fn pointers(attribute: &str, queue: &str, bodies: &[&str]) -> SqsEvent {
    let mut event = event(queue, &[("a", 1, 0), ("a", 2, 0), ("a", 3, 0)][..bodies.len()]);
    for (record, body) in event.records.iter_mut().zip(bodies) {
        record.body = (*body).to_owned();
        let size = serde_json::from_value(json!({"stringValue": "300000", "dataType": "Number"})).unwrap();
        record.message_attributes.insert(attribute.to_owned(), size);
    }
    event
}

async fn note(body: String, State(seen): State<Seen>) {
    seen.lock().unwrap().push(body);
}

#[tokio::test(start_paused = true)]
async fn payloads_are_loaded_by_the_client_that_is_given() {
    let (rig, seen) = (Rig::new("orders").await, Seen::default());
    let client = layer(&rig, (1, Unopened::Retry));
    let handler = LambdaHandler::new(note, Arc::clone(&seen)).open_with(client);
    let (attribute, second) = ("ExtendedPayloadSize", Duration::from_secs(1));
    assert_eq!(failed(handler.handle(pointers(attribute, "orders", &["x", "bad", "y"])).await), ["2"]);
    assert_eq!(*seen.lock().unwrap(), ["opened x", "opened y"]);
    seen.lock().unwrap().clear();
    let hangs = pointers(attribute, "orders.fifo", &["x", "slow", "y"]);
    let begun = Instant::now();
    assert_eq!(failed(handler.handle_within(10 * second, hangs).await), ["2", "3"]);
    assert!(begun.elapsed() < 10 * second, "{:?}", begun.elapsed());
    assert_eq!(*seen.lock().unwrap(), ["opened x"]);
}

#[tokio::test(start_paused = true)]
async fn handler_never_sees_a_pointer_that_no_client_loads() {
    let rig = Rig::new("orders").await;
    for attribute in ["ExtendedPayloadSize", "SQSLargePayloadSize"] {
        let seen = Seen::default();
        let alone = LambdaHandler::new(note, Arc::clone(&seen));
        let over_sqs = alone.clone().open_with(rig.base.clone());
        for handler in [alone, over_sqs] {
            let response = handler.handle(pointers(attribute, "orders", &["pointer"])).await;
            assert_eq!(failed(response), ["1"], "{attribute}");
        }
        assert_eq!(*seen.lock().unwrap(), [""; 0], "{attribute}");
    }
}

/// The same function is the handler of a consumer in `receive/handlers.rs`.
#[test]
fn handler_of_a_consumer_runs_in_lambda() {
    fn is_handler<A>(_: impl Handler<A, Seen>) {}
    is_handler(cook);
}
