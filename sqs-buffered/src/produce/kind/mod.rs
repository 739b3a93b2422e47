//! The kinds of entries: sends, deletes and visibility changes, one file each.

mod delete;
mod send;
mod visibility;

use std::fmt;
use std::time::Duration;

use sqs_client::client::OperationError;
use sqs_client::operation::Operation;
use sqs_client::types::BatchResultErrorEntry;
use sqs_client::wire::service_error::{ErrorCode, RetryClass};

use super::error::{SendError, SendErrorKind};
use super::lane::{Answer, Receipt};
use crate::transient::is_transient_code;

pub(crate) use delete::Delete;
pub use send::SendReceipt;
pub(crate) use send::{DeduplicationId, Outgoing, Send};
pub(crate) use visibility::{Change, Visibility};

/// A kind of entry.
pub(crate) trait Kind: fmt::Debug + std::marker::Send + Sync + Sized + 'static {
    /// One entry of a batch.
    type Entry: fmt::Debug + std::marker::Send;
    /// The result of an accepted entry.
    type Receipt: Receipt + Clone + fmt::Debug + std::marker::Send;
    /// The batch operation.
    type Operation: Operation;

    /// The operation type of its spans.
    const OPERATION_TYPE: &'static str = "settle";
    /// Whether waiting entries of the same key are merged.
    const MERGES: bool = true;
    /// Whether FIFO queues drop duplicates.
    const IS_DEDUPLICATED: bool = false;
    /// How long a request in flight is awaited after the first deadline of its entries.
    const GRACE: Duration = Duration::from_mins(1);

    /// Creates the request of a batch. The ids of its entries are their positions, see [`id`]. It may move data out of
    /// the entries, which [`unpack`](Self::unpack) moves back.
    fn pack(queue_url: &str, entries: &mut [Self::Entry]) -> Input<Self>;

    /// Moves the data of the request back into the entries.
    fn unpack(input: Input<Self>, entries: &mut [Self::Entry]) {
        let _ = (input, entries);
    }

    /// Whether [`settle`](Self::settle) needs to know if the queue has content-based deduplication.
    fn asks_queue(entry: &Self::Entry) -> bool {
        let _ = entry;
        false
    }

    /// Completes the entry before its first request. `by_content`: whether the queue has content-based deduplication.
    fn settle(entry: &mut Self::Entry, by_content: bool) {
        let _ = (entry, by_content);
    }

    /// Notes that SQS may have stored the entry.
    fn note_maybe_stored(entry: &mut Self::Entry) {
        let _ = entry;
    }

    /// Adds a missing deduplication id to the entry, after SQS refused its batch for that reason.
    fn add_missing_id(entry: &mut Self::Entry) -> AddedId {
        let _ = entry;
        AddedId::NotNeeded
    }

    /// The results in a response.
    fn results(output: Output<Self>) -> Results<Self::Receipt>;
}

pub(crate) type Input<K> = <<K as Kind>::Operation as Operation>::Input;
pub(crate) type Output<K> = <<K as Kind>::Operation as Operation>::Output;

/// The result of [`add_missing_id`](Kind::add_missing_id).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AddedId {
    /// The entry has an id, or needs none.
    NotNeeded,
    /// The entry has an id now.
    Done,
    /// The entry may already be stored without an id.
    Impossible,
}

/// The results in a response, by entry id.
pub(crate) struct Results<R> {
    pub(crate) successful: Vec<(String, R)>,
    pub(crate) failed: Vec<BatchResultErrorEntry>,
}

/// The id of the entry at that position of a batch.
pub(crate) fn id(position: usize) -> String {
    position.to_string()
}

