//! What the server was asked, and how it answered: the latest requests, for tests.
//!
//! ```text
//! endpoint -> Entry (notes what becomes known) --dropped--> ring of records --snapshot--> Requests -> filters, expectations
//! ```
//! Records keep bytes; what is in them is decoded when somebody looks. Neither signatures nor keys are kept. A
//! server without a journal pays a branch a request.

mod brief;
mod content;
mod entry;
mod named;
mod record;
mod requests;
mod times;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

pub(crate) use entry::Entry;
pub use record::{Ending, NotThisInput, RecordedRequest};
pub(crate) use requests::Latest;
pub use requests::Requests;
pub use times::Times;

/// How many requests are kept, unless somebody says otherwise.
pub(crate) const DEFAULT_CAPACITY: usize = 1000;
/// Bytes of all contents that are kept. A longer one alone is not.
const MAX_BYTES: usize = 16 << 20;

/// The latest requests.
#[derive(Debug)]
pub(crate) struct Journal {
    capacity: usize,
    /// Locked for as long as it takes to put in one record or to share all; never while anything else is locked.
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    records: VecDeque<Arc<RecordedRequest>>,
    bytes: usize,
    recorded: u64,
}

impl Journal {
    /// A journal of at most so many requests; with 0 it records nothing.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, ring: Mutex::default() }
    }

    /// Whether anything is recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// All that is there, in the order of their answers.
    pub(crate) fn requests(&self) -> Requests {
        Requests::new(self.ring.lock().records.iter().cloned().collect())
    }

    /// Forgets all, and says how many that were.
    pub(crate) fn clear(&self) -> usize {
        let forgotten = {
            let mut ring = self.ring.lock();
            ring.bytes = 0;
            std::mem::take(&mut ring.records)
        };
        forgotten.len()
    }

    fn record(&self, request: RecordedRequest) {
        let forgotten = self.ring.lock().push(request, self.capacity);
        // Freed without the lock.
        drop(forgotten);
    }
}

impl Ring {
    /// Puts in a record, and takes out what has to make room for it. That is one record nearly always, which is
    /// given out.
    fn push(&mut self, mut request: RecordedRequest, capacity: usize) -> Option<Arc<RecordedRequest>> {
        self.recorded += 1;
        request.number = self.recorded;
        self.bytes += request.content().len();
        self.records.push_back(Arc::new(request));
        let mut forgotten = None;
        while self.records.len() > capacity || self.bytes > MAX_BYTES {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.content().len();
            forgotten = Some(oldest);
        }
        forgotten
    }
}
#[cfg(test)]
mod tests {
    use http::StatusCode;
    use sqs_client::protocol::Protocol;

    use super::*;
    use crate::clock::Clock;

    fn record(journal: &Journal, id: &str, content: &[u8]) {
        Entry::open(journal, &Clock::real(), id, Protocol::AwsJson, "/", content).answered(StatusCode::OK);
    }

    fn ids(journal: &Journal) -> Vec<String> {
        journal.requests().all().iter().map(|request| request.request_id().to_owned()).collect()
    }

    #[test]
    fn oldest_requests_make_room_for_new_ones() {
        let journal = Journal::new(2);
        for id in ["a", "b", "c"] {
            record(&journal, id, b"{}");
        }
        assert_eq!(ids(&journal), ["b", "c"]);
        assert_eq!(journal.requests().all()[1].number(), 3);
        assert_eq!(journal.clear(), 2);
        record(&journal, "d", b"{}");
        assert_eq!((ids(&journal), journal.requests().all()[0].number()), (vec!["d".to_owned()], 4));
    }

    #[test]
    fn long_contents_are_bounded_together_and_alone() {
        let journal = Journal::new(100);
        let third = vec![b'x'; MAX_BYTES / 3];
        for id in ["a", "b", "c", "d"] {
            record(&journal, id, &third);
        }
        assert_eq!(ids(&journal), ["b", "c", "d"]);
        record(&journal, "huge", &vec![b'x'; MAX_BYTES + 1]);
        assert_eq!(ids(&journal), ["b", "c", "d", "huge"]);
        assert_eq!(journal.requests().all()[3].content(), b"");
    }

    #[test]
    fn journal_that_is_off_records_nothing() {
        let journal = Journal::new(0);
        record(&journal, "a", b"{}");
        assert!(journal.requests().is_empty());
    }
}
