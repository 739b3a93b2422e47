//! Producers, and the wait until the queues are empty.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqs_buffered::{BufferedClient, Entry};
use sqs_client::Client;
use sqs_client::client::Execute;
use sqs_client::types::QueueAttributeName;

use crate::ledger::Run;
use crate::{BoxError, GROUPS, PRODUCERS};

/// Sends numbered messages at a share of the rate. The messages of a group are in order.
pub(crate) async fn produce<H: Execute>(
    buffered: BufferedClient<H>,
    run: Arc<Run>,
    producer: usize,
    rate: u32,
    stop: Arc<AtomicBool>,
) {
    let mut number = 0;
    let mut tickets = VecDeque::new();
    let share = u32::try_from(PRODUCERS).unwrap_or(1);
    let mut interval = tokio::time::interval(Duration::from_secs(1) * share / rate);
    while !stop.load(Ordering::Relaxed) {
        interval.tick().await;
        number += 1;
        let group = producer + PRODUCERS * (number % (GROUPS / PRODUCERS));
        let entry = Entry::new(&run.url, format!("{group}:{number}"));
        let entry = if run.fifo { entry.message_group_id(group.to_string()) } else { entry };
        match buffered.enqueue(entry).await {
            Ok(ticket) => tickets.push_back((number, ticket)),
            Err(_) => run.failed(producer, number),
        }
        while tickets.len() > 200 {
            settle(&run, producer, tickets.pop_front()).await;
        }
    }
    while !tickets.is_empty() {
        settle(&run, producer, tickets.pop_front()).await;
    }
}

async fn settle(
    run: &Run,
    producer: usize,
    sent: Option<(usize, sqs_buffered::Ticket<sqs_buffered::SendReceipt>)>,
) {
    let Some((number, ticket)) = sent else { return };
    match ticket.await {
        Ok(_) => run.accepted(producer, number),
        Err(_) => run.failed(producer, number),
    }
}

/// Waits until the queues are empty, or until their size has not decreased for a minute.
pub(crate) async fn drain(client: &Client, runs: &[Arc<Run>]) -> Result<(), BoxError> {
    let (mut fewest, mut unchanged) = (usize::MAX, 0);
    while unchanged < 600 {
        let mut remaining = 0;
        for run in runs {
            remaining += count_messages(client, &run.url).await?;
        }
        if remaining == 0 {
            return Ok(());
        }
        unchanged = if remaining < fewest { 0 } else { unchanged + 1 };
        fewest = fewest.min(remaining);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// The number of messages of a queue in any state.
async fn count_messages(client: &Client, url: &str) -> Result<usize, BoxError> {
    use QueueAttributeName as Name;
    let names = [
        Name::ApproximateNumberOfMessages,
        Name::ApproximateNumberOfMessagesNotVisible,
        Name::ApproximateNumberOfMessagesDelayed,
    ];
    let request = client.get_queue_attributes().queue_url(url).set_attribute_names(Some(names.into()));
    let attributes = request.send().await?.attributes.unwrap_or_default();
    Ok(attributes.values().filter_map(|count| count.parse::<usize>().ok()).sum())
}
