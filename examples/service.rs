//! Run with: `cargo run --example service`
//!
//! A service with JSON messages, shared state and an idempotent handler: it charges each order once, although each is sent
//! twice. It ends by itself or on ctrl-c; a real service calls `run_until_signal`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use sqs_buffered::{BufferedClient, Consumer, Entry, Idempotent, Json, MemoryStore, State};

const ORDERS: u64 = 20;

const HELP: &str = "\
Handles JSON orders. Each order is sent twice and charged once.
Ends by itself or on ctrl-c.";

/// State shared with the rest of the program: the sum of all orders in cents.
type Revenue = Arc<AtomicU64>;

async fn charge(
    Json(order): Json<Value>,
    State(revenue): State<Revenue>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let cents = order["cents"].as_u64().ok_or("the order has no price")?;
    println!("charged    order {}", order["id"]);
    revenue.fetch_add(cents, Ordering::Relaxed);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("orders")).send().await?;
    let url = created.queue_url.ok_or("the response has no queue URL")?;
    let buffered = BufferedClient::new(client.clone());
    for id in (1..=ORDERS).chain(1..=ORDERS) {
        buffered.send_detached(Entry::new(&url, format!(r#"{{"id":{id},"cents":250}}"#))).await?;
    }
    buffered.flush().await;

    let revenue = Revenue::default();
    let handler = Idempotent::new(charge, MemoryStore::new(10_000, Duration::from_hours(1))).key(|context| {
        Ok(serde_json::from_str::<Value>(context.message().body().unwrap_or_default())?["id"].to_string())
    });
    let consumer = Consumer::builder_with(&buffered, &url)
        .wait_time(Duration::from_secs(1))
        .state(Arc::clone(&revenue))
        .handler(handler)
        .build()?;
    let all_handled = async {
        while consumer.stats().acked < 2 * ORDERS {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let shutdown = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = all_handled => {}
        }
    };
    let report = consumer.run_until(shutdown).await?;
    println!("handled    {} messages, revenue {} cents", report.stats.acked, revenue.load(Ordering::Relaxed));
    client.delete_queue().queue_url(url).send().await?;
    Ok(())
}
