//! Run with: `cargo run --example service`
//!
//! A worker as a service runs it: messages of an SNS topic, two types of them, JSON, state, a timeout, dead letters after three
//! failures, each message once, metrics, a health check, a graceful stop. A real one calls `run_until_signal`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use sqs_buffered::{
    BufferedClient, Consumer, HandlerError, Idempotent, Json, MessageContext, Router, Sns, State,
    dead_letter_after,
};
use sqs_examples::stores::SqliteStore;

#[derive(serde::Deserialize)]
struct Order {
    id: u64,
    cents: i64,
}

/// State shared with the rest of the program: the sum of all orders in cents.
type Revenue = Arc<AtomicI64>;

async fn charge(
    Sns { message: Json(order), .. }: Sns<Json<Order>>,
    State(revenue): State<Revenue>,
) -> Result<(), String> {
    if order.cents <= 0 {
        return Err(format!("order {} has no price", order.id));
    }
    revenue.fetch_add(order.cents, Ordering::Relaxed);
    Ok(())
}

async fn refund(Sns { message: Json(order), .. }: Sns<Json<Order>>, State(revenue): State<Revenue>) {
    revenue.fetch_sub(order.cents, Ordering::Relaxed);
}

/// SNS delivers a message more than once, with the same id.
fn key(context: &MessageContext) -> Result<String, HandlerError> {
    let envelope: Value = serde_json::from_str(context.message().body().unwrap_or_default())?;
    Ok(envelope["MessageId"].as_str().ok_or("the notification has no id")?.to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help("A worker as a service runs it. Ends when its queue stays empty.")? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let url = sqs_examples::queue_with_dead_letters(&client, "orders").await?;
    let queue = BufferedClient::new(client).queue(&url);
    sqs_examples::publish(&queue, 20).await?;

    let router =
        Router::by_pointer("/MessageAttributes/type/Value").route("order", charge).route("refund", refund);
    // A file that the processes of this machine share.
    let file = std::env::var("HANDLED").unwrap_or(":memory:".into());
    let (metrics, revenue) = (PrometheusBuilder::new().install_recorder()?, Revenue::default());
    let consumer = Consumer::builder_with(queue.client(), &url)
        .handler_timeout(Duration::from_secs(30))
        .on_error(dead_letter_after(3))
        .state(Arc::clone(&revenue))
        .handler(Idempotent::new(router, SqliteStore::open(file)?).key(key))
        .build()?;

    let (checked, minute) = (consumer.clone(), Duration::from_secs(60));
    let health = async move || {
        if checked.health().is_live(minute) { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
    };
    let metrics = async move || metrics.render();
    let routes = axum::Router::new().route("/health", get(health)).route("/metrics", get(metrics));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("health     http://{}/health, /metrics", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, routes).into_future());

    let stopped = consumer.clone();
    tokio::spawn(async move { tokio::signal::ctrl_c().await.map(|()| stopped.stop()) });
    let stats = consumer.drain(Duration::from_secs(3)).await?.stats;
    let cents = revenue.load(Ordering::Relaxed);
    println!("handled    {} and {} dead letters, {cents} cents", stats.acked, stats.dead_lettered);
    Ok(())
}
