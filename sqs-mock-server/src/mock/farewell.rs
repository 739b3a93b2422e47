//! The end of a server: what is left is verified, and a test that fails learns how to repeat it.

use std::fmt;

use super::{Leftovers, MockSqs};
use crate::sqs::journal::Latest;

/// How many requests a test that fails prints.
const LAST_REQUESTS: usize = 10;

impl MockSqs {
    /// Looks whether messages are left in the queues of any account and region, by the rules of
    /// [`verify_on_drop`](super::MockSqsBuilder::verify_on_drop), or, without those, whether there is any at all.
    ///
    /// # Errors
    /// There are some. The error shows them queue by queue.
    pub fn verify(&self) -> Result<(), Leftovers> {
        self.verification.clone().unwrap_or_default().verify(&self.service)
    }
}

impl Drop for MockSqs {
    /// Clients without a socket share the endpoint, and move tasks the queues: both would outlive the server.
    /// While a test fails, this prints the seed and the latest requests; else it verifies, when that was asked for.
    fn drop(&mut self) {
        self.services.sqs.shut_down();
        if std::thread::panicking() {
            eprint!("{}", LastWords(self));
        } else if let Some(Err(leftovers)) =
            self.verification.as_ref().map(|rules| rules.verify(&self.service))
        {
            panic!("sqs-mock-server: {leftovers}");
        }
    }
}

/// What a test that fails wants to know of its server.
struct LastWords<'s>(&'s MockSqs);

impl fmt::Display for LastWords<'_> {
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
