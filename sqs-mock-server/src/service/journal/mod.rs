//! The latest requests to the services of a server, for tests.
//!
//! ```text
//! request -> PendingRecord -> drop: Record -> ring, shared by all services -> a view of each service
//! ```
//! Records keep the input as bytes, without signatures and keys; views decode it. A server without a journal pays one
//! branch per request.

mod content;
mod log;
mod pending;
mod record;
mod ring;

pub(crate) use log::Journal;
pub(crate) use pending::{Input, PendingRecord};
pub use record::Ending;
pub(crate) use record::{Caller, Record};

/// The default capacity.
pub(crate) const DEFAULT_CAPACITY: usize = 1000;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::StatusCode;
    use sqs_client::wire::protocol::Protocol;

    use super::ring::MAX_BYTES;
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
}
