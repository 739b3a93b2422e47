//! A request in progress, before it is recorded.

use std::time::Duration;

use http::StatusCode;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::Instant;

use super::content;
use super::log::Journal;
use super::record::{Ending, Record, RecordedInput};
use crate::service::clock::Clock;
use crate::service::operation::ServiceName;

/// A request in progress. Dropping it adds it to the journal: with the response after
/// [`answered`](Self::answered), otherwise as abandoned by the caller.
#[derive(Debug)]
pub(crate) struct PendingRecord<'a> {
    journal: &'a Journal,
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
    error: Option<ErrorCode>,
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
            Open { generation: journal.generation(), start, input, error: None, record }
        };
        Self { journal, open: journal.is_on().then(open) }
    }

    /// Updates the record, for example with the operation once it is known.
    pub(crate) fn note(&mut self, change: impl FnOnce(&mut Record)) {
        if let Some(open) = &mut self.open {
            change(&mut open.record);
        }
    }

    /// Sets the error code.
    pub(crate) fn refused(&mut self, code: &ErrorCode) {
        if let Some(open) = &mut self.open {
            open.error = Some(code.clone());
        }
    }

    /// Sets the status; `None` if a fault broke the connection.
    pub(crate) fn answered(&mut self, status: Option<StatusCode>) {
        if let Some(open) = &mut self.open {
            open.record.ending = match status {
                Some(status) => Ending::Answered { status: status.as_u16(), error: open.error.take() },
                None => Ending::Broken,
            };
        }
    }
}

impl Drop for PendingRecord<'_> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return self.journal.count() };
        let input = open.input.map(|Input { protocol, path, content }| RecordedInput {
            protocol,
            // Only Query requests can name the queue in the path.
            path: (protocol == Protocol::Query && path != "/").then(|| path.into()),
            content: content::kept(protocol, content),
        });
        let elapsed = Instant::now().saturating_duration_since(open.start);
        self.journal.record(Record { input, elapsed, ..open.record }, open.generation);
    }
}
