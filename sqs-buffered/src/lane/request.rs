//! One batch as a request, for each kind of entry: sends, deletes, visibility changes.
//!
//! ```text
//! batch -> deduplication ids -> prepare (the client below stores large bodies) -> pack -> call -> unpack -> a result for each entry
//! ```

use std::fmt;
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use sqs_client::client::{CallOptions, Execute, OperationError, Retries};
use sqs_client::operation::change_message_visibility_batch::{
    ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchInput, ChangeMessageVisibilityBatchOutput,
};
use sqs_client::operation::delete_message_batch::{
    DeleteMessageBatch, DeleteMessageBatchInput, DeleteMessageBatchOutput,
};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::operation::send_message_batch::{SendMessageBatchInput, SendMessageBatchOutput};
use sqs_client::operation::{Operation, send_message_batch};
use sqs_client::random;
use sqs_client::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry,
    QueueAttributeName, SendMessageBatchRequestEntry,
};
use sqs_client::wire::service_error::{ErrorCode, RetryClass};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument as _, Span};

use crate::entry::is_fifo;
use crate::error::{Panicked, SendError, SendErrorKind, is_transient_code};
use crate::lane::queue::{Answer, BatchSize, Dispatch, Key, Receipt};
use crate::lane::{Lane, Load, contain, discard};
use crate::observe::sends::Site;
use crate::settings::{DedupId, MAX_FIFO_REQUEST};
use crate::span::messaging_span;
use crate::time::after;

/// The request of a batch.
pub(crate) struct Request<K: Kind, H: Execute> {
    lane: Arc<Lane<K, H>>,
    entries: Vec<K::Entry>,
    /// The spans that enqueued the entries, in order.
    spans: Vec<Span>,
    size: BatchSize,
    /// When the request is abandoned. Otherwise a client that never responds would keep its slot forever.
    until: Instant,
    /// Whether SQS may have some of the entries.
    is_sent: bool,
    /// Entries that are not sent.
    unprepared: Vec<Unprepared<K>>,
}

/// An entry that the client below could not prepare: its position in the batch, and why.
type Unprepared<K> = (usize, <K as Kind>::Entry, SendError);

impl<K: Kind, H: Execute> Request<K, H> {
    pub(crate) fn new(lane: &Arc<Lane<K, H>>, batch: Dispatch<Load<K>>) -> Self {
        let Dispatch { loads, size, admitted, deadline, .. } = batch;
        let (entries, spans) = loads.into_iter().map(|Load { entry, span }| (entry, span)).unzip();
        let mut until = after(deadline, K::GRACE);
        if K::IS_DEDUPLICATED && is_fifo(&lane.queue_url) {
            until = until.min(after(admitted, MAX_FIFO_REQUEST));
        }
        Self { lane: Arc::clone(lane), entries, spans, size, until, is_sent: false, unprepared: Vec::new() }
    }

    /// Sends the request. Returns its result, and the loads of its entries.
    pub(crate) async fn send(mut self) -> (Answer<K::Receipt>, Vec<Load<K>>) {
        let lane = Arc::clone(&self.lane);
        let _in_flight = lane.observer.sending(lane.site());
        let (span, started) = (self.span(), Instant::now());
        let answer = pin!(self.answer()).instrument(span).await;
        self.lane.observer.sent(self.lane.site(), self.size, started.elapsed(), answer.error());
        let entries = std::mem::take(&mut self.entries).into_iter();
        let loads = entries.zip(std::mem::take(&mut self.spans)).map(|(entry, span)| Load { entry, span });
        (answer, loads.collect())
    }

    /// The span of the batch. It follows from the spans of its entries.
    fn span(&self) -> Span {
        let Site { queue_url, action, .. } = self.lane.site();
        let span = messaging_span!(DEBUG "sqs.batch", "client", action.as_str(), K::OPERATION_TYPE, queue_url,
            messaging.batch.message_count = self.size.entries);
        for own in &self.spans {
            span.follows_from(own);
        }
        span
    }

