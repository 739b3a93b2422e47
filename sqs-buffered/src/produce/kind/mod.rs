//! What lanes carry: sends, deletes, changes of visibility. One file for each.

mod delete;
mod send;
mod spare_id;
mod visibility;

use std::fmt;
use std::time::Duration;

use sqs_client::client::OperationError;
use sqs_client::operation::Operation;
use sqs_client::types::BatchResultErrorEntry;
use sqs_client::wire::service_error::ErrorCode;

use crate::passing::is_passing_code;
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::lane::{Answer, EntryAnswer, Failure, Receipt, Refusal};

pub(crate) use delete::Delete;
pub use send::SendReceipt;
pub(crate) use send::{Outgoing, Send};
pub(crate) use spare_id::SpareId;
pub(crate) use visibility::{Change, Visibility};

/// One of the three.
pub(crate) trait Kind: fmt::Debug + std::marker::Send + Sync + Sized + 'static {
    /// What is batched.
    type Entry: fmt::Debug + std::marker::Send;
    /// What of an entry stays beside the request that has the entry.
    type Beside: fmt::Debug + std::marker::Send;
    /// What an accepted entry gives.
    type Receipt: Receipt + Clone + fmt::Debug + std::marker::Send;
    /// What carries ten of them.
    type Operation: Operation;

    /// How tracing calls it.
    const OPERATION_TYPE: &'static str = "settle";
    /// Whether entries of the same key become one while they wait.
    const MERGES: bool = true;

    /// Whether FIFO queues drop what comes again, as long as they remember it.
    const IS_DEDUPLICATED: bool = false;

    /// How long after the first deadline a request under way is waited for.
    const GRACE: Duration = Duration::from_mins(1);

    /// Puts entries into a request, where their ids are their places, see [`id`].
    fn pack(queue_url: &str, entries: Vec<Self::Entry>) -> (Input<Self>, Vec<Self::Beside>);

    /// Takes them out again, all and in their order.
    fn unpack(input: Input<Self>, beside: Vec<Self::Beside>) -> Vec<Self::Entry>;

    /// The service has nothing of the entry: what was settled about its id does not bind.
    fn starts_afresh(entry: &mut Self::Entry) {
        let _ = entry;
    }

    /// The deduplication id of an entry that is only for queues that make none of the content.
    fn spare_id(beside: &Self::Beside) -> Option<&SpareId> {
        let _ = beside;
        None
    }

    /// Settles which of these ids go along, as far as that is open.
    fn settle_ids(input: &mut Input<Self>, beside: &mut [Self::Beside], leave_out: bool) {
        let _ = (input, beside, leave_out);
    }

    /// The entries of an answer.
    fn results(output: Output<Self>) -> Results<Self::Receipt>;

    /// What is told of an entry whose checksum is wrong.
    fn damaged(receipt: Self::Receipt) -> SendError {
        let error = SendError::new(SendErrorKind::ChecksumMismatch).maybe_sent(true);
        error.stored_as(receipt.message_id())
    }
}

pub(crate) type Input<K> = <<K as Kind>::Operation as Operation>::Input;
pub(crate) type Output<K> = <<K as Kind>::Operation as Operation>::Output;

/// The entries of an answer, by id.
pub(crate) struct Results<R> {
    pub(crate) successful: Vec<(String, R)>,
    pub(crate) failed: Vec<BatchResultErrorEntry>,
}

/// The id of the entry at that place of a batch.
pub(crate) fn id(place: usize) -> String {
    place.to_string()
}

/// What a result means for `count` entries.
pub(crate) fn answer<K: Kind, E: OperationError>(
    result: Result<Output<K>, E>,
    count: usize,
) -> Answer<K::Receipt> {
    let error = match result {
        Ok(output) => return Answer::Entries(by_place(K::results(output), count)),
        Err(error) => error,
    };
    let Some(client_error) = error.client_error() else { return Answer::Failed(failure(&error)) };
    if let Some(output) = client_error.output::<Output<K>>() {
        let mut answers = by_place(K::results(output.clone()), count);
        let damaged =
            client_error.checksum_mismatches().iter().filter_map(|mismatch| mismatch.id()?.parse().ok());
        for place in damaged {
            damage::<K>(&mut answers, place);
        }
        return Answer::Entries(answers);
    }
    if client_error.is_batch_request_too_long() {
        return Answer::TooLong(refused(&error, SendErrorKind::TooLarge));
    }
    Answer::Failed(failure(&error))
}

