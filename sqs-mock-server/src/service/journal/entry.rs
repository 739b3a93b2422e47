//! A request on its way into the journal.

use http::StatusCode;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::Instant;

use super::record::{Ending, RecordedRequest};
use super::{Journal, content};
use crate::service::clock::{Clock, Timestamp};

/// A request that is being answered. It goes into the journal when this is dropped: after
/// [`answered`](Self::answered), or as abandoned when the caller did not wait for its answer.
#[derive(Debug)]
pub(crate) struct Entry<'a>(Option<Open<'a>>);

#[derive(Debug)]
struct Open<'a> {
    journal: &'a Journal,
    generation: u64,
    start: Instant,
    time: Timestamp,
    request_id: &'a str,
    protocol: Protocol,
    path: &'a str,
    input: &'a [u8],
    action: Option<Action>,
    caller: Option<(Box<str>, Box<str>)>,
    error: Option<ErrorCode>,
    ending: Option<Ending>,
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
                generation: journal.generation(),
                start,
                time: clock.at(start),
                request_id,
                protocol,
                path,
                input,
                action: None,
                caller: None,
                error: None,
                ending: None,
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

    /// Notes the answer, if one arrives, and that this is all.
    pub(crate) fn answered(mut self, status: Option<StatusCode>) {
        if let Some(open) = &mut self.0 {
            open.ending = Some(match status {
                Some(status) => Ending::Answered { status: status.as_u16(), error: open.error.take() },
                None => Ending::Broken,
            });
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.record();
        }
    }
}

impl Open<'_> {
    fn record(self) {
        // Only forms can leave the queue to the path.
        let has_path = self.protocol == Protocol::Query && self.path != "/";
        let request = RecordedRequest {
            number: 0,
            request_id: self.request_id.into(),
            time: self.time,
            protocol: self.protocol,
            action: self.action,
            caller: self.caller,
            path: has_path.then(|| self.path.into()),
            content: content::kept(self.protocol, self.input),
            ending: self.ending.unwrap_or(Ending::Abandoned),
            elapsed: Instant::now().saturating_duration_since(self.start),
        };
        self.journal.record(request, self.generation);
    }
}
