//! Sending, deleting and hiding single messages.

use sqs_client::wire::validate::Validate as _;
use std::sync::Arc;

use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::delete_message_batch::DeleteMessageBatch;
use sqs_client::operation::send_message::SendMessage;
use sqs_client::operation::send_message_batch::SendMessageBatch;
use sqs_client::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, ChangeMessageVisibilityBatchResultEntry,
    DeleteMessageBatchRequestEntry, DeleteMessageBatchResultEntry,
    MessageSystemAttributeNameForSends as SystemName, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry, SendMessageBatchResultEntry,
};
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes, md5_of_bodies, md5_of_body};
use sqs_client::wire::service_error::{Fault, ServiceError};
use sqs_client::wire::validate::error::missing_parameter;
use sqs_client::wire::validate::{BatchEntry, Draft, batch};

use crate::control::clock::Timestamp;
use crate::control::faults::Entry;
use crate::sqs::engine::Room;
use crate::sqs::engine::messages::{Checksums, Payload};
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::send::{NewMessage, Sent};
use crate::sqs::engine::throughput::Metered;
use crate::sqs::findings::Review;
use crate::sqs::ops::{Context, Serve, Served, break_sum, built, seconds};
use crate::sqs::service::Service;

/// Writes an [`Accepted`] into the builder of an output or of a batch entry: two types with the same setters.
macro_rules! with_receipt {
    ($builder:expr, $accepted:expr) => {
        $builder
            .message_id($accepted.sent.id.to_string())
            .md5_of_message_body($accepted.checksums.md5_of_body)
            .set_md5_of_message_attributes($accepted.checksums.md5_of_attributes.map(String::from))
            .set_md5_of_message_system_attributes($accepted.md5_of_system_attributes.map(String::from))
            .set_sequence_number($accepted.sent.sequence_number.map(|number| number.to_string()))
    };
}

impl Serve for SendMessage {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let draft = Draft::from(&input);
        let md5 = md5_of_body(draft.body);
        let prepared = Prepared::new(&draft, md5, context, &queue.sender(&context.account));
        let accepted = queue.with_room(context, |queue, room| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::Send)?;
            let has_id = input.message_deduplication_id().is_some();
            let sent = Draft::from(&input).validate_for(&queue.rules()).and_then(|()| {
                queue.accept_message(now, input.message_group_id())?;
                prepared.send(input.into(), queue, now, room)
            });
            let review = Review { shared: &service.shared, context, now };
            review.send(queue, has_id, sent.as_ref().map(|accepted| accepted.sent));
            sent
        })??;
        Ok(with_receipt!(Self::Output::builder(), accepted).build())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry {
            body: input.message_body(),
            group: input.message_group_id(),
            deduplication_id: input.message_deduplication_id(),
            ..Entry::default()
        }]
    }

    fn corrupt(output: &mut Self::Output) -> bool {
        break_sum(&mut output.md5_of_message_body)
    }
}

/// The expensive parts of a message, prepared before the queue is locked.
#[derive(Debug)]
pub(crate) struct Prepared {
    checksums: Checksums,
    md5_of_system_attributes: Option<Md5Hex>,
    trace_header: Option<String>,
    sender: Arc<str>,
}

/// The result for the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    pub(crate) sent: Sent,
    pub(crate) checksums: Checksums,
    pub(crate) md5_of_system_attributes: Option<Md5Hex>,
}

impl Prepared {
    pub(crate) fn new(draft: &Draft<'_>, md5_of_body: Md5Hex, context: &Context, sender: &Arc<str>) -> Self {
        let system = draft.system_attributes;
        let trace_header = system.and_then(|system| system.get(&SystemName::AwsTraceHeader));
        Self {
            checksums: Checksums::new(md5_of_body, draft.attributes),
            md5_of_system_attributes: system.and_then(md5_of_attributes),
            trace_header: trace_header_of(trace_header, context),
            sender: Arc::clone(sender),
        }
    }

    pub(crate) fn send(
        self,
        entry: SendMessageBatchRequestEntry,
        queue: &mut Queue,
        now: Timestamp,
        room: Room,
    ) -> Result<Accepted, ServiceError> {
        let Self { checksums, md5_of_system_attributes, trace_header, sender } = self;
        let (body, attributes) = (entry.message_body, entry.message_attributes);
        let message = NewMessage {
            payload: Payload::new(body, attributes, checksums, trace_header, sender),
            delay: entry.delay_seconds.map(seconds),
            group: entry.message_group_id,
            deduplication_id: entry.message_deduplication_id,
        };
        Ok(Accepted { sent: queue.send(now, room, message)?, checksums, md5_of_system_attributes })
    }
}

