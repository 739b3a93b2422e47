//! Run with: `cargo run --example inspect_and_time_travel`
//!
//! Uses the admin API of the mock server: peeks at messages, explains an empty receive, advances the clock, and lists
//! recorded requests. The API is plain HTTP, so tests in any language can use it.

use std::error::Error;

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Value, json};
use sqs_client::transport::{PoolConfig, ReqwestTransport, Transport as _};

/// The admin API of the server. Any HTTP client works; this one comes with `sqs-client`.
struct Admin {
    http: ReqwestTransport,
    base: String,
}

impl Admin {
    async fn get(&self, path: &str) -> Result<Value, Box<dyn Error>> {
        self.request(Method::GET, path, Bytes::new()).await
    }

    async fn post(&self, path: &str, content: Value) -> Result<Value, Box<dyn Error>> {
        self.request(Method::POST, path, content.to_string().into()).await
    }

    async fn request(&self, method: Method, path: &str, body: Bytes) -> Result<Value, Box<dyn Error>> {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base)).body(body)?;
        let response = self.http.send(request).await?;
        if !response.status().is_success() {
            return Err(String::from_utf8_lossy(response.body()).into());
        }
        Ok(serde_json::from_slice(response.body())?)
    }
}

const HELP: &str = "\
Uses the admin API of the mock server: peeks at messages, explains an empty receive, advances the clock. Requires sqs-mock-server.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, server) = sqs_examples::connect().await?;
    let base = server.as_ref().map(|server| server.endpoint_url().to_owned());
    let base = base.or_else(|| std::env::var("AWS_ENDPOINT_URL_SQS").ok()).unwrap_or_default();
    let admin = Admin {
        http: ReqwestTransport::plain_http(PoolConfig::default())?,
        base: base.trim_end_matches('/').to_owned(),
    };
    let Ok(about) = admin.get("/_mock").await else {
        println!("This server has no /_mock API. The rest of this example requires sqs-mock-server.");
        return Ok(());
    };
    println!("version    {}, seed {}", about["version"], about["seed"]);

    let name = sqs_examples::fresh("orders");
    let created = client.create_queue().queue_name(&name).send().await?;
    let queue = client.queue(created.queue_url().unwrap_or_default());
    queue.send("tea").send().await?;
    queue.send("milk").delay_seconds(900).send().await?;
    queue.receive().send().await?;

    println!("\nA second receive returns nothing. Why?");
    println!("received   {} messages", queue.receive().wait_time_seconds(0).send().await?.messages().len());
    let why = admin.get(&format!("/_mock/queues/{name}/why-empty")).await?;
    println!("because    {}", why["text"].as_str().unwrap_or_default());

    println!("\nThe messages in the queue, without receiving them:");
    let peeked = admin.get(&format!("/_mock/messages?queue={name}")).await?;
    for message in peeked["messages"].as_array().into_iter().flatten() {
        println!("           {} is {} until {}", message["body"], message["state"], message["until"]);
    }

    println!("\nAdvance the clock by a quarter of an hour:");
    let clock = admin.post("/_mock/clock", json!({ "advance": "15min" })).await?;
    println!("clock      {}", clock["now"]);
    for message in queue.receive().max_number_of_messages(10).send().await?.messages() {
        println!("received   {}", message.body().unwrap_or_default());
        queue.delete(message).send().await?;
    }

    println!("\nRecorded requests to this queue:");
    let journal = admin.get(&format!("/_mock/requests?queue={name}")).await?;
    for request in journal["requests"].as_array().into_iter().flatten() {
        println!("           {} {} in {} us", request["status"], request["action"], request["elapsed_us"]);
    }
    client.delete_queue().queue_url(queue.url()).send().await?;
    Ok(())
}