    /// Completes and prepares the entries, sends those that could be prepared, and returns the results of all.
    async fn answer(&mut self) -> Answer<K::Receipt> {
        if let Err(error) = self.settle_deduplication().await {
            return Answer::Failed(error.maybe_sent(false));
        }
        self.prepare().await;
        if self.entries.is_empty() {
            return self.with_unprepared(Answer::Entries(Vec::new()));
        }
        let answer = self.call().await;
        for (position, entry) in self.entries.iter_mut().enumerate() {
            if answer.result(position).is_none_or(|result| result.is_err_and(SendError::is_outcome_unknown)) {
                let is_fifo = is_fifo(&self.lane.queue_url);
                contain(|| K::note_maybe_stored(&self.lane.client, entry, is_fifo));
            }
        }
        let is_without_id = (0..self.entries.len()).any(|position| missing_id(&answer, position).is_some());
        let answer = if is_without_id { self.add_missing_ids(answer).await } else { answer };
        self.with_unprepared(answer)
    }

    async fn call(&mut self) -> Answer<K::Receipt> {
        let input = K::pack(&self.lane.queue_url, &mut self.entries);
        let options = CallOptions::with_retries(Retries::Never);
        let until = self.attempt_ends();
        self.is_sent = true;
        let called = {
            // Pinned here: the future of a client is large, and would be copied with each wrapper.
            let calling = pin!(async { self.lane.client.execute::<K::Operation>(&input, options).await });
            contained(until, calling).await
        };
        K::unpack(input, &mut self.entries);
        match called {
            Ok(result) => {
                if let Err(error) = &result {
                    tracing::debug!(%error, retryable = error.is_retryable(), "a batch failed");
                }
                answer::<K, H::Error>(result, self.entries.len())
            }
            Err(error) => Answer::Failed(error),
        }
    }

    /// Lets the client below prepare the entries, for example store large bodies. Removes those that it could not prepare.
    async fn prepare(&mut self) {
        let (client, queue_url, until) = (&self.lane.client, &*self.lane.queue_url, self.until);
        let preparing = self.entries.iter_mut().map(|entry| K::prepare(client, queue_url, entry));
        let results = match contained(until, join_all(preparing)).await {
            Ok(results) => results,
            // Nothing was sent.
            Err(error) => self.entries.iter().map(|_| Err(error.clone().maybe_sent(false))).collect(),
        };
        if results.iter().all(Result::is_ok) {
            return;
        }
        let is_fifo = is_fifo(&self.lane.queue_url);
        let results = if is_fifo { hold_back::<K>(&self.entries, results) } else { results };
        for (position, (entry, result)) in
            std::mem::take(&mut self.entries).into_iter().zip(results).enumerate()
        {
            match result {
                Ok(()) => self.entries.push(entry),
                Err(error) => self.unprepared.push((position, entry, error)),
            }
        }
    }

    /// Puts entries that were not sent back in their places, with their errors.
    fn with_unprepared(&mut self, answer: Answer<K::Receipt>) -> Answer<K::Receipt> {
        if self.unprepared.is_empty() {
            return answer;
        }
        let mut results: Vec<_> = (0..self.entries.len()).map(|position| answer.owned(position)).collect();
        for (position, entry, error) in std::mem::take(&mut self.unprepared) {
            self.entries.insert(position, entry);
            results.insert(position, Err(error));
        }
        // A batch that is too long is divided, whatever its entries need.
        if let Answer::TooLong(_) = answer { answer } else { Answer::Entries(results) }
    }

    /// Adds ids to entries that SQS refused because a deduplication id is missing, if they may get one. Those entries
    /// are retried, and so are the others of the refused batch.
    async fn add_missing_ids(&mut self, answer: Answer<K::Receipt>) -> Answer<K::Receipt> {
        let added: Vec<AddedId> = self.entries.iter_mut().map(K::add_missing_id).collect();
        if added.iter().all(|id| *id == AddedId::NotNeeded) {
            return answer;
        }
        let results =
            added.into_iter().enumerate().map(|(position, id)| match missing_id(&answer, position) {
                Some(error) => Err(error.clone().of_entry(id != AddedId::Impossible, false)),
                None => answer.owned(position),
            });
        let answer = Answer::Entries(results.collect());
        self.lane.deduplication.is_not_by_content().await;
        answer
    }

