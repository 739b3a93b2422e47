//! A request on its way into the journal.

use std::time::Duration;

use http::StatusCode;
use sqs_client::operation::Action;
use sqs_client::protocol::Protocol;
use sqs_client::service_error::ErrorCode;
use tokio::time::Instant;

use super::record::{Ending, RecordedRequest};
use super::{Journal, MAX_BYTES, content};
use crate::clock::{Clock, Timestamp};

/// A request that is being answered. It goes into the journal when this is dropped: after
/// [`answered`](Self::answered), or as abandoned when the caller did not wait for its answer.
#[derive(Debug)]
pub(crate) struct Entry<'a>(Option<Open<'a>>);

#[derive(Debug)]
struct Open<'a> {
    journal: &'a Journal,
    start: Instant,
    time: Timestamp,
    request_id: &'a str,
    protocol: Protocol,
    path: &'a str,
    input: &'a [u8],
    action: Option<Action>,
    caller: Option<(Box<str>, Box<str>)>,
    error: Option<ErrorCode>,
    status: Option<StatusCode>,
}

impl<'a> Entry<'a> {
    /// Opens an entry. `input` is the body in AWS JSON, the form in the Query protocol.
    pub(crate) fn open(
        journal: &'a Journal,
        clock: &Clock,
        request_id: &'a str,
        protocol: Protocol,
        path: &'a str,
        input: &'a [u8],
    ) -> Self {
        let open = || {
            let start = Instant::now();
            Open {
                journal,
                start,
                time: clock.at(start),
                request_id,
                protocol,
                path,
                input,
                action: None,
                caller: None,
                error: None,
                status: None,
            }
        };
        Self(journal.is_on().then(open))
    }

    /// Notes what is asked for.
    pub(crate) fn action(&mut self, action: Action) {
        if let Some(open) = &mut self.0 {
            open.action = Some(action);
        }
    }

    /// Notes who asks, and where.
    pub(crate) fn caller(&mut self, region: &str, account: &str) {
        if let Some(open) = &mut self.0 {
            open.caller = Some((region.into(), account.into()));
        }
    }

    /// Notes that it is refused.
    pub(crate) fn refused(&mut self, code: &ErrorCode) {
        if let Some(open) = &mut self.0 {
            open.error = Some(code.clone());
        }
    }

    /// Notes the answer, and that this is all.
    pub(crate) fn answered(mut self, status: StatusCode) {
        if let Some(open) = &mut self.0 {
            open.status = Some(status);
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            let journal = open.journal;
            journal.record(open.into_record());
        }
    }
}

impl Open<'_> {
    fn into_record(self) -> RecordedRequest {
        let ending = match self.status {
            Some(status) => Ending::Answered { status: status.as_u16(), error: self.error },
            None => Ending::Abandoned,
        };
        RecordedRequest {
            number: 0,
            request_id: self.request_id.into(),
            time: self.time,
            protocol: self.protocol,
            action: self.action,
            caller: self.caller,
            // Only forms can leave the queue to the path.
            path: (self.protocol == Protocol::Query && self.path != "/").then(|| self.path.into()),
            content: (self.input.len() <= MAX_BYTES).then(|| content::of(self.protocol, self.input)),
            ending,
            elapsed: elapsed_since(self.start),
        }
    }
}

fn elapsed_since(start: Instant) -> Duration {
    Instant::now().saturating_duration_since(start)
}
