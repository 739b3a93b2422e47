//! Reports a request to metrics, log and journal.

use http::request::Parts;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::metrics::{Metrics, Record};
use crate::http::Reply;
use crate::service::clock::Clock;
use crate::service::journal::{Caller, Input, Journal, PendingRecord};
use crate::service::operation::ServiceName;
use crate::sqs::ops::Context;

/// A request in progress. Its drop reports it, with its findings: after [`end`](Self::end) with the response, otherwise
/// as aborted by the caller.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    record: Record<'a>,
    pending: PendingRecord<'a>,
}

/// The observers of requests: metrics, log and journal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observers<'a> {
    pub(super) metrics: &'a Metrics,
    pub(super) journal: &'a Journal,
    pub(super) clock: &'a Clock,
}

impl<'a> Observer<'a> {
    /// `input` is the body in AWS JSON, or the form in the Query protocol.
    pub(super) fn begin(
        observers: Observers<'a>,
        request_id: &'a str,
        head: &'a Parts,
        protocol: Protocol,
        input: &'a [u8],
    ) -> Self {
        let Observers { metrics, journal, clock } = observers;
        let record = Record::begin(metrics, request_id);
        let input = Input { protocol, path: head.uri.path(), content: input };
        Self {
            record,
            pending: PendingRecord::open(journal, clock, ServiceName::Sqs, request_id, Some(input)),
        }
    }

    /// The request id.
    pub(super) fn request_id(&self) -> &'a str {
        self.record.request_id()
    }

    /// Sets the action.
    pub(super) fn asked(&mut self, action: Action) {
        self.record.action(action);
        self.pending.note(|record| record.operation = Some(action.as_str().into()));
    }

    /// Sets the caller.
    pub(super) fn caller(&mut self, context: Context) -> &mut Context {
        self.pending.note(|record| {
            let (region, account) = (context.region.as_str().into(), context.account.as_str().into());
            record.caller = Some(Caller { region, account });
        });
        self.record.context(context)
    }

    /// Marks the request as successful.
    pub(super) fn answered(&mut self) {
        self.record.answered();
    }

    /// Sets the error, and returns the request id.
    pub(super) fn refused(&mut self, error: &ServiceError) -> &'a str {
        self.pending.refused(&error.code);
        self.record.refused(error)
    }

    /// Like [`refused`](Self::refused), without a text.
    pub(super) fn refused_as(&mut self, code: &ErrorCode) -> &'a str {
        self.pending.refused(code);
        self.record.refused_as(code)
    }

    /// Ends the request.
    pub(super) fn end(mut self, reply: &Reply) {
        let status = reply.status();
        self.pending.answered(status);
        self.pending.note(|record| record.answer = reply.body());
        self.record.end(status);
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let findings = self.record.findings();
        self.pending.note(|record| record.warnings = findings.iter().map(ToString::to_string).collect());
    }
}