fn damage<K: Kind>(answers: &mut [EntryAnswer<K::Receipt>], place: usize) {
    let Some(answer) = answers.get_mut(place) else { return };
    *answer = match std::mem::replace(answer, EntryAnswer::Unaccounted) {
        EntryAnswer::Accepted(receipt) => EntryAnswer::Damaged(K::damaged(receipt)),
        other => other,
    };
}

/// What is said of each entry. Of one that is named twice, the first word counts, unless the second contradicts it.
fn by_place<R>(results: Results<R>, count: usize) -> Vec<EntryAnswer<R>> {
    let mut answers: Vec<_> = std::iter::repeat_with(|| EntryAnswer::Unaccounted).take(count).collect();
    for (id, receipt) in results.successful {
        if let Some(answer @ EntryAnswer::Unaccounted) = at(&mut answers, &id) {
            *answer = EntryAnswer::Accepted(receipt);
        }
    }
    for failed in results.failed {
        match at(&mut answers, failed.id()) {
            Some(answer @ EntryAnswer::Accepted(_)) => *answer = EntryAnswer::Unaccounted,
            Some(answer @ EntryAnswer::Unaccounted) => *answer = EntryAnswer::Refused(refusal(failed)),
            _ => {}
        }
    }
    answers
}

fn at<'a, R>(answers: &'a mut [EntryAnswer<R>], id: &str) -> Option<&'a mut EntryAnswer<R>> {
    let answer = id.parse().ok().and_then(|place: usize| answers.get_mut(place));
    if answer.is_none() {
        tracing::warn!(id, "the service answers about an entry that it was not given");
    }
    answer
}

fn refusal(failed: BatchResultErrorEntry) -> Refusal {
    let code = ErrorCode::from_name(&failed.code);
    let is_passing = is_passing_code(&code);
    let kind = if is_lease_lost(&code, failed.message.as_deref()) {
        SendErrorKind::LeaseLost
    } else {
        SendErrorKind::Rejected
    };
    let is_retryable = kind == SendErrorKind::Rejected && (!failed.sender_fault || is_passing);
    Refusal { kind, is_retryable, code, message: failed.message }
}

/// What the service says when a message is another's by now, or nobody's.
fn is_lease_lost(code: &ErrorCode, message: Option<&str>) -> bool {
    const TEXTS: [&str; 2] =
        ["receipt handle has expired", "does not exist or is not available for visibility timeout change"];
    match code {
        ErrorCode::MessageNotInflight => true,
        ErrorCode::InvalidParameterValue => {
            message.is_some_and(|message| TEXTS.iter().any(|text| message.contains(text)))
        }
        _ => false,
    }
}

/// What a failed request means for its entries. Lanes retry what [can pass](crate::passing), as consumers do.
pub(crate) fn failure<E: OperationError>(error: &E) -> Failure {
    let is_outcome_unknown = error.is_outcome_unknown();
    let told = refused(error, SendErrorKind::Request).maybe_sent(is_outcome_unknown);
    let (is_retryable, is_throttle) = (told.is_retryable(), told.is_throttle());
    Failure { error: told, is_retryable, is_throttle, is_outcome_unknown }
}

fn refused<E: OperationError>(error: &E, kind: SendErrorKind) -> SendError {
    let told = SendError::new(kind).caused_by(error.clone()).of_request(error);
    match error.client_error().and_then(|error| error.service_error()) {
        Some(refusal) => told.refused(refusal.code.clone(), refusal.message.clone()),
        None => told,
    }
}
