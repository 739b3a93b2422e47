//! The results of entries.

use std::collections::BTreeMap;

use crate::produce::error::SendErrorKind;

/// The results of entries: sends, deletes and visibility changes. [`close`](crate::BufferedClient::close) returns those of all
/// entries since the client was created, [`flush`](crate::BufferedClient::flush) those of the entries that it waited for.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let buffered = sqs_buffered::BufferedClient::new(client);
/// buffered.send_detached(sqs_buffered::Entry::new(&url, "one coffee")).await?;
/// let summary = buffered.close().await;
/// assert_eq!((summary.succeeded, summary.failed()), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Entries that succeeded.
    pub succeeded: u64,
    /// Entries that failed, by kind.
    pub failures: BTreeMap<SendErrorKind, u64>,
    /// Visibility changes that were not needed any more, because their messages were deleted.
    pub superseded: u64,
}

impl Summary {
    /// The number of entries that failed.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// The number of entries that ended.
    pub fn total(&self) -> u64 {
        self.succeeded + self.failed() + self.superseded
    }

    #[cfg(test)]
    pub(crate) fn of(succeeded: u64) -> Self {
        Self { succeeded, ..Self::default() }
    }

    pub(crate) fn count(&mut self, failure: Option<SendErrorKind>) {
        match failure {
            None => self.succeeded += 1,
            Some(SendErrorKind::Superseded) => self.superseded += 1,
            Some(kind) => *self.failures.entry(kind).or_default() += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.superseded += other.superseded;
        for (kind, count) in &other.failures {
            *self.failures.entry(*kind).or_default() += count;
        }
    }
}
