//! The latest requests to the services of a server, for tests.
//!
//! ```text
//! request -> PendingRecord -> drop: Record -> ring, shared by all services -> a view of each service
//! ```
//! Records keep the input as bytes, without signatures and keys; views decode it. A server without a journal pays one
//! branch per request.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use parking_lot::Mutex;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::Instant;

use crate::control::arn::Resource;
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::metrics::{ABORTED, OK};
use crate::control::operation::ServiceName;

/// The default capacity.
pub(crate) const DEFAULT_CAPACITY: usize = 1000;

/// The maximum total size of the records; the latest record alone may exceed it.
const MAX_BYTES: usize = 16 << 20;

/// Parameters of signature versions 4 and 2, and the token of an identity provider.
const SECRETS: [&[u8]; 4] = [b"Signature", b"SecurityToken", b"AWSAccessKeyId", b"WebIdentityToken"];

const SECRET_PREFIX: &[u8] = b"X-Amz-";

/// The latest requests to all services.
#[derive(Debug)]
pub(crate) struct Journal {
    capacity: usize,
    /// The number of the latest request. Numbers of records are assigned while the ring is locked.
    latest: AtomicU64,
    /// Every recorded request locks it. Records are built before locking and shared afterwards, so nothing is copied
    /// under the lock. Holders take no other lock.
    ring: Mutex<Ring>,
    generation: AtomicU64,
}

impl Journal {
    /// A journal of at most `capacity` requests; with 0 it records nothing.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, latest: AtomicU64::new(0), ring: Mutex::default(), generation: AtomicU64::new(0) }
    }

    /// Whether it records anything.
    pub(crate) fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// All records, in the order of their responses.
    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        self.ring.lock().records.iter().cloned().collect()
    }

    /// The number of the latest request, and how many requests are kept.
    pub(crate) fn latest(&self) -> (u64, usize) {
        let ring = self.ring.lock();
        (self.latest.load(Ordering::Relaxed), ring.records.len())
    }

    /// Removes all records. Requests in progress are not recorded.
    pub(crate) fn reset(&self) {
        let mut ring = self.ring.lock();
        self.generation.fetch_add(1, Ordering::Relaxed);
        let taken = ring.take();
        drop(ring);
        drop(taken);
    }

    /// Changes with each reset.
    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Removes all records and returns their number.
    pub(crate) fn clear(&self) -> usize {
        let taken = self.ring.lock().take();
        taken.len()
    }

    /// Counts a request and returns its number. Requests that are not recorded count too, so that whoever compares
    /// [`latest`](Self::latest) notices them.
    fn count(&self) -> u64 {
        self.latest.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Adds a request that began in this generation.
    fn record(&self, record: Record, generation: u64) {
        let mut record = Arc::new(record);
        let mut ring = self.ring.lock();
        if generation == self.generation() {
            if let Some(record) = Arc::get_mut(&mut record) {
                record.number = self.count();
            }
            ring.push(record, self.capacity);
        }
    }
}

/// A bounded list of records.
#[derive(Debug, Default)]
struct Ring {
    records: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl Ring {
    /// Adds a record, and removes the oldest ones over the limits.
    fn push(&mut self, record: Arc<Record>, capacity: usize) {
        self.bytes += record.bytes();
        self.records.push_back(record);
        while self.records.len() > capacity || (self.bytes > MAX_BYTES && self.records.len() > 1) {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Takes all records, so that the caller can drop them after it releases the lock.
    fn take(&mut self) -> VecDeque<Arc<Record>> {
        self.bytes = 0;
        std::mem::take(&mut self.records)
    }
}

/// A copy of the AWS JSON body or the Query form; `None` if it is too long.
fn kept(protocol: Protocol, input: &[u8]) -> Option<Box<[u8]>> {
    let kept = || match protocol {
        Protocol::AwsJson => input.into(),
        Protocol::Query => without_secrets(input),
    };
    (input.len() <= MAX_BYTES).then(kept)
}

fn without_secrets(form: &[u8]) -> Box<[u8]> {
    let kept: Vec<_> = form.split(|byte| *byte == b'&').filter(|pair| !is_secret(pair)).collect();
    kept.join(&b'&').into()
}

/// Names with escapes count as secret, since no parameter of SQS needs escapes.
fn is_secret(pair: &[u8]) -> bool {
    let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
    let starts_as =
        |prefix: &[u8]| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    name.contains(&b'%') || starts_as(SECRET_PREFIX) || SECRETS.iter().any(|secret| starts_as(secret))
}

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

/// A request to any service.
#[derive(Debug)]
pub(crate) struct Record {
    /// Numbered from 1 in the order of the responses, over all services. A reset does not restart the numbers.
    pub(crate) number: u64,
    pub(crate) service: ServiceName,
    /// `None` if the request was rejected before the operation was known.
    pub(crate) operation: Option<Cow<'static, str>>,
    pub(crate) request_id: Box<str>,
    /// The arrival, by the clock of the server.
    pub(crate) time: Timestamp,
    /// `None` if the service does not know callers, or rejected the request before it knew the caller.
    pub(crate) caller: Option<Caller>,
    /// `None` also if the input names the resource.
    pub(crate) resource: Option<Resource>,
    /// `None` for services that stream their input.
    pub(crate) input: Option<RecordedInput>,
    /// Mistakes in the request, as text.
    pub(crate) warnings: Box<[String]>,
    pub(crate) ending: Ending,
    /// The body of the response; `None` without a complete response, and for services that stream it.
    pub(crate) answer: Option<Bytes>,
    /// In real time.
    pub(crate) elapsed: Duration,
}

/// Region and account of a caller.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) region: Box<str>,
    pub(crate) account: Box<str>,
    /// The name in a schedule; empty without one.
    pub(crate) name: Box<str>,
}

impl Caller {
    fn bytes(&self) -> usize {
        self.region.len() + self.account.len() + self.name.len()
    }
}

/// The input of a request in AWS JSON or the Query protocol. It is decoded when it is read.
#[derive(Debug)]
pub(crate) struct RecordedInput {
    pub(crate) protocol: Protocol,
    /// The path of a form, which may name the resource.
    pub(crate) path: Option<Box<str>>,
    /// `None` if it is larger than the limit of the whole journal.
    pub(crate) content: Option<Box<[u8]>>,
}

/// How a request ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// The server responded.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The error code, if the request failed.
        error: Option<ErrorCode>,
    },
    /// The caller disconnected before the response: after a timeout, a dropped future or a lost connection.
    Abandoned,
    /// A fault broke the connection, before the response or within it.
    Broken,
}

