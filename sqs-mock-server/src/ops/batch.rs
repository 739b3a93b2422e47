//! Batches: one lock for all entries, one result for each.

use std::sync::Arc;

use sqs_client::operation::change_message_visibility_batch::{
    ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchInput, ChangeMessageVisibilityBatchOutput,
};
use sqs_client::operation::delete_message_batch::{
    DeleteMessageBatch, DeleteMessageBatchInput, DeleteMessageBatchOutput,
};
use sqs_client::operation::send_message_batch::{
    SendMessageBatch, SendMessageBatchInput, SendMessageBatchOutput,
};
use sqs_client::service_error::{Fault, ServiceError};
use sqs_client::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchResultEntry, DeleteMessageBatchResultEntry,
    SendMessageBatchResultEntry,
};
use sqs_client::validate::{Draft, Validate, batch};

use super::message::{Accepted, Outgoing, with_receipt};
use super::{Context, Serve, Service, built, seconds};

/// What became of each entry.
#[derive(Debug)]
struct Results<T> {
    successful: Vec<T>,
    failed: Vec<BatchResultErrorEntry>,
}

impl<T> Results<T> {
    /// Sorts results by success; `succeed` writes the entry of one.
    fn of<R>(
        results: Vec<(String, Result<R, ServiceError>)>,
        succeed: impl Fn(String, R) -> Result<T, ServiceError>,
    ) -> Result<Self, ServiceError> {
        let mut sorted = Self { successful: Vec::new(), failed: Vec::new() };
        for (id, result) in results {
            match result {
                Ok(result) => sorted.successful.push(succeed(id, result)?),
                Err(error) => sorted.failed.push(failure(id, error)?),
            }
        }
        Ok(sorted)
    }
}

fn failure(id: String, error: ServiceError) -> Result<BatchResultErrorEntry, ServiceError> {
    let entry = BatchResultErrorEntry::builder()
        .id(id)
        .sender_fault(error.code.fault() == Fault::Sender)
        .code(error.code.query_code())
        .set_message(error.message);
    built(entry.build())
}

/// Does something with each entry, which gives its id and what came of it.
fn each_entry<E, R>(
    entries: Option<Vec<E>>,
    act: impl FnMut(E) -> (String, Result<R, ServiceError>),
) -> Vec<(String, Result<R, ServiceError>)> {
    entries.unwrap_or_default().into_iter().map(act).collect()
}

impl Serve for SendMessageBatch {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: SendMessageBatchInput,
    ) -> Result<SendMessageBatchOutput, ServiceError> {
        let queue = service.queue(context, &mut input.queue_url)?;
        let rules = queue.rules();
        batch::whole_request(input.entries(), Some(&rules))?;
        let sender = Arc::from(context.account.as_str());
        let prepared: Vec<_> = input
            .entries
            .unwrap_or_default()
            .into_iter()
            .map(|entry| {
                let checked = entry.validate().and_then(|()| Draft::from(&entry).parameters_for(&rules));
                (entry.id.clone(), checked.map(|()| Outgoing::new(entry, context, &sender)))
            })
            .collect();
        let results = queue.with(context, |queue| {
            let now = service.shared.clock.now();
            let sent = prepared
                .into_iter()
                .map(|(id, outgoing)| (id, outgoing.and_then(|out| out.send(queue, now))));
            sent.collect()
        })?;
        let results = Results::of(results, accepted)?;
        let output = SendMessageBatchOutput::builder().set_successful(Some(results.successful));
        built(output.set_failed(Some(results.failed)).build())
    }
}

fn accepted(id: String, accepted: Accepted) -> Result<SendMessageBatchResultEntry, ServiceError> {
    built(with_receipt!(SendMessageBatchResultEntry::builder().id(id), accepted).build())
}

impl Serve for DeleteMessageBatch {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: DeleteMessageBatchInput,
    ) -> Result<DeleteMessageBatchOutput, ServiceError> {
        let queue = service.queue(context, &mut input.queue_url)?;
        input.validate()?;
        let results = queue.with(context, |queue| {
            let now = service.shared.clock.now();
            each_entry(input.entries, |entry| {
                let deleted = entry.validate().and_then(|()| queue.delete(now, &entry.receipt_handle));
                (entry.id, deleted)
            })
        })?;
        let succeed = |id, ()| built(DeleteMessageBatchResultEntry::builder().id(id).build());
        let results = Results::of(results, succeed)?;
        let output = DeleteMessageBatchOutput::builder().set_successful(Some(results.successful));
        built(output.set_failed(Some(results.failed)).build())
    }
}

impl Serve for ChangeMessageVisibilityBatch {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: ChangeMessageVisibilityBatchInput,
    ) -> Result<ChangeMessageVisibilityBatchOutput, ServiceError> {
        let queue = service.queue(context, &mut input.queue_url)?;
        input.validate()?;
        let results = queue.with(context, |queue| {
            let now = service.shared.clock.now();
            each_entry(input.entries, |entry| {
                let timeout = seconds(entry.visibility_timeout.unwrap_or_default());
                let changed = entry
                    .validate()
                    .and_then(|()| queue.change_visibility(now, &entry.receipt_handle, timeout));
                (entry.id, changed)
            })
        })?;
        let succeed = |id, ()| built(ChangeMessageVisibilityBatchResultEntry::builder().id(id).build());
        let results = Results::of(results, succeed)?;
        let output = ChangeMessageVisibilityBatchOutput::builder().set_successful(Some(results.successful));
        built(output.set_failed(Some(results.failed)).build())
    }
}
