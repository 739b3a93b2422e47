//! Findings of strict mode about sends and deletes.

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::Context;
use super::state::Shared;
use crate::service::clock::Timestamp;
use crate::sqs::engine::{OldHandle, Queue, Sent};
use crate::sqs::findings::{Finding, FindingKind};

const NO_ID: &str = "a message was rejected: it has no MessageDeduplicationId, and the queue has no \
                     ContentBasedDeduplication";

/// Checks one request to one queue. Without strict mode, nothing is reported.
pub(super) struct Review<'a> {
    pub(super) shared: &'a Shared,
    pub(super) context: &'a Context,
    pub(super) now: Timestamp,
}

impl Review<'_> {
    /// Reports a send without a deduplication id that is rejected or dropped.
    pub(super) fn send(&self, queue: &Queue, has_deduplication_id: bool, sent: Result<Sent, &ServiceError>) {
        let rules = queue.rules();
        if self.is_off() || has_deduplication_id || !rules.fifo {
            return;
        }
        let needs_id = !rules.content_based_deduplication;
        match sent {
            Err(error) if needs_id && error.code == ErrorCode::InvalidParameterValue => {
                self.report(queue, FindingKind::NoDeduplicationId, NO_ID.to_owned());
            }
            Ok(Sent { original: Some(original), id, .. }) if !self.context.is_retry => {
                let age = self.now.saturating_since(original).as_secs();
                let text = format!(
                    "the message was not stored: message {id} with this deduplication id, the hash of the body, was sent \
                     {age} s ago"
                );
                self.report(queue, FindingKind::DroppedDuplicate, text);
            }
            _ => {}
        }
    }

    /// Reports a delete with the handle of an earlier receive.
    pub(super) fn delete(&self, queue: &Queue, handle: Option<OldHandle>) {
        let Some(OldHandle { id, receive, receives }) = handle.filter(|_| !self.is_off()) else { return };
        let text = format!(
            "message {id} was deleted with the receipt handle of receive {receive} of {receives}; SQS may ignore such a \
             delete"
        );
        self.report(queue, FindingKind::OldReceiptHandle, text);
    }

    fn is_off(&self) -> bool {
        self.shared.findings.is_none()
    }

    fn report(&self, queue: &Queue, kind: FindingKind, text: String) {
        let Some(findings) = &self.shared.findings else { return };
        let queue = (**queue.arn()).clone();
        let finding = findings.report(Finding { kind, queue, time: self.now, text });
        self.context.trace.note_finding(finding);
    }
}
