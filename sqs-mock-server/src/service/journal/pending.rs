//! A request in progress, before it is recorded.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::Instant;

use super::record::{Ending, Record, RecordedInput};
use super::{Journal, kept};
use crate::service::clock::Clock;
use crate::service::operation::ServiceName;

/// A request in progress. Dropping it adds it to the journal: with the response after
/// [`answered`](Self::answered), otherwise as abandoned by the caller.
#[derive(Debug)]
pub(crate) struct PendingRecord<'a> {
    journal: &'a Journal,
    pub(crate) operation: Option<Cow<'static, str>>,
    error: Option<ErrorCode>,
    ending: Ending,
    /// The rest of the record; `None` while the journal is off.
    open: Option<Open<'a>>,
}

/// The input of a request in AWS JSON or the Query protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) protocol: Protocol,
    pub(crate) path: &'a str,
    /// The body of AWS JSON, or the form of the Query protocol.
    pub(crate) content: &'a [u8],
}

#[derive(Debug)]
struct Open<'a> {
    generation: u64,
    start: Instant,
    input: Option<Input<'a>>,
    record: Record,
}

impl<'a> PendingRecord<'a> {
    /// Opens a record. `input` is `None` if the service streams it.
    pub(crate) fn open(
        journal: &'a Journal,
        clock: &Clock,
        service: ServiceName,
        request_id: &str,
        input: Option<Input<'a>>,
    ) -> Self {
        let open = || {
            let start = Instant::now();
            let record = Record {
                number: 0,
                service,
                operation: None,
                request_id: request_id.into(),
                time: clock.at(start),
                caller: None,
                resource: None,
                input: None,
                warnings: Box::default(),
                ending: Ending::Abandoned,
                answer: None,
                elapsed: Duration::ZERO,
            };
            Open { generation: journal.generation(), start, input, record }
        };
        Self {
            journal,
            operation: None,
            error: None,
            ending: Ending::Abandoned,
            open: journal.is_on().then(open),
        }
    }

    /// Updates the parts of the record that only the journal has.
    pub(crate) fn note(&mut self, change: impl FnOnce(&mut Record)) {
        if let Some(open) = &mut self.open {
            change(&mut open.record);
        }
    }

    /// Sets the operation.
    pub(crate) fn asked(&mut self, operation: impl Into<Cow<'static, str>>) {
        self.operation = Some(operation.into());
    }

    /// Sets the error code.
    pub(crate) fn refused(&mut self, code: &ErrorCode) {
        self.error = Some(code.clone());
    }

    /// Sets the status; `None` if a fault broke the connection.
    pub(crate) fn answered(&mut self, status: Option<StatusCode>) {
        self.ending = match status {
            Some(status) => Ending::Answered { status: status.as_u16(), error: self.error.take() },
            None => Ending::Broken,
        };
    }

    /// How the request ended so far.
    pub(crate) fn ending(&self) -> &Ending {
        &self.ending
    }
}

impl Drop for PendingRecord<'_> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else {
            self.journal.count();
            return;
        };
        let input = open.input.map(|Input { protocol, path, content }| RecordedInput {
            protocol,
            // Only Query requests can name the queue in the path.
            path: (protocol == Protocol::Query && path != "/").then(|| path.into()),
            content: kept(protocol, content),
        });
        let elapsed = Instant::now().saturating_duration_since(open.start);
        let operation = self.operation.take();
        let ending = std::mem::replace(&mut self.ending, Ending::Abandoned);
        let record = Record { operation, input, ending, elapsed, ..open.record };
        self.journal.record(record, open.generation);
    }
}
