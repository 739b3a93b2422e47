//! Receives messages, and deletes each until the delete is confirmed or its handle has expired.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use sqs_client::types::{DeleteMessageBatchRequestEntry, Message};
use sqs_client::wire::service_error::ErrorCode;

use super::Plan;
use super::line::Line;
use super::producer::is_injected;
use super::record::Name;

/// The wait time of a poll.
pub(super) const WAIT: Duration = Duration::from_secs(1);
/// One in this many receives is abandoned, as if its consumer had crashed.
const CRASH: u32 = 50;

pub(super) async fn run(line: Arc<Line>, plan: Plan, consumer: usize) {
    let mut rng = Rng::with_seed(plan.seed ^ (consumer as u64) << 32 ^ u64::from(line.fifo));
    let mut attempt = 0_u64;
    while !line.is_over() {
        let asked = line.clock.now();
        // Retries a lost response with its attempt id, which FIFO queues support.
        match receive(&line, format!("consumer-{consumer}-{attempt}")).await {
            Some(messages) => {
                attempt += 1;
                line.ledger.received(&messages, asked, line.clock.now());
                if plan.fault_rate == 0.0 || rng.u32(0..CRASH) > 0 {
                    delete(&line, messages).await;
                }
            }
            None => attempt += u64::from(!line.fifo),
        }
    }
}

/// The received messages; `None` if the response was lost or an error.
async fn receive(line: &Line, attempt: String) -> Option<Vec<Message>> {
    line.request();
    let request = line.client.receive_message().queue_url(&line.url).max_number_of_messages(10);
    let request = request.wait_time_seconds(i32::try_from(WAIT.as_secs()).expect("a second"));
    let request = if line.fifo { request.receive_request_attempt_id(attempt) } else { request };
    match request.send().await {
        Ok(output) => Some(output.messages.unwrap_or_default()),
        // Another consumer has received and deleted the lost messages: the attempt cannot be repeated.
        Err(error)
            if error.message().is_some_and(|text| text.contains("receiveRequestAttemptId is not valid")) =>
        {
            Some(Vec::new())
        }
        Err(error) => {
            assert!(is_injected(&error), "not an injected error: {error:?}");
            None
        }
    }
}

async fn delete(line: &Line, messages: Vec<Message>) {
    let mut left = messages;
    while !left.is_empty() {
        line.request();
        let entry = |(place, message): (usize, &Message)| {
            let handle = message.receipt_handle().expect("each message has a handle");
            let entry =
                DeleteMessageBatchRequestEntry::builder().id(place.to_string()).receipt_handle(handle);
            entry.build().expect("an id and a handle")
        };
        let entries = left.iter().enumerate().map(entry).collect();
        let request = line.client.delete_message_batch().queue_url(&line.url).set_entries(Some(entries));
        let output = match request.send().await {
            Ok(output) => output,
            Err(error) => {
                assert!(is_injected(&error), "not an injected error: {error:?}");
                continue;
            }
        };
        let now = line.clock.now();
        let mut settled = vec![false; left.len()];
        for entry in &output.successful {
            let place: usize = entry.id().parse().expect("a numeric id");
            line.ledger.deleted(&Name::of(&left[place]), now);
            settled[place] = true;
        }
        for entry in &output.failed {
            let place: usize = entry.id().parse().expect("a numeric id");
            // Another consumer receives it now.
            settled[place] = ErrorCode::from_name(entry.code()) == ErrorCode::ReceiptHandleIsInvalid
                && entry.message().is_some_and(|text| text.contains("has expired"));
        }
        let mut settled = settled.into_iter();
        left.retain(|_| settled.next() == Some(false));
    }
}
