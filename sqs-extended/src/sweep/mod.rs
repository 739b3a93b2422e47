//! Finds and deletes objects that no message needs.

mod report;
mod rules;
mod run;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::wire::limits::RETENTION_SECONDS;

use crate::client::ExtendedClient;
use crate::error::Error;
use crate::queue_attributes::{self, QueueAttributes};
use crate::store::Listed;

pub use report::{SweepProgress, SweepReport};
pub use rules::SWEEP_MARGIN;

type Callback<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// A search for objects of the store's bucket that no message needs.
///
/// The store does not know the messages, so a sweep decides by age. A message lives at most for the retention period of
/// its queue, plus that of each dead-letter queue behind it: FIFO queues and redrives restart the period. `older_than`
/// must be at least that time plus [a day](SWEEP_MARGIN). Without [`queues`](Self::queues), that is 29 days: twice the
/// longest retention period plus a day. **Messages that are redriven from a dead-letter queue again and again have no
/// maximum age: use a larger `older_than`.**
///
/// Only objects with a key that ends in a UUID and with the mark of this crate (metadata `sqs-extended-upload`) are
/// orphans; see [`unmarked`](Self::unmarked). Nothing is deleted without [`delete`](Self::delete): run the sweep
/// without it first.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let client = sqs_extended::ExtendedClient::new(server.client(), sqs_extended::MemoryStore::new("payloads"));
/// use std::time::Duration;
///
/// let report = client.sweep("orders/", Duration::from_secs(29 * 86_400)).run().await?;
/// println!("{} orphans", report.progress.orphans);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Sweep<H> {
    client: ExtendedClient<H>,
    prefix: String,
    older_than: Duration,
    queues: Vec<String>,
    deletes: bool,
    takes_unmarked: bool,
    on_orphan: Option<Callback<Listed>>,
    on_progress: Option<Callback<SweepProgress>>,
}

impl<H: Execute> ExtendedClient<H> {
    /// Searches the store's bucket for objects whose keys begin with `prefix`, which must not be empty, and that are older than any
    /// message.
    pub fn sweep(&self, prefix: impl Into<String>, older_than: Duration) -> Sweep<H> {
        Sweep {
            client: self.clone(),
            prefix: prefix.into(),
            older_than,
            queues: Vec::new(),
            deletes: false,
            takes_unmarked: false,
            on_orphan: None,
            on_progress: None,
        }
    }
}

impl<H: Execute> Sweep<H> {
    /// Sets the URLs of all queues with payloads in the bucket. Their retention periods, and those of the dead-letter queues behind
    /// them, may allow a smaller age.
    pub fn queues(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queues.extend(urls.into_iter().map(Into::into));
        self
    }

    /// Deletes the orphans.
    pub fn delete(mut self) -> Self {
        self.deletes = true;
        self
    }

    /// Includes objects without the mark of this crate: those of the Java and Python libraries, and of stores that keep no
    /// metadata. Make sure that no other program writes keys with this prefix that end in a UUID.
    pub fn unmarked(mut self) -> Self {
        self.takes_unmarked = true;
        self
    }

    /// Sets a function that is called for each orphan before it is deleted.
    pub fn on_orphan(mut self, callback: impl Fn(&Listed) + Send + Sync + 'static) -> Self {
        self.on_orphan = Some(Arc::new(callback));
        self
    }

    /// Sets a function that is called after each page.
    pub fn on_progress(mut self, callback: impl Fn(&SweepProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(callback));
        self
    }

    async fn check_age(&self) -> Result<(), Error> {
        let longest = Duration::from_secs(u64::try_from(*RETENTION_SECONDS.end()).unwrap_or(u64::MAX));
        let mut lifetime = if self.queues.is_empty() { 2 * longest } else { Duration::ZERO };
        for url in &self.queues {
            lifetime = lifetime.max(self.lifetime(url, longest).await?);
        }
        rules::check_age(self.older_than, lifetime)
    }

    /// How long a message of a queue may live, in that queue and in the dead-letter queues behind it.
    async fn lifetime(&self, url: &str, longest: Duration) -> Result<Duration, Error> {
        let (mut lifetime, mut next, mut seen) = (Duration::ZERO, Some(url.to_owned()), HashSet::new());
        // Queues can be each other's dead-letter queues.
        while let Some(url) = next.take().filter(|url| seen.insert(url.clone())) {
            let QueueAttributes { retention, dead_letter_queue, .. } =
                queue_attributes::ask(&self.client.inner, &url).await.map_err(Error::below)?;
            lifetime = lifetime.saturating_add(retention.unwrap_or(longest));
            if let Some(arn) = dead_letter_queue {
                next = Some(queue_attributes::url_of(&self.client.inner, &arn).await?);
            }
        }
        Ok(lifetime)
    }
}