/// The trace header of the message overrides that of the request.
fn trace_header_of(given: Option<&MessageSystemAttributeValue>, context: &Context) -> Option<String> {
    let given = given.and_then(MessageSystemAttributeValue::string_value);
    given.or(context.trace_header.as_deref()).map(str::to_owned)
}

impl Serve for DeleteMessage {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let handle = input.receipt_handle().unwrap_or_default();
        queue.with(context, |queue| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::Delete)?;
            let deleted = queue.delete(now, handle).map_err(|refusal| refusal.of_request(handle))?;
            Review { shared: &service.shared, context, now }.delete(queue, deleted);
            Ok::<_, ServiceError>(())
        })??;
        Ok(Self::Output::default())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
    }
}

impl Serve for ChangeMessageVisibility {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let handle = input.receipt_handle().unwrap_or_default();
        let timeout = seconds(input.visibility_timeout.unwrap_or_default());
        queue.with(context, |queue| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::ChangeVisibility)?;
            queue.change_visibility(now, handle, timeout).map_err(|refusal| refusal.of_request(handle))
        })??;
        Ok(Self::Output::default())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
    }
}

/// Why an entry failed, and whether the sender is reported as the cause.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) error: ServiceError,
    pub(crate) sender_fault: bool,
}

impl Failure {
    fn entry(self, id: String) -> Result<BatchResultErrorEntry, ServiceError> {
        let entry = BatchResultErrorEntry::builder()
            .id(id)
            .sender_fault(self.sender_fault)
            .code(self.error.code.query_code())
            .set_message(self.error.message);
        built(entry.build())
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self { sender_fault: error.code.fault() == Fault::Sender, error }
    }
}

/// Results of entries by id.
type EntryResults<R> = Vec<(String, Result<R, Failure>)>;

/// Splits results into successful and failed entries; `succeed` builds a successful entry.
fn split<R, T>(
    results: EntryResults<R>,
    succeed: impl Fn(String, R) -> Result<T, ServiceError>,
) -> Result<(Vec<T>, Vec<BatchResultErrorEntry>), ServiceError> {
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for (id, result) in results {
        match result {
            Ok(result) => successful.push(succeed(id, result)?),
            Err(failure) => failed.push(failure.entry(id)?),
        }
    }
    Ok((successful, failed))
}

/// AWS reports failed entries in any order.
fn shuffle_failed<R>(queue: &mut Queue, results: EntryResults<R>) -> EntryResults<R> {
    if !queue.is_aws_like() {
        return results;
    }
    let (failed, mut results): (EntryResults<R>, _) =
        results.into_iter().partition(|(_, result)| result.is_err());
    results.extend(shuffled(queue, failed));
    results
}

fn shuffled<T>(queue: &mut Queue, mut list: Vec<T>) -> Vec<T> {
    queue.shuffle(&mut list);
    list
}

/// Applies `act` to each entry that is valid and has no injected failure.
fn each_entry<E: BatchEntry, R>(
    context: &Context,
    entries: Option<Vec<E>>,
    mut act: impl FnMut(E) -> Result<R, ServiceError>,
) -> EntryResults<R> {
    let entries = entries.unwrap_or_default().into_iter().enumerate();
    let results = entries.map(|(index, entry)| {
        let id = entry.id().to_owned();
        let allowed = check_entry(context, index, &entry);
        (id, allowed.and_then(|()| act(entry).map_err(Failure::from)))
    });
    results.collect()
}

fn check_entry<E: BatchEntry>(context: &Context, index: usize, entry: &E) -> Result<(), Failure> {
    context.injected_failure(index)?;
    Ok(entry.validate_numbered(index + 1)?)
}

/// Rejects an entry without an id with the text of the Query protocol, where an empty list has one empty entry.
fn check_ids<E: BatchEntry>(context: &Context) -> Result<(), ServiceError> {
    match context.entry_without_id {
        Some(number) => Err(missing_parameter(&format!("{}.{number}.Id", E::SHAPE))),
        None => Ok(()),
    }
}

/// Describes the entries of a batch to faults.
fn describe<'e, E: BatchEntry>(entries: &'e [E], entry_of: impl Fn(&'e E) -> Entry<'e>) -> Vec<Entry<'e>> {
    let entries = entries.iter().enumerate();
    entries.map(|(index, entry)| Entry { index, id: Some(entry.id()), ..entry_of(entry) }).collect()
}

/// Removes entries from the output of a batch.
macro_rules! omit_from_batch {
    () => {
        fn omit(output: &mut Self::Output, ids: &[String]) {
            output.successful.retain(|entry| !ids.contains(&entry.id));
            output.failed.retain(|entry| !ids.contains(&entry.id));
        }
    };
}

