//! Finds and deletes objects that no message needs any more, and uploads that never became objects.

mod limits;
mod orphan;
mod pages;
mod report;
mod run;

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::wire::limits::RETENTION_SECONDS;

use crate::client::ExtendedClient;
use crate::error::Error;
use crate::queue_facts;
use crate::store::{Listed, PayloadStore, Unfinished};

pub use limits::{SWEEP_MARGIN, SWEEP_UNFINISHED_AGE};
use limits::{check_objects, unfinished_age};
use orphan::{Verdict, judge};
pub use report::{SweepProgress, SweepReport};

type Callback<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// A search for objects of the own bucket that no message needs any more, page by page; and for uploads in parts that a
/// process has begun and never ended, whose parts take room and are in no listing of objects.
///
/// The store does not know which messages there are, so age decides: a queue keeps no message for longer than its retention
/// period. Objects are older than their messages, though: S3 dates an object that was uploaded in parts from the beginning
/// of its upload, a message is sent after that, and clocks differ. `older_than` must therefore not be less than the longest
/// retention period of all queues that use the bucket and [a day](SWEEP_MARGIN) more: 15 days, unless
/// [`queues`](Self::queues) are named, which are asked. Where FIFO queues have dead-letter queues, or messages are moved back
/// from those, a message begins a new period: add the periods up. Where uploads take longer than a day, add that too.
///
/// Uploads that never ended are as old as objects before they are ended, and at least [seven days](SWEEP_UNFINISHED_AGE):
/// one that is younger may be under way ([`unfinished_older_than`](Self::unfinished_older_than)).
///
/// Only objects and uploads whose keys end in a UUID are looked at, as those of all the libraries do. Nothing is deleted unless
/// [`delete`](Self::delete) is said: look first.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let client = sqs_extended::ExtendedClient::new(server.client(), sqs_extended::MemoryStore::new("payloads"));
/// use std::time::Duration;
///
/// let report = client.sweep("orders/", Duration::from_secs(15 * 86_400)).run().await?;
/// println!("{} orphans", report.progress.orphans);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Sweep<S: PayloadStore, H> {
    client: ExtendedClient<S, H>,
    prefix: String,
    older_than: Duration,
    queues: Vec<String>,
    deletes: bool,
    objects_only: bool,
    unfinished_age: Option<Duration>,
    on_orphan: Option<Callback<Listed>>,
    on_unfinished: Option<Callback<Unfinished>>,
    on_progress: Option<Callback<SweepProgress>>,
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Looks for objects of the own bucket whose keys begin with `prefix` and that are older than any message: at least 15
    /// days, unless [`queues`](Sweep::queues) are named that keep messages for less than 14.
    pub fn sweep(&self, prefix: impl Into<String>, older_than: Duration) -> Sweep<S, H> {
        Sweep {
            client: self.clone(),
            prefix: prefix.into(),
            older_than,
            queues: Vec::new(),
            deletes: false,
            objects_only: false,
            unfinished_age: None,
            on_orphan: None,
            on_unfinished: None,
            on_progress: None,
        }
    }
}

impl<S: PayloadStore, H: Execute> Sweep<S, H> {
    /// The URLs of all queues whose messages have their payloads in the bucket, dead-letter queues included: they are asked for
    /// their retention periods, which may be shorter than 14 days.
    pub fn queues(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queues.extend(urls.into_iter().map(Into::into));
        self
    }

    /// Deletes the objects that are found, and ends the uploads.
    pub fn delete(mut self) -> Self {
        self.deletes = true;
        self
    }

    /// Is told about each orphan, before it is deleted.
    pub fn on_orphan(mut self, callback: impl Fn(&Listed) + Send + Sync + 'static) -> Self {
        self.on_orphan = Some(Arc::new(callback));
        self
    }

    /// Leaves uploads alone that never ended: for credentials without `s3:ListBucketMultipartUploads`, and for services that do
    /// not list them.
    pub fn objects_only(mut self) -> Self {
        self.objects_only = true;
        self
    }

    /// From which age on uploads that never ended are looked at: [seven days](SWEEP_UNFINISHED_AGE) or more. By default that
    /// of objects, but not less than seven days. It has to be longer than any upload takes.
    pub fn unfinished_older_than(mut self, age: Duration) -> Self {
        self.unfinished_age = Some(age);
        self
    }

    /// Is told about each upload that never ended, before it is.
    pub fn on_unfinished(mut self, callback: impl Fn(&Unfinished) + Send + Sync + 'static) -> Self {
        self.on_unfinished = Some(Arc::new(callback));
        self
    }

    /// Is told after each page of objects, and of uploads.
    pub fn on_progress(mut self, callback: impl Fn(&SweepProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(callback));
        self
    }

    /// Refuses ages at which something may be in use, and says from which age on uploads are not.
    async fn check(&self) -> Result<Duration, Error> {
        let longest = Duration::from_secs(u64::try_from(*RETENTION_SECONDS.end()).unwrap_or(u64::MAX));
        let mut retention = if self.queues.is_empty() { longest } else { Duration::ZERO };
        for url in &self.queues {
            let facts = queue_facts::ask(&self.client.inner, url).await.map_err(Error::below)?;
            retention = retention.max(facts.retention.unwrap_or(longest));
        }
        check_objects(self.older_than, retention)?;
        unfinished_age(self.unfinished_age, self.older_than)
    }
}
