//! Sends the messages of each lane in order, each until it is accepted.

use std::collections::HashMap;
use std::sync::Arc;

use fastrand::Rng;
use sqs_client::Error;
use sqs_client::types::{SendMessageBatchRequestEntry, SendMessageBatchResultEntry};
use tokio::time::Instant;

use super::line::Line;
use super::record::Name;
use super::{DELAY, Plan};

/// The maximum padding of a body, in bytes. Most are much smaller.
const PADDING: usize = 4096;

/// A sequence of messages. Only one is in progress at a time, so that their order is defined.
#[derive(Debug)]
struct Lane {
    id: usize,
    /// The message in progress, or the next one.
    number: u64,
    is_under_way: bool,
}

pub(super) async fn run(line: Arc<Line>, plan: Plan, producer: usize, started: Instant) {
    let mut rng = Rng::with_seed(plan.seed ^ (producer as u64) << 1 ^ u64::from(line.fifo));
    let ids = producer * plan.lanes..(producer + 1) * plan.lanes;
    let mut lanes: Vec<_> = ids.map(|id| Lane { id, number: 0, is_under_way: false }).collect();
    let mut first = 0;
    loop {
        let chosen = choose(&mut lanes, first, |lane| plan.end.allows(started, lane.number));
        if chosen.is_empty() {
            return;
        }
        first = (first + chosen.len()) % lanes.len();
        let entries: Vec<_> = chosen.iter().map(|&place| entry(&line, &lanes[place], &mut rng)).collect();
        let accepted = send(&line, entries).await;
        for place in chosen {
            let lane = &mut lanes[place];
            if let Some(message_id) = accepted.get(&lane.id.to_string()) {
                line.ledger.accepted(&Name { lane: lane.id, number: lane.number }, message_id);
                lane.number += 1;
                lane.is_under_way = false;
            }
        }
    }
}

/// Up to ten lanes, starting at `first`, that have messages to send.
fn choose(lanes: &mut [Lane], first: usize, may_go_on: impl Fn(&Lane) -> bool) -> Vec<usize> {
    let count = lanes.len();
    let mut chosen = Vec::new();
    for place in (first..first + count).map(|place| place % count) {
        let lane = &mut lanes[place];
        lane.is_under_way = lane.is_under_way || may_go_on(lane);
        if lane.is_under_way {
            chosen.push(place);
        }
        if chosen.len() == 10 {
            break;
        }
    }
    chosen
}

fn entry(line: &Line, lane: &Lane, rng: &mut Rng) -> SendMessageBatchRequestEntry {
    let name = Name { lane: lane.id, number: lane.number };
    let filling = "x".repeat(PADDING >> rng.u32(0..12));
    let entry = SendMessageBatchRequestEntry::builder().id(lane.id.to_string());
    let entry = entry.message_body(format!("{name}:{filling}"));
    let entry = if line.fifo {
        entry.message_group_id(format!("group-{}", lane.id)).message_deduplication_id(name.to_string())
    } else if rng.u8(0..100) < 2 {
        entry.delay_seconds(i32::try_from(DELAY.as_secs()).expect("a second"))
    } else {
        entry
    };
    entry.build().expect("an id and a body")
}

/// Sends once, and returns the message ids of accepted entries by entry id.
async fn send(line: &Line, entries: Vec<SendMessageBatchRequestEntry>) -> HashMap<String, String> {
    line.request();
    let count = entries.len() as u64;
    let request = line.client.send_message_batch().queue_url(&line.url).set_entries(Some(entries));
    match request.send().await {
        Ok(output) => {
            let mentioned = output.successful.len() + output.failed.len();
            line.ledger.in_doubt(count - mentioned as u64);
            let accepted =
                |entry: SendMessageBatchResultEntry| (entry.id().to_owned(), entry.message_id().to_owned());
            output.successful.into_iter().map(accepted).collect()
        }
        Err(error) => {
            assert!(is_injected(&error), "not an injected error: {error:?}");
            line.ledger.in_doubt(if may_be_done(&error) { count } else { 0 });
            HashMap::new()
        }
    }
}

/// Whether a failed request may have been applied. With a wrong checksum, it was.
fn may_be_done(error: &Error) -> bool {
    error.is_outcome_unknown() || !error.checksum_mismatches().is_empty()
}

/// Whether a fault of this run can have caused the error.
pub(super) fn is_injected(error: &Error) -> bool {
    error.is_retryable() || may_be_done(error)
}
