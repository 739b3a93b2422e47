//! Sends a batch of messages.

use std::collections::HashSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_client::client::Execute;
use sqs_client::operation::MaybeRepeated as _;
use sqs_client::operation::send_message_batch::{SendMessageBatchInput, SendMessageBatchOutput};
use sqs_client::types::{BatchResultErrorEntry, SendMessageBatchRequestEntry};
use sqs_client::wire::service_error::ErrorCode;

use super::Selection;
use super::stored::{Keep, Parts, Stored, is_refused};
use crate::cleanup::DeleteOnDrop;
use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};

/// The error code of entries whose payload could not be stored.
const NOT_STORED: &str = "PayloadNotStored";

/// A batch in flight with stored payloads.
#[derive(Debug, Default)]
pub(crate) struct SentBatch {
    stored: Vec<StoredEntry>,
    /// Entries that were not sent.
    failed: Vec<BatchResultErrorEntry>,
    /// Whether no entry is left to send.
    pub(crate) is_empty: bool,
}

impl SentBatch {
    /// Whether the payloads are kept for a repeated request.
    pub(crate) fn keeps_payloads(&self) -> bool {
        self.stored.iter().any(|entry| entry.stored.content.is_some())
    }
}

#[derive(Debug)]
struct StoredEntry {
    /// Its index among the entries that are sent.
    place: usize,
    id: String,
    stored: Stored,
}

/// An entry to be sent, with its object.
type Ready = (SendMessageBatchRequestEntry, Option<(DeleteOnDrop, Stored)>);

impl<H: Execute> ExtendedClient<H> {
    /// Stores the payloads of the selected entries. Entries that cannot be stored are removed.
    pub(crate) async fn before_batch(
        &self,
        input: &mut SendMessageBatchInput,
        selection: Selection,
        keep: Keep,
    ) -> SentBatch {
        let queue_url = input.queue_url.clone().unwrap_or_default();
        let entries = input.entries.take().unwrap_or_default();
        let stowing = entries.into_iter().enumerate().map(|(place, entry)| {
            let keep = selection.contains(place).then_some(keep);
            self.before_entry(&queue_url, entry, keep)
        });
        let results: Vec<_> =
            stream::iter(stowing).buffered(self.shared.settings.concurrency).collect().await;
        let mut batch = SentBatch::default();
        let mut entries = Vec::with_capacity(results.len());
        for result in results {
            match result {
                Ok((entry, stored)) => {
                    // From here on, the message may exist.
                    batch.stored.extend(stored.map(|(guard, stored)| {
                        guard.keep();
                        StoredEntry { place: entries.len(), id: entry.id.clone(), stored }
                    }));
                    entries.push(entry);
                }
                Err(failed) => batch.failed.push(failed),
            }
        }
        batch.is_empty = entries.is_empty();
        input.entries = Some(entries);
        batch
    }

    /// Stores the payload of an entry, if it is selected: `keep` says whether its payload is kept.
    async fn before_entry(
        &self,
        queue_url: &str,
        mut entry: SendMessageBatchRequestEntry,
        keep: Option<Keep>,
    ) -> Result<Ready, BatchResultErrorEntry> {
        let Some(keep) = keep else { return Ok((entry, None)) };
        let parts = Parts {
            body: &mut entry.message_body,
            attributes: &mut entry.message_attributes,
            deduplication_id: &mut entry.message_deduplication_id,
        };
        match self.offload_body(queue_url, parts, keep).await {
            Ok(stored) => Ok((entry, Some(stored))),
            Err(error) => Err(failed(entry.id, &error)),
        }
    }

    /// Stores new objects for a repeated request. `None` if that fails.
    pub(crate) async fn before_batch_again(
        &self,
        input: &mut SendMessageBatchInput,
        batch: &mut SentBatch,
    ) -> Option<()> {
        let contents: Option<Vec<_>> =
            batch.stored.iter().map(|entry| entry.stored.content.clone()).collect();
        let uploads = stream::iter(contents?).map(|content| self.upload(content));
        let objects: Vec<_> = uploads.buffered(self.shared.settings.concurrency).try_collect().await.ok()?;
        let entries = input.entries.as_deref_mut().unwrap_or_default();
        for (StoredEntry { place, stored, .. }, object) in batch.stored.iter_mut().zip(objects) {
            if let Some(entry) = entries.get_mut(*place) {
                self.readdress(stored, &mut entry.message_body, object);
            }
        }
        Some(())
    }

    /// Deletes the payloads of rejected entries, and makes the output fit the input of the caller.
    pub(crate) async fn after_batch(
        &self,
        batch: SentBatch,
        result: &mut Result<SendMessageBatchOutput, Error>,
    ) {
        let SentBatch { stored, failed, .. } = batch;
        match result {
            Ok(output) => {
                self.settle(&stored, output).await;
                output.failed.extend(failed);
            }
            Err(error) => {
                let client = error.client_error();
                let damaged =
                    client.and_then(|client| Some((client, client.output::<SendMessageBatchOutput>()?)));
                if let Some((client, output)) = damaged {
                    let mut output = output.clone();
                    self.settle(&stored, &mut output).await;
                    output.failed.extend(failed);
                    *error = Error::from(client.with_output(output));
                } else if is_refused(error) {
                    self.shared.cleaner.delete(stored.into_iter().map(|entry| entry.stored.pointer)).await;
                } else {
                    for entry in &stored {
                        self.keep_in_doubt(&entry.stored.pointer);
                    }
                }
            }
        }
    }

    async fn settle(&self, stored: &[StoredEntry], output: &mut SendMessageBatchOutput) {
        let (mut unneeded, is_repeated) = (Vec::new(), output.is_maybe_repeated());
        let failed: HashSet<_> = output.failed.iter().map(|entry| entry.id.as_str()).collect();
        for entry in stored {
            let mut accepted =
                output.successful.iter_mut().filter(|accepted| accepted.id == entry.id).peekable();
            let is_accepted = accepted.peek().is_some();
            for accepted in accepted {
                if !accepted.md5_of_message_body.is_empty() {
                    accepted.md5_of_message_body = entry.stored.original.md5_of_body.into();
                }
                if accepted.md5_of_message_attributes.is_some() {
                    accepted.md5_of_message_attributes =
                        entry.stored.original.md5_of_attributes.map(Into::into);
                }
            }
            let is_refused = failed.contains(entry.id.as_str()) && !is_repeated;
            if is_accepted {
                continue;
            }
            if is_refused {
                unneeded.push(entry.stored.pointer.clone());
            } else {
                self.keep_in_doubt(&entry.stored.pointer);
            }
        }
        self.shared.cleaner.delete(unneeded).await;
    }
}

/// It is the fault of the sender if the message does not fit a pointer, but not if the store fails.
fn failed(id: String, error: &Error) -> BatchResultErrorEntry {
    let is_callers = matches!(
        error.kind(),
        ErrorKind::TooManyAttributes | ErrorKind::ReservedAttribute | ErrorKind::TooLarge
    );
    let mut entry = BatchResultErrorEntry::default();
    entry.id = id;
    entry.sender_fault = is_callers;
    let code = if is_callers { ErrorCode::InvalidParameterValue.query_code() } else { NOT_STORED };
    code.clone_into(&mut entry.code);
    entry.message = Some(format!("{error:?}"));
    entry
}
