//! Handlers with extractors, state and results of many types.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use sqs_buffered::{
    Attempt, BackOff, Consumer, FromMessage, FromRef, GroupId, HandlerError, Json, Lease, MessageAttributes,
    MessageContext, Outcome, ReceiveCount, ReceiveEvent, State,
};
use sqs_client::types::{Message, MessageAttributeValue};

use super::rig::{Rig, secs, until};

#[derive(serde::Deserialize)]
struct Order {
    id: u32,
}

/// The values that handlers have seen.
type Seen = Arc<Mutex<Vec<String>>>;

#[derive(Clone)]
struct App {
    seen: Seen,
    prefix: &'static str,
}

impl FromRef<App> for Seen {
    fn from_ref(app: &App) -> Self {
        Arc::clone(&app.seen)
    }
}

#[derive(Debug)]
struct Burnt;

impl fmt::Display for Burnt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("burnt")
    }
}

impl std::error::Error for Burnt {}

async fn cook(
    Json(order): Json<Order>,
    State(app): State<App>,
    State(seen): State<Seen>,
) -> Result<(), Burnt> {
    seen.lock().unwrap().push(format!("{} {}", app.prefix, order.id));
    if order.id == 13 { Err(Burnt) } else { Ok(()) }
}

/// Runs a consumer until this many handlers have failed and the queue has this many messages. Returns the errors.
macro_rules! run {
    ($rig:expr, $builder:expr, $failed:expr, $left:expr) => {{
        let errors = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&errors);
        let builder = $builder.back_off(BackOff::Fixed(secs(3_600))).on_event(move |event| {
            if let ReceiveEvent::HandlerFailed { error, .. } = event {
                told.lock().unwrap().push(error.to_string());
            }
        });
        let consumer = builder.build().unwrap();
        let is_done = || errors.lock().unwrap().len() == $failed && $rig.left() == $left;
        let report = consumer.run_until(until(is_done)).await.unwrap();
        assert_eq!(report.panics, Vec::<String>::new());
        let mut errors = errors.lock().unwrap().clone();
        errors.sort();
        errors
    }};
}

#[tokio::test(start_paused = true)]
async fn function_takes_json_and_state_and_its_error_backs_off() {
    let rig = Rig::new("jobs").await;
    rig.send([r#"{"id":7}"#, r#"{"id":13}"#, r#"{"is":7}"#, "soup"]).await;
    let app = App { seen: Seen::default(), prefix: "order" };
    let builder = Consumer::builder(rig.base.clone(), &rig.url).state(app.clone()).handler(cook);
    let errors = run!(rig, builder, 3, 3);
    assert_eq!(
        errors,
        [
            "burnt",
            "the JSON of the body does not fit Order: missing field `id` at line 1 column 8",
            "the body is not JSON for Order: expected value at line 1 column 1",
        ]
    );
    let mut seen = app.seen.lock().unwrap().clone();
    seen.sort();
    assert_eq!(seen, ["order 13", "order 7"]);
}

#[tokio::test(start_paused = true)]
async fn closure_captures_variables_and_returns_any_outcome_type() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let builder = Consumer::builder(rig.base.clone(), &rig.url).handler(move |body: String| {
        let log = Arc::clone(&log);
        async move { log.lock().unwrap().push(body) }
    });
    assert!(run!(rig, builder, 0, 0).is_empty());
    assert_eq!(seen.lock().unwrap().len(), 2);

    rig.send(["3"]).await;
    let outcome = |ReceiveCount(count): ReceiveCount| async move {
        if count < 3 { Outcome::Release } else { Outcome::Ack }
    };
    assert!(run!(rig, Consumer::builder(rig.base.clone(), &rig.url).handler(outcome), 0, 0).is_empty());

    rig.send(["4"]).await;
    let nothing = || async { Ok::<_, HandlerError>(Ok::<_, Burnt>(Outcome::Ack)) };
    assert!(run!(rig, Consumer::builder(rig.base.clone(), &rig.url).handler(nothing), 0, 0).is_empty());
}

/// The values of all extractors as text.
#[expect(clippy::too_many_arguments, reason = "as many as a handler may have")]
async fn all(
    message: Arc<Message>,
    body: String,
    MessageAttributes(attributes): MessageAttributes,
    GroupId(group): GroupId,
    ReceiveCount(count): ReceiveCount,
    lease: Lease,
    context: MessageContext,
    State(seen): State<Seen>,
) {
    let names: BTreeMap<_, _> =
        attributes.iter().map(|(name, value)| (name.clone(), value.string_value())).collect();
    assert_eq!(message.message_id(), context.message().message_id());
    assert_eq!((lease.deadline(), context.attempt()), (context.deadline(), None));
    assert!(context.deadline().is_some());
    seen.lock().unwrap().push(format!("{body} {group} {count} {names:?}"));
}

#[tokio::test(start_paused = true)]
async fn extractors_return_the_values_of_the_message() {
    let rig = Rig::new("jobs.fifo").await;
    let send = rig.client.send_message().queue_url(&rig.url).message_body("soup").message_group_id("table");
    send.message_attributes("tenant", MessageAttributeValue::string("acme")).send().await.unwrap();
    let seen = Seen::default();
    let builder = Consumer::builder(rig.base.clone(), &rig.url).state(Arc::clone(&seen)).handler(all);
    assert!(run!(rig, builder, 0, 0).is_empty());
    assert_eq!(*seen.lock().unwrap(), [r#"soup table 1 {"tenant": Some("acme")}"#]);
}

#[tokio::test(start_paused = true)]
async fn extractor_without_its_value_fails_the_handler_with_the_reason() {
    let rig = Rig::new("jobs").await;
    rig.send(["soup"]).await;
    let builder = Consumer::builder(rig.base.clone(), &rig.url).handler(|_: GroupId| async {});
    assert_eq!(run!(rig, builder, 1, 1), ["the message has no message group id"]);
    rig.send(["soup"]).await;
    let builder = Consumer::builder(rig.base.clone(), &rig.url).handler(|_: Attempt| async {});
    assert_eq!(run!(rig, builder, 1, 2), ["there is no attempt; wrap the handler in `Idempotent`"]);
    rig.send(["soup"]).await;
    let builder = Consumer::builder(rig.base.clone(), &rig.url).handler(|_: Option<GroupId>| async {});
    assert!(run!(rig, builder, 0, 2).is_empty());
}

#[tokio::test]
async fn extractor_of_the_user_reads_message_and_state() {
    struct Discount(u32);

    impl FromMessage<u32> for Discount {
        async fn from_message(context: &MessageContext, state: &u32) -> Result<Self, HandlerError> {
            let price: u32 = context.message().body().ok_or("no body")?.parse()?;
            Ok(Self(price.checked_sub(*state).ok_or("the price is below the discount")?))
        }
    }

    let of = async |body: &str| {
        let mut message = Message::default();
        message.body = Some(body.to_owned());
        let discount = Discount::from_message(&MessageContext::new(message), &5).await;
        discount.map(|Discount(price)| price).map_err(|error| error.to_string())
    };
    assert_eq!(of("12").await, Ok(7));
    assert_eq!(of("2").await, Err("the price is below the discount".to_owned()));
    assert_eq!(of("tea").await, Err("invalid digit found in string".to_owned()));
}
