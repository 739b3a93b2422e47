//! What the server was asked, and how it answered: the latest requests, for tests.
//!
//! ```text
//! endpoint -> Entry (notes what becomes known) --dropped--> ring of records --shared--> Requests -> filters, expectations
//! ```
//! Records keep bytes; what is in them is decoded when somebody looks. Neither signatures nor keys are kept. A
//! server without a journal pays a branch a request.

mod brief;
mod content;
mod entry;
mod named;
mod record;
mod requests;
mod ring;
mod times;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

pub(crate) use entry::Entry;
pub use record::{Ending, NotThisInput, RecordedRequest};
pub(crate) use requests::Latest;
pub use requests::Requests;
use ring::Ring;
pub use times::Times;

/// How many requests are kept, unless somebody says otherwise.
pub(crate) const DEFAULT_CAPACITY: usize = 1000;

/// The latest requests.
#[derive(Debug)]
pub(crate) struct Journal {
    capacity: usize,
    /// Every request locks it. Records are made before and shared after, so that nothing is copied under the lock;
    /// nothing else is locked meanwhile.
    ring: Mutex<Ring>,
    generation: AtomicU64,
}

impl Journal {
    /// A journal of at most so many requests; with 0 it records nothing.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, ring: Mutex::default(), generation: AtomicU64::new(0) }
    }

    /// Whether anything is recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// All that is there, in the order of their answers.
    pub(crate) fn requests(&self) -> Requests {
        let all = self.ring.lock().all();
        Requests::new(all)
    }

    /// As [`clear`](Self::clear); what is under way is not recorded either.
    pub(crate) fn reset(&self) {
        let mut ring = self.ring.lock();
        self.generation.fetch_add(1, Ordering::Relaxed);
        let taken = ring.take();
        drop(ring);
        drop(taken);
    }

    /// Changes with every reset.
    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Forgets all, and says how many that were.
    pub(crate) fn clear(&self) -> usize {
        let taken = self.ring.lock().take();
        taken.len()
    }

    /// Records a request that began in that generation.
    fn record(&self, request: RecordedRequest, generation: u64) {
        let record = Arc::new(request);
        let mut ring = self.ring.lock();
        if generation == self.generation() {
            ring.push(record, self.capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use sqs_client::wire::protocol::Protocol;

    use super::ring::MAX_BYTES;
    use super::*;
    use crate::service::clock::Clock;

    fn record(journal: &Journal, id: &str, content: &[u8]) {
        Entry::open(journal, &Clock::real(), id, Protocol::AwsJson, "/", content)
            .answered(Some(StatusCode::OK));
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
        let third = vec![b'x'; MAX_BYTES / 3 - 9];
        for id in ["a", "b", "c", "d"] {
            record(&journal, id, &third);
        }
        assert_eq!(ids(&journal), ["b", "c", "d"]);
        record(&journal, "huge", &vec![b'x'; MAX_BYTES + 1]);
        assert_eq!(ids(&journal), ["b", "c", "d", "huge"]);
        assert_eq!(journal.requests().all()[3].content(), b"");
    }

    #[test]
    fn two_looks_share_the_records() {
        let journal = Journal::new(1);
        record(&journal, "a", b"{}");
        let (one, other) = (journal.requests(), journal.requests());
        assert!(Arc::ptr_eq(&one.all()[0], &other.all()[0]));
        record(&journal, "b", b"{}");
        assert_eq!(one.all()[0].request_id(), "a", "a record outlives its place in the journal");
    }

    #[test]
    fn journal_that_is_off_records_nothing() {
        let journal = Journal::new(0);
        record(&journal, "a", b"{}");
        assert!(journal.requests().is_empty());
    }
}
