//! Who watches a request: metrics and log on one side, the journal on the other.

use http::StatusCode;
use http::request::Parts;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::metrics::{Metrics, Record};
use crate::service::clock::Clock;
use crate::service::journal::{Entry, Journal};
use crate::sqs::ops::Context;

/// Tells both what becomes of a request. Dropped before its end, it says that the caller went away.
#[derive(Debug)]
pub(super) struct Witness<'a> {
    record: Record<'a>,
    entry: Entry<'a>,
}

/// Those who are told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watchers<'a> {
    pub(super) metrics: &'a Metrics,
    pub(super) journal: &'a Journal,
    pub(super) clock: &'a Clock,
}

impl<'a> Witness<'a> {
    /// `input` is the body in AWS JSON, the form in the Query protocol.
    pub(super) fn begin(
        watchers: Watchers<'a>,
        request_id: &'a str,
        head: &'a Parts,
        protocol: Protocol,
        input: &'a [u8],
    ) -> Self {
        let Watchers { metrics, journal, clock } = watchers;
        let record = Record::begin(metrics, request_id);
        Self { record, entry: Entry::open(journal, clock, request_id, protocol, head.uri.path(), input) }
    }

    /// The id that the caller is told.
    pub(super) fn request_id(&self) -> &'a str {
        self.record.request_id()
    }

    /// Notes what is asked for.
    pub(super) fn asked(&mut self, action: Action) {
        self.record.action(action);
        self.entry.action(action);
    }

    /// Notes who asks.
    pub(super) fn caller(&mut self, context: Context) -> &mut Context {
        self.entry.caller(&context.region, &context.account);
        self.record.context(context)
    }

    /// Notes that it was answered.
    pub(super) fn answered(&mut self) {
        self.record.answered();
    }

    /// Notes that it was refused, and gives the id for the answer.
    pub(super) fn refused(&mut self, error: &ServiceError) -> &'a str {
        self.entry.refused(&error.code);
        self.record.refused(error)
    }

    /// As [`refused`](Self::refused), where HTTP says it all.
    pub(super) fn refused_as(&mut self, code: &ErrorCode) -> &'a str {
        self.entry.refused(code);
        self.record.refused_as(code)
    }

    /// Ends it: with a status, or with a connection that breaks.
    pub(super) fn end(self, status: Option<StatusCode>) {
        self.entry.answered(status);
        self.record.end(status);
    }
}
