//! A lane and nothing around it: time and answers are given.

mod batches;
mod deadlines;
mod order;
mod schedules;

use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use sqs_client::wire::service_error::ErrorCode;

use super::*;
use crate::produce::batch::BatchLimits;

const LINGER: Duration = Duration::from_millis(20);
const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Stored {
    sequence: u128,
    id: String,
}

impl Receipt for Stored {
    fn sequence_number(&self) -> Option<u128> {
        Some(self.sequence)
    }

    fn message_id(&self) -> Option<&str> {
        Some(&self.id)
    }
}

fn rules() -> Rules {
    Rules {
        limits: BatchLimits::default(),
        linger: Linger::default(),
        in_flight: 5,
        ordering: FifoOrdering::Strict,
        after_failure: AfterFailure::FailGroup,
        retry: RetryRules {
            attempts: 4,
            first_pause: Duration::from_millis(50),
            max_pause: Duration::from_secs(5),
            max_lane_pause: Duration::from_secs(1),
        },
        tells_retries: false,
    }
}

/// The load has the number too, so that it is seen where it is mixed up with another.
fn laden(number: usize) -> Laden<usize, usize> {
    Laden { load: number, item: number }
}

fn entry(number: usize, key: Option<&str>, bytes: usize, now: Instant) -> Pending<Laden<usize, usize>> {
    Pending::new(laden(number), key.map(Key::from), bytes, now, now + TIMEOUT)
}

/// What has ended, told at once. Each has its load.
fn settled(lane: &mut Lane<usize, usize, Stored>) -> Vec<Settled<usize, usize, Stored>> {
    settled_with(lane, Some)
}

/// The same, with these loads; `None` where a request took it along.
fn settled_with(
    lane: &mut Lane<usize, usize, Stored>,
    load_of: impl Fn(usize) -> Option<usize>,
) -> Vec<Settled<usize, usize, Stored>> {
    let settled = lane.take_settled();
    for settled in &settled {
        assert_eq!(settled.load, load_of(settled.item), "its load is another's, or lost");
        lane.told(settled.epoch, &Summary::of(1));
    }
    settled
}

fn refusal(is_retryable: bool) -> EntryAnswer<Stored> {
    let code = if is_retryable { ErrorCode::InternalFailure } else { ErrorCode::InvalidMessageContents };
    EntryAnswer::Refused(Refusal { kind: SendErrorKind::Rejected, code, message: None, is_retryable })
}

/// A FIFO queue: what it stores, once for each entry, in the order of its arrival.
#[derive(Default)]
struct Queue {
    stored: Vec<usize>,
    sequences: HashMap<usize, u128>,
}

impl Queue {
    fn store(&mut self, number: usize) -> Stored {
        let next = self.stored.len() as u128;
        let sequence = *self.sequences.entry(number).or_insert_with(|| {
            self.stored.push(number);
            next
        });
        Stored { sequence, id: number.to_string() }
    }

    /// Answers a batch with failures of every kind; `failures` is their share, 0 to 1.
    fn answer(&mut self, batch: &[usize], rng: &mut Rng, failures: f64) -> Answer<Stored> {
        let unlucky = |rng: &mut Rng| rng.f64() < failures;
        if unlucky(rng) {
            let is_outcome_unknown = rng.bool();
            if is_outcome_unknown && rng.bool() {
                for number in batch {
                    drop((!unlucky(rng)).then(|| self.store(*number)));
                }
            }
            let error = SendError::new(SendErrorKind::Request);
            return Answer::Failed(Failure {
                error,
                is_retryable: rng.u8(..) > 20,
                is_throttle: rng.bool(),
                is_outcome_unknown,
            });
        }
        let entries = batch.iter().map(|number| match rng.u8(..4) {
            0 if unlucky(rng) => refusal(true),
            1 if unlucky(rng) => refusal(rng.bool()),
            2 if unlucky(rng) => {
                if rng.bool() {
                    self.store(*number);
                }
                EntryAnswer::Unaccounted
            }
            _ => EntryAnswer::Accepted(self.store(*number)),
        });
        Answer::Entries(entries.collect())
    }
}

fn dispatched(lane: &mut Lane<usize, usize, Stored>, now: Instant) -> Option<Vec<usize>> {
    match lane.poll(now, false) {
        Step::Dispatch(number, loads) => Some(sent(lane, number, &loads)),
        Step::Wait(_) => None,
    }
}

/// The numbers in a batch that is dispatched.
fn sent(lane: &Lane<usize, usize, Stored>, number: u64, loads: &[Outbound<usize>]) -> Vec<usize> {
    let batch: Vec<_> = lane.batch(number).map(|pending| pending.item).collect();
    assert_eq!(loads.iter().map(|outbound| outbound.load).collect::<Vec<_>>(), batch, "loads are mixed up");
    batch
}

/// Takes in an answer, with the loads that went.
fn complete(
    lane: &mut Lane<usize, usize, Stored>,
    now: Instant,
    number: u64,
    answer: Answer<Stored>,
    chance: f64,
) {
    let loads = lane.batch(number).map(|pending| pending.item).collect();
    lane.complete(now, number, answer, loads, chance);
}
