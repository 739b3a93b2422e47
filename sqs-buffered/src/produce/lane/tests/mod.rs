//! Tests of a lane alone: time and responses are parameters.

mod batches;
mod deadlines;
mod order;
mod schedules;

use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use sqs_client::wire::service_error::ErrorCode;

use super::*;

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
        in_flight: InFlight::Fixed(5),
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

/// The load is the number, too, so that a mix-up is noticed.
fn entry(number: usize, key: Option<&str>, bytes: usize, now: Instant) -> Pending<usize, usize> {
    Pending::new(number, number, key.map(Key::from), bytes, (now, now + TIMEOUT))
}

/// The entries that have ended, and their loads. Tells them at once.
fn settled(lane: &mut Lane<usize, usize, Stored>) -> Vec<Settled<usize, usize, Stored>> {
    settled_with(lane, Some)
}

/// The same, with these loads; `None` where a request has the load.
fn settled_with(
    lane: &mut Lane<usize, usize, Stored>,
    load_of: impl Fn(usize) -> Option<usize>,
) -> Vec<Settled<usize, usize, Stored>> {
    let settled = lane.take_settled();
    for settled in &settled {
        assert_eq!(settled.load, load_of(settled.item), "the load belongs to another entry or is lost");
        lane.told(settled.epoch, &Summary::of(1));
    }
    settled
}

fn refusal(is_retryable: bool) -> Result<Stored, SendError> {
    let code = if is_retryable { ErrorCode::InternalFailure } else { ErrorCode::InvalidMessageContents };
    Err(SendError::new(SendErrorKind::Rejected).refused(code, None).of_entry(is_retryable, false))
}

fn failure(is_retryable: bool, is_throttle: bool, is_outcome_unknown: bool) -> SendError {
    let error = SendError::new(SendErrorKind::Request).of_entry(is_retryable, is_throttle);
    error.maybe_sent(is_outcome_unknown)
}

/// A FIFO queue, with its entries in the order of their arrival, each once.
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

    /// Responds to a batch with failures of every kind. `failures` is their fraction, 0 to 1.
    fn answer(&mut self, batch: &[usize], rng: &mut Rng, failures: f64) -> Answer<Stored> {
        let unlucky = |rng: &mut Rng| rng.f64() < failures;
        if unlucky(rng) {
            let is_outcome_unknown = rng.bool();
            if is_outcome_unknown && rng.bool() {
                for number in batch {
                    drop((!unlucky(rng)).then(|| self.store(*number)));
                }
            }
            return Answer::Failed(failure(rng.u8(..) > 20, rng.bool(), is_outcome_unknown));
        }
        let entries = batch.iter().map(|number| match rng.u8(..4) {
            0 if unlucky(rng) => refusal(true),
            1 if unlucky(rng) => refusal(rng.bool()),
            2 if unlucky(rng) => {
                if rng.bool() {
                    self.store(*number);
                }
                Err(SendError::unaccounted())
            }
            _ => Ok(self.store(*number)),
        });
        Answer::Entries(entries.collect())
    }
}

fn dispatched(lane: &mut Lane<usize, usize, Stored>, now: Instant) -> Option<Vec<usize>> {
    polled(lane, now, Cause::Other)
}

fn polled(lane: &mut Lane<usize, usize, Stored>, now: Instant, cause: Cause) -> Option<Vec<usize>> {
    match lane.poll(now, cause) {
        Step::Dispatch(batch) => Some(sent(lane, &batch)),
        Step::Wait(_) => None,
    }
}

/// The numbers in a batch that is dispatched.
fn sent(lane: &Lane<usize, usize, Stored>, batch: &Dispatch<usize>) -> Vec<usize> {
    let numbers: Vec<_> = in_flight(lane, batch.number).map(|pending| pending.item).collect();
    assert_eq!(batch.loads, numbers, "loads are mixed up");
    numbers
}

fn in_flight(lane: &Lane<usize, usize, Stored>, number: u64) -> impl Iterator<Item = &Pending<usize, usize>> {
    lane.in_flight.iter().filter(move |flight| flight.number == number).flat_map(|flight| &flight.entries)
}

/// Completes a batch with this result, and returns its loads.
fn complete(
    lane: &mut Lane<usize, usize, Stored>,
    now: Instant,
    number: u64,
    answer: Answer<Stored>,
    chance: f64,
) {
    let loads = in_flight(lane, number).map(|pending| pending.item).collect();
    lane.complete(now, number, answer, loads, chance);
    lane.release_slot();
}
