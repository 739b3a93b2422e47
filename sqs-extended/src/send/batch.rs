//! `SendMessageBatch` as a request of several messages.

use sqs_client::operation::MaybeRepeated as _;
use sqs_client::operation::send_message_batch::{
    SendMessageBatch, SendMessageBatchInput, SendMessageBatchOutput,
};
use sqs_client::types::{BatchResultErrorEntry, SendMessageBatchRequestEntry};
use sqs_client::wire::service_error::ErrorCode;

use super::request::{Disposition, Original, Parts, SendRequest, Unsent, disposition_after};
use crate::error::{Error, ErrorKind};
use crate::format::{Envelope, Sizes};

/// The error code of entries whose payload could not be stored.
const NOT_STORED: &str = "PayloadNotStored";

impl SendRequest for SendMessageBatch {
    fn sizes(input: &Self::Input, envelope: &Envelope) -> impl Iterator<Item = Sizes> {
        let entries = input.entries().iter();
        entries.map(|entry| envelope.sizes(entry.message_body(), entry.message_attributes()))
    }

    fn parts(input: &mut Self::Input, place: usize) -> Option<Parts<'_>> {
        let entry = input.entries.as_mut()?.get_mut(place)?;
        Some(Parts {
            body: &mut entry.message_body,
            attributes: &mut entry.message_attributes,
            deduplication_id: &mut entry.message_deduplication_id,
        })
    }

    fn remove(input: &mut Self::Input, unsent: Vec<Unsent>) -> Result<Vec<BatchResultErrorEntry>, Error> {
        let Some(entries) = &mut input.entries else { return Ok(Vec::new()) };
        // Backwards, because removing an entry shifts the later ones.
        let mut report: Vec<_> = unsent
            .iter()
            .rev()
            .map(|Unsent { place, error }| failed(entries.remove(*place).id, error))
            .collect();
        report.reverse();
        Ok(report)
    }

    fn disposition(input: &Self::Input, place: usize, result: &Result<Self::Output, Error>) -> Disposition {
        match (id(input, place), result) {
            (Some(id), Ok(output)) => disposition_in(output, id),
            (Some(id), Err(error)) => {
                output_of(error).map_or_else(|| disposition_after(error), |output| disposition_in(output, id))
            }
            (None, _) => Disposition::Unknown,
        }
    }

    fn finish(
        input: &Self::Input,
        result: Result<Self::Output, Error>,
        originals: &[Original],
        unsent: Vec<BatchResultErrorEntry>,
    ) -> Result<Self::Output, Error> {
        match result {
            Ok(output) => Ok(finished(input, output, originals, unsent)),
            Err(error) => Err(match (error.client_error(), output_of(&error)) {
                (Some(client), Some(output)) => {
                    Error::from(client.with_output(finished(input, output.clone(), originals, unsent)))
                }
                _ => error,
            }),
        }
    }
}

/// The output in a checksum error.
fn output_of(error: &Error) -> Option<&SendMessageBatchOutput> {
    error.client_error()?.output()
}

fn id(input: &SendMessageBatchInput, place: usize) -> Option<&str> {
    input.entries().get(place).map(SendMessageBatchRequestEntry::id)
}

fn disposition_in(output: &SendMessageBatchOutput, id: &str) -> Disposition {
    if output.successful.iter().any(|accepted| accepted.id == id) {
        return Disposition::Accepted;
    }
    let is_failed = output.failed.iter().any(|failed| failed.id == id);
    // If the request was repeated, an earlier attempt may have been executed.
    if is_failed && !output.is_maybe_repeated() { Disposition::Refused } else { Disposition::Unknown }
}

fn finished(
    input: &SendMessageBatchInput,
    mut output: SendMessageBatchOutput,
    originals: &[Original],
    unsent: Vec<BatchResultErrorEntry>,
) -> SendMessageBatchOutput {
    for original in originals {
        let Some(id) = id(input, original.place) else { continue };
        for accepted in output.successful.iter_mut().filter(|accepted| accepted.id == id) {
            // Some services return no checksums.
            if !accepted.md5_of_message_body.is_empty() {
                accepted.md5_of_message_body = original.md5_of_body.into();
            }
            if accepted.md5_of_message_attributes.is_some() {
                accepted.md5_of_message_attributes = original.md5_of_attributes.map(Into::into);
            }
        }
    }
    output.failed.extend(unsent);
    output
}

/// It is the sender's fault if the message cannot have a pointer, but not if the store fails.
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