    /// When an attempt that begins now is abandoned.
    fn attempt_ends(&self) -> Instant {
        self.until.min(after(Instant::now(), self.lane.attempt_timeout))
    }

    /// Completes entries without a deduplication id.
    async fn settle_deduplication(&mut self) -> Result<(), SendError> {
        let mut by_content = false;
        if self.entries.iter().any(K::asks_queue) {
            let asking = self.lane.deduplication.by_content(&self.lane.client, &self.lane.queue_url);
            by_content = contained(self.attempt_ends(), asking).await?.map_err(|error| failure(&error))?;
        }
        for entry in &mut self.entries {
            K::settle(entry, by_content);
        }
        Ok(())
    }
}

impl<K: Kind, H: Execute> Drop for Request<K, H> {
    /// A request that was dropped before it was sent leaves nothing behind, except for entries that SQS may have from an earlier one.
    fn drop(&mut self) {
        let unsent = self.unprepared.drain(..).map(|(_, entry, _)| entry);
        let unsent = unsent.chain(self.entries.drain(..).filter(|_| !self.is_sent));
        for entry in unsent {
            discard::<K, H>(&self.lane.client, entry, false, None);
        }
    }
}

/// Holds back entries behind one of their group that could not be prepared: they must not overtake it.
fn hold_back<K: Kind>(
    entries: &[K::Entry],
    mut results: Vec<Result<(), SendError>>,
) -> Vec<Result<(), SendError>> {
    let mut held: Vec<(&str, SendError)> = Vec::new();
    for (entry, result) in entries.iter().zip(&mut results) {
        let Some(group) = K::group(entry) else { continue };
        match (&*result, held.iter().find(|(other, _)| *other == group)) {
            (Ok(()), Some((_, error))) => *result = Err(error.clone().of_entry(true, false)),
            (Err(error), None) => held.push((group, error.clone())),
            _ => {}
        }
    }
    results
}

/// Waits for the client below until `until`. If the call takes longer or panics, its outcome is unknown.
async fn contained<F: Future>(until: Instant, call: F) -> Result<F::Output, SendError> {
    match AssertUnwindSafe(timeout_at(until, call)).catch_unwind().await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(elapsed)) => Err(in_doubt(elapsed)),
        Err(panic) => {
            let panicked = Panicked::of(&*panic);
            tracing::error!(error = %panicked, "the client below panicked");
            Err(in_doubt(panicked))
        }
    }
}

/// The error of an entry, if SQS refused it because a deduplication id is missing.
fn missing_id<R>(answer: &Answer<R>, position: usize) -> Option<&SendError> {
    let error = answer.result(position)?.err()?;
    error.message()?.contains("MessageDeduplicationId").then_some(error)
}

fn in_doubt(cause: impl std::error::Error + Send + Sync + 'static) -> SendError {
    SendError::new(SendErrorKind::Request).caused_by(cause).maybe_sent(true).of_entry(true, false)
}

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

    /// Whether the entry must not be sent any more.
    fn is_void(entry: &Self::Entry) -> bool {
        let _ = entry;
        false
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

    /// Lets the client below prepare an entry, once for all attempts.
    fn prepare<H: Execute>(
        client: &H,
        queue_url: &str,
        entry: &mut Self::Entry,
    ) -> impl Future<Output = Result<(), SendError>> + Send {
        let _ = (client, queue_url, entry);
        ready(Ok(()))
    }

    /// The group of an entry, whose order counts.
    fn group(entry: &Self::Entry) -> Option<&str> {
        let _ = entry;
        None
    }

    /// Ends an entry that SQS did not accept. It may have it all the same.
    fn discard<H: Execute>(client: &H, entry: Self::Entry, is_maybe_sent: bool) {
        let _ = (client, entry, is_maybe_sent);
    }

    /// Notes that SQS may have stored the entry.
    fn note_maybe_stored<H: Execute>(client: &H, entry: &mut Self::Entry, is_fifo: bool) {
        let _ = (client, entry, is_fifo);
    }

    /// Adds a missing deduplication id to the entry, after SQS refused its batch for that reason.
    fn add_missing_id(entry: &mut Self::Entry) -> AddedId {
        let _ = entry;
        AddedId::NotNeeded
    }

    /// The results in a response.
    fn results(output: Output<Self>) -> Results<Self::Receipt>;
}