impl Serve for SendMessageBatch {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        check_ids::<SendMessageBatchRequestEntry>(context)?;
        let entries = input.entries.unwrap_or_default();
        let sender = queue.sender(&context.account);
        let bodies: Vec<_> = entries.iter().map(SendMessageBatchRequestEntry::message_body).collect();
        let prepare = |(index, (entry, md5)): (usize, (&SendMessageBatchRequestEntry, Md5Hex))| {
            check_entry(context, index, entry)?;
            Ok::<_, Failure>(Prepared::new(&Draft::from(entry), md5, context, &sender))
        };
        let hashed = entries.iter().zip(md5_of_bodies(&bodies));
        let prepared: Vec<_> = hashed.enumerate().map(prepare).collect();
        let results = queue.with_room(context, |queue, room| {
            let (rules, now) = (queue.rules(), service.shared.clock.now());
            queue.accept_call(now, Metered::Send)?;
            let review = Review { shared: &service.shared, context, now };
            batch::whole_request(&entries, Some(&rules)).inspect_err(|error| {
                let have_ids = entries.iter().all(|entry| entry.message_deduplication_id().is_some());
                review.send(queue, have_ids, Err(error));
            })?;
            let mut send = |entry: SendMessageBatchRequestEntry, prepared: Prepared| {
                let has_id = entry.message_deduplication_id().is_some();
                let sent = Draft::from(&entry).parameters_for(&rules).and_then(|()| {
                    queue.accept_message(now, entry.message_group_id())?;
                    prepared.send(entry, queue, now, room)
                });
                review.send(queue, has_id, sent.as_ref().map(|accepted| accepted.sent));
                sent
            };
            let sent = entries.into_iter().zip(prepared).map(|(entry, prepared)| {
                let id = entry.id.clone();
                (id, prepared.and_then(|prepared| Ok(send(entry, prepared)?)))
            });
            let sent = sent.collect();
            Ok::<_, ServiceError>(shuffle_failed(queue, sent))
        })??;
        let (successful, failed) = split(results, accepted)?;
        let output = Self::Output::builder().set_successful(Some(successful));
        built(output.set_failed(Some(failed)).build())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        describe(input.entries(), |entry| Entry {
            body: Some(&entry.message_body),
            group: entry.message_group_id.as_deref(),
            deduplication_id: entry.message_deduplication_id.as_deref(),
            ..Entry::default()
        })
    }

    omit_from_batch!();

    fn corrupt(output: &mut Self::Output) -> bool {
        for entry in &mut output.successful {
            entry.md5_of_message_body = "0".repeat(32);
        }
        !output.successful.is_empty()
    }
}

fn accepted(id: String, accepted: Accepted) -> Result<SendMessageBatchResultEntry, ServiceError> {
    built(with_receipt!(SendMessageBatchResultEntry::builder().id(id), accepted).build())
}

impl Serve for DeleteMessageBatch {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        check_ids::<DeleteMessageBatchRequestEntry>(context)?;
        input.validate()?;
        let results = queue.with(context, |queue| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::Delete)?;
            let review = Review { shared: &service.shared, context, now };
            let deleted = each_entry(context, input.entries, |entry| {
                let handle = entry.receipt_handle.as_str();
                let deleted = queue.delete(now, handle).map_err(|refusal| refusal.of_entry(handle))?;
                review.delete(queue, deleted);
                Ok(())
            });
            // AWS reports these entries in any order, the successful ones too.
            Ok::<_, ServiceError>(shuffled(queue, deleted))
        })??;
        let succeed = |id, ()| built(DeleteMessageBatchResultEntry::builder().id(id).build());
        let (successful, failed) = split(results, succeed)?;
        let output = Self::Output::builder().set_successful(Some(successful));
        built(output.set_failed(Some(failed)).build())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        describe(input.entries(), |entry| Entry {
            receipt_handle: Some(&entry.receipt_handle),
            ..Entry::default()
        })
    }

    omit_from_batch!();
}

impl Serve for ChangeMessageVisibilityBatch {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        check_ids::<ChangeMessageVisibilityBatchRequestEntry>(context)?;
        input.validate()?;
        let results = queue.with(context, |queue| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::ChangeVisibility)?;
            let changed = each_entry(context, input.entries, |entry| {
                let timeout = seconds(entry.visibility_timeout.unwrap_or_default());
                let handle = entry.receipt_handle.as_str();
                let changed = queue.change_visibility(now, handle, timeout);
                changed.map_err(|refusal| refusal.of_entry(handle))
            });
            Ok::<_, ServiceError>(shuffle_failed(queue, changed))
        })??;
        let succeed = |id, ()| built(ChangeMessageVisibilityBatchResultEntry::builder().id(id).build());
        let (successful, failed) = split(results, succeed)?;
        let output = Self::Output::builder().set_successful(Some(successful));
        built(output.set_failed(Some(failed)).build())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        describe(input.entries(), |entry| Entry {
            receipt_handle: Some(&entry.receipt_handle),
            ..Entry::default()
        })
    }

    omit_from_batch!();
}
