//! Run with: `cargo run --example fifo_pipeline`
//!
//! Sends orders to a FIFO queue with injected faults, and checks that each customer's orders arrive once and in order.
//! Fault injection requires the embedded server.

use std::collections::BTreeMap;
use std::error::Error;

use sqs_buffered::{BufferedClient, Entry};
use sqs_client::operation::Action;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::{Fault, InjectedFault};

const CUSTOMERS: [&str; 4] = ["ada", "bob", "cyd", "dan"];
const ORDERS: usize = 12;

const HELP: &str = "\
Sends orders of several customers to a FIFO queue with injected faults, and checks that each arrives once and in order.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, server) = sqs_examples::connect().await?;
    let created = client
        .create_queue()
        .queue_name(sqs_examples::fresh("pipeline.fifo"))
        .attributes(QueueAttributeName::FifoQueue, "true");
    let url = created.send().await?.queue_url.unwrap_or_default();
    let faults = server.as_ref().map(inject_faults).unwrap_or_default();

    let buffered = BufferedClient::new(client.clone());
    let mut tickets = Vec::new();
    for number in 1..=ORDERS {
        for customer in CUSTOMERS {
            let entry = Entry::new(&url, number.to_string()).message_group_id(customer);
            tickets.push((customer, number, buffered.enqueue(entry).await?));
        }
    }
    println!("\nAccepted orders with increasing sequence numbers:");
    for (customer, number, ticket) in tickets {
        let receipt = ticket.await?;
        println!("accepted   {customer} {number:>2}   {}", receipt.sequence_number.unwrap_or_default());
    }
    if let Some(server) = &server {
        println!("\nInjected faults:");
        for (name, fault) in faults {
            println!("{:>3} times  {name}", fault.hits());
        }
        server.faults().clear();
    }
    let stats = buffered.stats();
    println!(
        "{:>3}        requests for {} orders, {} entries retried",
        stats.batches, stats.succeeded, stats.retried_entries
    );

    println!("\nReceived orders by customer:");
    for (customer, orders) in received(&client, &url).await? {
        let is_correct = orders == (1..=ORDERS).map(|number| number.to_string()).collect::<Vec<_>>();
        println!(
            "{customer}        {} {}",
            orders.join(" "),
            if is_correct { "(in order, each once)" } else { "(WRONG)" }
        );
        if !is_correct {
            return Err("orders are missing, duplicated or out of order".into());
        }
    }
    client.delete_queue().queue_url(&url).send().await?;
    Ok(())
}

fn inject_faults(server: &MockSqs) -> Vec<(&'static str, InjectedFault)> {
    let inject = |fault: Fault| server.faults().inject(fault.on(Action::SendMessageBatch).probability(0.1));
    vec![
        ("a request was throttled", inject(Fault::throttle())),
        ("a connection broke before the request arrived", inject(Fault::reset_before())),
        ("a response was lost", inject(Fault::reset_after())),
        ("a single entry failed", inject(Fault::fail_entries(ErrorCode::InternalFailure))),
    ]
}

/// Receives all orders, grouped by customer.
async fn received(
    client: &sqs_client::Client,
    url: &str,
) -> Result<BTreeMap<String, Vec<String>>, sqs_client::Error> {
    let (queue, mut orders) = (client.queue(url), BTreeMap::<String, Vec<String>>::new());
    loop {
        let batch = queue.receive().wait_time_seconds(0).send().await?.messages.unwrap_or_default();
        if batch.is_empty() {
            return Ok(orders);
        }
        for message in batch {
            queue.delete(&message).send().await?;
            orders.entry(group(&message)).or_default().push(message.body.unwrap_or_default());
        }
    }
}

fn group(message: &Message) -> String {
    let group = message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::MessageGroupId));
    group.cloned().unwrap_or_default()
}