type Input<K> = <<K as Kind>::Operation as Operation>::Input;

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
    successful: Vec<(String, R)>,
    failed: Vec<BatchResultErrorEntry>,
}

/// The id of the entry at that position of a batch.
pub(crate) fn id(position: usize) -> String {
    position.to_string()
}

/// Converts the result of a request of `count` entries.
fn answer<K: Kind, E: OperationError>(result: Result<Output<K>, E>, count: usize) -> Answer<K::Receipt> {
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
fn failure<E: OperationError>(error: &E) -> SendError {
    refused(error, SendErrorKind::Request).maybe_sent(error.is_outcome_unknown())
}

/// The error of an entry that the client below could not prepare.
fn unprepared<E: OperationError>(error: &E) -> SendError {
    let told = failure(error).maybe_sent(false);
    let told = if told.message().is_none() { told.explained(error.to_string()) } else { told };
    if told.is_transient() { told } else { told.of_kind(SendErrorKind::Rejected) }
}

fn refused<E: OperationError>(error: &E, kind: SendErrorKind) -> SendError {
    let told = SendError::new(kind).caused_by(error.clone()).of_request(error);
    match error.client_error().and_then(|error| error.service_error()) {
        Some(refusal) => told.refused(refusal.code.clone(), refusal.message.clone()),
        None => told,
    }
}

#[derive(Debug)]
pub(crate) struct Sends;

/// A message to send.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: SendMessageBatchRequestEntry,
    pub(crate) id: DeduplicationId,
    /// What is sent in place of the message, if the client below has prepared something else.
    prepared: Option<Box<SendMessageBatchRequestEntry>>,
    /// Whether SQS may have stored what was prepared.
    is_in_doubt: bool,
}

/// The state of the deduplication id of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DeduplicationId {
    /// The message has its id, or needs none.
    Settled,
    /// The message has none. It may get one before its first request.
    Open(DedupId),
    /// The message has none, because the queue has content-based deduplication, or its attributes cannot be read. If SQS may
    /// have stored it without an id, it gets none later: with an id, it would be another message.
    LeftOut { maybe_stored: bool },
}

/// What SQS returned for an accepted message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SendReceipt {
    /// The message id.
    pub message_id: String,
    /// The sequence number in a FIFO queue: 20 digits.
    pub sequence_number: Option<String>,
    /// MD5 of the body as SQS has it, 32 hexadecimal digits.
    pub md5_of_message_body: String,
    /// MD5 of the message attributes as SQS has them, if there are any.
    pub md5_of_message_attributes: Option<String>,
    /// Whether a standard queue may contain the message twice, because a response was lost and the message was sent again.
    /// FIFO queues drop the duplicate by its deduplication id.
    pub maybe_duplicate: bool,
}

impl Outgoing {
    pub(crate) fn new(message: SendMessageBatchRequestEntry, id: DeduplicationId) -> Self {
        Self { message, id, prepared: None, is_in_doubt: false }
    }

    /// What is sent.
    fn sent(&mut self) -> &mut SendMessageBatchRequestEntry {
        self.prepared.as_deref_mut().unwrap_or(&mut self.message)
    }

    fn give_id(&mut self) {
        let id = random::uuid();
        if let Some(prepared) = &mut self.prepared {
            prepared.message_deduplication_id = Some(id.clone());
        }
        self.message.message_deduplication_id = Some(id);
        self.id = DeduplicationId::Settled;
    }
}

impl Receipt for SendReceipt {
    fn sequence_number(&self) -> Option<u128> {
        self.sequence_number.as_ref()?.parse().ok()
    }

    fn message_id(&self) -> Option<&str> {
        Some(&self.message_id)
    }

    fn maybe_duplicate(&mut self) {
        self.maybe_duplicate = true;
    }
}

impl Kind for Sends {
    type Entry = Outgoing;
    type Receipt = SendReceipt;
    type Operation = send_message_batch::SendMessageBatch;

    const OPERATION_TYPE: &'static str = "send";
    const MERGES: bool = false;
    const IS_DEDUPLICATED: bool = true;