impl Ending {
    /// The HTTP status; `None` without a complete response.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Answered { status, .. } => Some(*status),
            Self::Abandoned | Self::Broken => None,
        }
    }

    /// The code in metrics and logs.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Answered { error: Some(code), .. } => code.query_code(),
            Self::Answered { error: None, .. } => OK,
            Self::Abandoned | Self::Broken => ABORTED,
        }
    }

    /// Whether the server failed, which its operator should know.
    pub(crate) fn is_failure(&self) -> bool {
        self.status().is_some_and(|status| status >= 500)
    }

    /// The error code.
    pub(crate) fn error_code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Answered { error, .. } => error.as_ref(),
            Self::Abandoned | Self::Broken => None,
        }
    }
}

impl Record {
    /// The input; empty if it was not recorded.
    pub(crate) fn content(&self) -> &[u8] {
        self.input.as_ref().and_then(|input| input.content.as_deref()).unwrap_or_default()
    }

    /// Its approximate size, for the limit of the journal.
    pub(crate) fn bytes(&self) -> usize {
        let caller = self.caller.as_ref().map_or(0, Caller::bytes);
        let path = self.input.as_ref().and_then(|input| input.path.as_ref()).map_or(0, |path| path.len());
        let resource = self.resource.as_ref().map_or(0, Resource::bytes);
        let warnings: usize = self.warnings.iter().map(String::len).sum();
        let answer = self.answer.as_ref().map_or(0, Bytes::len);
        self.request_id.len() + caller + path + resource + warnings + answer + self.content().len()
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { status, error: None } => write!(f, "{status}"),
            Self::Answered { status, error: Some(error) } => write!(f, "{status} {}", error.shape()),
            Self::Abandoned => f.write_str("abandoned"),
            Self::Broken => f.write_str("broken by a fault"),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::control::clock::Clock;
    use crate::control::operation::ServiceName;

    fn record(journal: &Journal, id: &str, content: &[u8]) {
        let input = Input { protocol: Protocol::AwsJson, path: "/", content };
        PendingRecord::open(journal, &Clock::real(), ServiceName::Sqs, id, Some(input))
            .answered(Some(StatusCode::OK));
    }

    fn ids(journal: &Journal) -> Vec<String> {
        journal.records().iter().map(|record| record.request_id.to_string()).collect()
    }

    #[test]
    fn oldest_requests_are_removed_first() {
        let journal = Journal::new(2);
        for id in ["a", "b", "c"] {
            record(&journal, id, b"{}");
        }
        assert_eq!(ids(&journal), ["b", "c"]);
        assert_eq!(journal.records()[1].number, 3);
        assert_eq!(journal.clear(), 2);
        record(&journal, "d", b"{}");
        assert_eq!((ids(&journal), journal.records()[0].number), (vec!["d".to_owned()], 4));
    }

    #[test]
    fn total_size_of_records_is_bounded() {
        let journal = Journal::new(100);
        let third = vec![b'x'; MAX_BYTES / 3 - 9];
        for id in ["a", "b", "c", "d"] {
            record(&journal, id, &third);
        }
        assert_eq!(ids(&journal), ["b", "c", "d"]);
        record(&journal, "huge", &vec![b'x'; MAX_BYTES + 1]);
        assert_eq!(ids(&journal), ["b", "c", "d", "huge"]);
        assert_eq!(journal.records()[3].content(), b"");
    }

    #[test]
    fn two_reads_share_the_records() {
        let journal = Journal::new(1);
        record(&journal, "a", b"{}");
        let (one, other) = (journal.records(), journal.records());
        assert!(Arc::ptr_eq(&one[0], &other[0]));
        record(&journal, "b", b"{}");
        assert_eq!(&*one[0].request_id, "a", "a record outlives its removal from the journal");
    }

    #[test]
    fn disabled_journal_records_nothing() {
        let journal = Journal::new(0);
        record(&journal, "a", b"{}");
        assert!(journal.records().is_empty());
    }

    fn of(protocol: Protocol, input: &[u8]) -> Box<[u8]> {
        kept(protocol, input).unwrap()
    }

    #[test]
    fn signature_in_a_form_is_not_recorded() {
        let form = b"Action=SendMessage&X-Amz-Security-Token=s1&MessageBody=X-Amz-%26&x-amz-signature=s2&\
            Signature=s3&SignatureMethod=m&SecurityToken=s4&AWSAccessKeyId=k&X%2DAmz-Signature=s5&QueueUrl=q";
        let kept = of(Protocol::Query, form);
        assert_eq!(&*kept, b"Action=SendMessage&MessageBody=X-Amz-%26&QueueUrl=q");
    }

    #[test]
    fn json_is_recorded_unchanged() {
        assert_eq!(&*of(Protocol::AwsJson, b"{\"a\":\"Signature=1&b\"}"), b"{\"a\":\"Signature=1&b\"}");
    }
}
