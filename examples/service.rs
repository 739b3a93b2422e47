//! Run with: `cargo run --example service`
//!
//! A service: JSON messages, state, a handler that runs once for each order although orders come twice, and a shutdown that
//! leaves nothing hidden. Ends by itself or on ctrl-c; a real service calls `run_until_signal`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use sqs_buffered::{BufferedClient, Consumer, Entry, Idempotent, Json, MemoryStore, State};

const ORDERS: u64 = 20;

const HELP: &str = "\
Handles JSON orders, each of which is sent twice and charged once.
Ends by itself or on ctrl-c.";

/// What the handler shares with the rest of the program: the sum of all orders, in cents.
type Till = Arc<AtomicU64>;

async fn charge(
    Json(order): Json<Value>,
    State(till): State<Till>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let cents = order["cents"].as_u64().ok_or("the order has no price")?;
    println!("order {} is charged", order["id"]);
    till.fetch_add(cents, Ordering::Relaxed);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("orders")).send().await?;
    let url = created.queue_url.ok_or("a queue has a URL")?;
    let buffered = BufferedClient::new(client.clone());
    for id in (1..=ORDERS).chain(1..=ORDERS) {
        buffered.send_detached(Entry::new(&url, format!(r#"{{"id":{id},"cents":250}}"#))).await?;
    }
    buffered.flush().await;

    let till = Till::default();
    let once = Idempotent::new(charge, MemoryStore::new(10_000, Duration::from_hours(1))).key(|context| {
        Ok(serde_json::from_str::<Value>(context.message().body().unwrap_or_default())?["id"].to_string())
    });
    let consumer = Consumer::builder_with(&buffered, &url)
        .wait_time(Duration::from_secs(1))
        .state(Arc::clone(&till))
        .handler(once)
        .build()?;
    let all = 2 * ORDERS;
    let end = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = async { while consumer.stats().acked < all { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
        }
    };
    let report = consumer.run_until(end).await?;
    println!("{} messages, {} cents in the till", report.stats.acked, till.load(Ordering::Relaxed));
    client.delete_queue().queue_url(url).send().await?;
    Ok(())
}