    fn pack(queue_url: &str, entries: &mut [Outgoing]) -> SendMessageBatchInput {
        let mut input = SendMessageBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = entries.iter_mut().enumerate().map(|(position, entry)| {
            let message = entry.sent();
            message.id = id(position);
            std::mem::take(message)
        });
        input.entries = Some(numbered.collect());
        input
    }

    fn unpack(input: SendMessageBatchInput, entries: &mut [Outgoing]) {
        for (entry, message) in entries.iter_mut().zip(input.entries.unwrap_or_default()) {
            *entry.sent() = message;
        }
    }

    fn asks_queue(entry: &Outgoing) -> bool {
        entry.id == DeduplicationId::Open(DedupId::Auto)
    }

    fn settle(entry: &mut Outgoing, by_content: bool) {
        match entry.id {
            DeduplicationId::Open(DedupId::Auto) if by_content => {
                entry.id = DeduplicationId::LeftOut { maybe_stored: false };
            }
            DeduplicationId::Open(DedupId::Passthrough) => entry.id = DeduplicationId::Settled,
            DeduplicationId::Open(DedupId::Auto | DedupId::GenerateUuid) => entry.give_id(),
            DeduplicationId::Settled | DeduplicationId::LeftOut { .. } => {}
        }
    }

    async fn prepare<H: Execute>(client: &H, queue_url: &str, entry: &mut Outgoing) -> Result<(), SendError> {
        if entry.prepared.is_none() {
            let prepared = client.prepare(queue_url, &entry.message).await;
            entry.prepared = prepared.map_err(|error| unprepared(&error))?.map(Box::new);
        }
        Ok(())
    }

    fn group(entry: &Outgoing) -> Option<&str> {
        entry.message.message_group_id.as_deref()
    }

    fn discard<H: Execute>(client: &H, entry: Outgoing, is_maybe_sent: bool) {
        if let Some(prepared) = entry.prepared {
            // After its first poll, it continues by itself.
            let _ = client.discard(&prepared, is_maybe_sent || entry.is_in_doubt).now_or_never();
        }
    }

    fn note_maybe_stored<H: Execute>(client: &H, entry: &mut Outgoing, is_fifo: bool) {
        if let DeduplicationId::LeftOut { maybe_stored } = &mut entry.id {
            *maybe_stored = true;
        }
        // A standard queue may get the message twice. Two messages must not share what was prepared for one.
        match entry.prepared.take_if(|_| !is_fifo) {
            Some(prepared) => drop(client.discard(&prepared, true).now_or_never()),
            None => entry.is_in_doubt = is_fifo,
        }
    }

    fn add_missing_id(entry: &mut Outgoing) -> AddedId {
        match entry.id {
            DeduplicationId::LeftOut { maybe_stored: true } => AddedId::Impossible,
            DeduplicationId::LeftOut { maybe_stored: false } => {
                entry.give_id();
                AddedId::Done
            }
            DeduplicationId::Settled | DeduplicationId::Open(_) => AddedId::NotNeeded,
        }
    }

    fn results(output: SendMessageBatchOutput) -> Results<SendReceipt> {
        let successful = output.successful.into_iter().map(|entry| {
            let receipt = SendReceipt {
                message_id: entry.message_id,
                sequence_number: entry.sequence_number,
                md5_of_message_body: entry.md5_of_message_body,
                md5_of_message_attributes: entry.md5_of_message_attributes,
                maybe_duplicate: false,
            };
            (entry.id, receipt)
        });
        Results { successful: successful.collect(), failed: output.failed }
    }
}

#[derive(Debug)]
pub(crate) struct Delete;

impl Kind for Delete {
    /// The receipt handle.
    type Entry = Key;
    type Receipt = ();
    type Operation = DeleteMessageBatch;

    fn pack(queue_url: &str, handles: &mut [Key]) -> DeleteMessageBatchInput {
        let mut input = DeleteMessageBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = handles.iter().enumerate().map(|(position, handle)| {
            let mut entry = DeleteMessageBatchRequestEntry::default();
            entry.id = id(position);
            handle.as_ref().clone_into(&mut entry.receipt_handle);
            entry
        });
        input.entries = Some(numbered.collect());
        input
    }