/// Converts the result of a request of `count` entries.
pub(crate) fn answer<K: Kind, E: OperationError>(
    result: Result<Output<K>, E>,
    count: usize,
) -> Answer<K::Receipt> {
    let error = match result {
        Ok(output) => return Answer::Entries(by_position(K::results(output), count)),
        Err(error) => error,
    };
    let Some(client_error) = error.client_error() else { return Answer::Failed(failure(&error)) };
    if let Some(output) = client_error.output::<Output<K>>() {
        let mut results = by_position(K::results(output.clone()), count);
        let damaged =
            client_error.checksum_mismatches().iter().filter_map(|mismatch| mismatch.id()?.parse().ok());
        for position in damaged {
            damage(&mut results, position);
        }
        return Answer::Entries(results);
    }
    if client_error.is_batch_request_too_long() {
        return Answer::TooLong(refused(&error, SendErrorKind::TooLarge));
    }
    Answer::Failed(failure(&error))
}

/// Turns the result of an accepted entry into an error, because its checksum is wrong.
fn damage<R: Receipt>(results: &mut [Result<R, SendError>], position: usize) {
    if let Some(result) = results.get_mut(position)
        && let Ok(receipt) = result
    {
        let error = SendError::new(SendErrorKind::ChecksumMismatch).maybe_sent(true);
        *result = Err(error.stored_as(receipt.message_id()));
    }
}

/// The result of each entry. If the response names an entry twice, the first result counts, unless the second
/// contradicts it.
fn by_position<R>(results: Results<R>, count: usize) -> Vec<Result<R, SendError>> {
    let mut found: Vec<Option<Result<R, SendError>>> = std::iter::repeat_with(|| None).take(count).collect();
    let accepted = results.successful.into_iter().map(|(id, receipt)| (id, Ok(receipt)));
    let refused = results.failed.into_iter().map(|entry| (entry.id.clone(), Err(refusal(entry))));
    for (id, result) in accepted.chain(refused) {
        let Some(place) = id.parse::<usize>().ok().and_then(|position| found.get_mut(position)) else {
            continue;
        };
        *place = match place.take() {
            None => Some(result),
            Some(first) if first.is_ok() == result.is_ok() => Some(first),
            Some(_) => Some(Err(SendError::unaccounted())),
        };
    }
    found.into_iter().map(|result| result.unwrap_or_else(|| Err(SendError::unaccounted()))).collect()
}

/// The error of an entry that SQS refused.
fn refusal(failed: BatchResultErrorEntry) -> SendError {
    let code = ErrorCode::from_name(&failed.code);
    let is_lost = is_lease_lost(&code, failed.message.as_deref());
    let kind = if is_lost { SendErrorKind::LeaseLost } else { SendErrorKind::Rejected };
    let is_retryable = !is_lost && (!failed.sender_fault || is_transient_code(&code));
    let is_throttle = code.retry_class() == Some(RetryClass::Throttle);
    SendError::new(kind).refused(code, failed.message).of_entry(is_retryable, is_throttle)
}

/// Whether the code means that the receipt handle has expired or the message no longer exists.
fn is_lease_lost(code: &ErrorCode, message: Option<&str>) -> bool {
    const TEXTS: [&str; 2] =
        ["receipt handle has expired", "does not exist or is not available for visibility timeout change"];
    match code {
        ErrorCode::MessageNotInflight => true,
        ErrorCode::InvalidParameterValue | ErrorCode::ReceiptHandleIsInvalid => {
            message.is_some_and(|message| TEXTS.iter().any(|text| message.contains(text)))
        }
        _ => false,
    }
}

/// The error of all entries of a failed request. Lanes retry [transient](crate::transient) failures, as consumers do.
pub(crate) fn failure<E: OperationError>(error: &E) -> SendError {
    refused(error, SendErrorKind::Request).maybe_sent(error.is_outcome_unknown())
}

fn refused<E: OperationError>(error: &E, kind: SendErrorKind) -> SendError {
    let told = SendError::new(kind).caused_by(error.clone()).of_request(error);
    match error.client_error().and_then(|error| error.service_error()) {
        Some(refusal) => told.refused(refusal.code.clone(), refusal.message.clone()),
        None => told,
    }
}
