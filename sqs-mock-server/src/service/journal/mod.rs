//! The latest requests to the services of a server, for tests.
//!
//! ```text
//! request -> PendingRecord -> drop: Record -> ring, shared by all services -> a view of each service
//! ```
//! Records keep the input as bytes, without signatures and keys; views decode it. A server without a journal pays one
//! branch per request.

mod pending;
mod record;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use sqs_client::wire::protocol::Protocol;

pub(crate) use pending::{Input, PendingRecord};
pub use record::Ending;
pub(crate) use record::{Caller, Record};

/// The default capacity.
pub(crate) const DEFAULT_CAPACITY: usize = 1000;
/// The maximum total size of the records; the latest record alone may exceed it.
const MAX_BYTES: usize = 16 << 20;
/// Parameters of signature versions 4 and 2.
const SECRETS: [&[u8]; 3] = [b"Signature", b"SecurityToken", b"AWSAccessKeyId"];
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

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::service::clock::Clock;
    use crate::service::operation::ServiceName;

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