    fn results(output: DeleteMessageBatchOutput) -> Results<()> {
        let successful = output.successful.into_iter().map(|entry| (entry.id, ()));
        Results { successful: successful.collect(), failed: output.failed }
    }
}

#[derive(Debug)]
pub(crate) struct Visibility;

/// A visibility change: how long a message stays hidden from now on.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) handle: Key,
    /// 0 to 43,200.
    pub(crate) seconds: i32,
    /// For renewals, set when the lease has ended: then the message may be on its way back, and must not be hidden again.
    pub(crate) is_over: Option<Arc<AtomicBool>>,
}

impl Kind for Visibility {
    type Entry = Change;
    type Receipt = ();
    type Operation = ChangeMessageVisibilityBatch;

    /// A change can be repeated. So a request that hangs is abandoned while there is time for another one; otherwise the leases
    /// of all its entries would end.
    const GRACE: Duration = Duration::ZERO;

    fn is_void(change: &Change) -> bool {
        change.is_over.as_ref().is_some_and(|is_over| is_over.load(Ordering::Acquire))
    }

    fn pack(queue_url: &str, changes: &mut [Change]) -> ChangeMessageVisibilityBatchInput {
        let mut input = ChangeMessageVisibilityBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = changes.iter().enumerate().map(|(position, change)| {
            let mut entry = ChangeMessageVisibilityBatchRequestEntry::default();
            entry.id = id(position);
            change.handle.as_ref().clone_into(&mut entry.receipt_handle);
            entry.visibility_timeout = Some(change.seconds);
            entry
        });
        input.entries = Some(numbered.collect());
        input
    }

    fn results(output: ChangeMessageVisibilityBatchOutput) -> Results<()> {
        let successful = output.successful.into_iter().map(|entry| (entry.id, ()));
        Results { successful: successful.collect(), failed: output.failed }
    }
}

/// How long the attribute is cached: it can be changed.
const FRESH: Duration = Duration::from_mins(5);

/// The cached attribute of one queue.
#[derive(Debug, Default)]
pub(crate) struct Deduplication {
    /// Locked during the lookup; other batches wait for its result.
    known: Mutex<Option<Known>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    by_content: bool,
    until: Instant,
}

impl Deduplication {
    /// Whether the queue has content-based deduplication. If access is denied, the result is true until SQS
    /// [requires an id](Self::is_not_by_content): a generated id would disable content-based deduplication.
    ///
    /// # Errors
    /// The lookup failed.
    async fn by_content<H: Execute>(&self, client: &H, queue_url: &str) -> Result<bool, H::Error> {
        let mut known = self.known.lock().await;
        if let Some(fresh) = known.filter(|known| Instant::now() < known.until) {
            return Ok(fresh.by_content);
        }
        let by_content = match ask(client, queue_url).await {
            Ok(by_content) => by_content,
            Err(error) if error.client_error().is_some_and(sqs_client::Error::is_access_denied) => {
                tracing::warn!(
                    %error,
                    queue_url,
                    "access denied: cannot read whether the queue has content-based deduplication; messages are sent without a \
                     deduplication id until SQS requires one. Allow sqs:GetQueueAttributes, or set DedupId"
                );
                true
            }
            // Use the expired value: queues rarely change, and SQS reports a missing id.
            Err(_) if let Some(old) = *known => old.by_content,
            Err(error) => return Err(error),
        };
        *known = Some(Known { by_content, until: after(Instant::now(), FRESH) });
        Ok(by_content)
    }

    /// SQS has refused a message without an id.
    async fn is_not_by_content(&self) {
        let until = after(Instant::now(), FRESH);
        *self.known.lock().await = Some(Known { by_content: false, until });
    }
}

async fn ask<H: Execute>(client: &H, queue_url: &str) -> Result<bool, H::Error> {
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(queue_url.to_owned());
    let name = QueueAttributeName::ContentBasedDeduplication;
    input.attribute_names = Some(vec![name.clone()]);
    let output =
        client.execute::<GetQueueAttributes>(&input, CallOptions::with_retries(Retries::Never)).await?;
    Ok(output.attributes().and_then(|all| all.get(&name)).is_some_and(|on| on == "true"))
}
