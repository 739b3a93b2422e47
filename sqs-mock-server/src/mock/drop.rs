//! Drop of a server: verifies leftover messages, and reports seed and requests if a test fails.

use std::fmt;

use super::{Leftovers, MockSqs};
use crate::sqs::journal::Latest;

/// The number of requests in the report of a failing test.
const LAST_REQUESTS: usize = 10;

impl MockSqs {
    /// Checks for leftover messages in the queues of all accounts and regions. Applies the rules of
    /// [`verify_on_drop`](super::MockSqsBuilder::verify_on_drop); without them, any message is an error. Each queue is
    /// read as by [`QueueView::messages`](crate::QueueView::messages).
    ///
    /// # Errors
    /// There are leftover messages. The error lists them by queue.
    pub fn verify(&self) -> Result<(), Leftovers> {
        self.verification.clone().unwrap_or_default().verify(&self.service)
    }
}

impl Drop for MockSqs {
    /// Shuts down first, since clients without a socket share the endpoint, and move tasks share the queues: both would
    /// outlive the server.
    ///
    /// During a panic, this prints the seed and the latest requests. Otherwise it verifies leftover messages if
    /// `verify_on_drop` was set.
    fn drop(&mut self) {
        self.services.sqs.service().shut_down();
        if std::thread::panicking() {
            eprint!("{}", FailureReport(self));
        } else if let Some(Err(leftovers)) =
            self.verification.as_ref().map(|rules| rules.verify(&self.service))
        {
            panic!("sqs-mock-server: {leftovers}");
        }
    }
}

/// The seed and the latest requests, for the output of a failing test.
struct FailureReport<'s>(&'s MockSqs);

impl fmt::Display for FailureReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = self.0.service.seed();
        writeln!(f, "sqs-mock-server: seed {seed}; repeat with MockSqs::builder().seed({seed})")?;
        let requests = self.0.requests();
        if requests.is_empty() {
            return Ok(());
        }
        writeln!(f, "the latest requests:")?;
        Latest { requests: requests.all(), rows: LAST_REQUESTS }.fmt(f)
    }
}
