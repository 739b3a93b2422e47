//! Finds and deletes objects that no message needs any more.

mod orphan;
mod report;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqs_client::client::Execute;
use sqs_client::limits::RETENTION_SECONDS;

use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::queue_facts;
use crate::store::{Listed, PayloadStore};

use orphan::{Verdict, judge};
pub use report::{SweepProgress, SweepReport};

type Callback<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// A search for objects of the own bucket that no message needs any more, page by page.
///
/// The store does not know which messages there are, so age decides: a queue keeps no message for longer than its retention
/// period, and its objects are as old as its messages. `older_than` must therefore not be less than the longest retention
/// period of all queues that use the bucket: 14 days, the longest there is, unless [`queues`](Self::queues) are
/// named, which are asked. Where FIFO queues have dead-letter queues, or messages are moved back from those, a
/// message begins a new period: add the periods up.
///
/// Only objects whose keys end in a UUID are looked at, as those of all the libraries do. Nothing is deleted unless
/// [`delete`](Self::delete) is said: look first.
#[must_use]
pub struct Sweep<S: PayloadStore, H> {
    client: ExtendedClient<S, H>,
    prefix: String,
    older_than: Duration,
    queues: Vec<String>,
    deletes: bool,
    on_orphan: Option<Callback<Listed>>,
    on_progress: Option<Callback<SweepProgress>>,
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Looks for objects of the own bucket whose keys begin with `prefix` and that are older than any message.
    pub fn sweep(&self, prefix: impl Into<String>, older_than: Duration) -> Sweep<S, H> {
        Sweep {
            client: self.clone(),
            prefix: prefix.into(),
            older_than,
            queues: Vec::new(),
            deletes: false,
            on_orphan: None,
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

    /// Deletes what is found.
    pub fn delete(mut self) -> Self {
        self.deletes = true;
        self
    }

    /// Is told about each orphan, before it is deleted.
    pub fn on_orphan(mut self, callback: impl Fn(&Listed) + Send + Sync + 'static) -> Self {
        self.on_orphan = Some(Arc::new(callback));
        self
    }

    /// Is told after each page.
    pub fn on_progress(mut self, callback: impl Fn(&SweepProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(callback));
        self
    }

    /// Looks at all pages.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when `older_than` is too small; what a queue says when it is asked; and
    /// [`ErrorKind::Download`] or [`ErrorKind::Forbidden`] when the bucket cannot be listed. Deletes that
    /// fail are counted.
    ///
    /// # Cancel safety
    /// It can be dropped between any two objects, and begun again.
    pub async fn run(self) -> Result<SweepReport, Error> {
        self.check().await?;
        let shared = &self.client.shared;
        let bucket = shared.store.bucket();
        let mut report = SweepReport::default();
        let mut page = None;
        loop {
            let listed = shared.store.list(bucket, &self.prefix, page.as_deref()).await;
            let listed = listed.map_err(|error| Error::listing(bucket, &self.prefix, error))?;
            self.sweep_page(listed.objects, &mut report).await;
            if let Some(callback) = &self.on_progress {
                callback(&report.progress);
            }
            if listed.next.is_none() || listed.next == page {
                return Ok(report);
            }
            page = listed.next;
        }
    }

    async fn sweep_page(&self, objects: Vec<Listed>, report: &mut SweepReport) {
        let now = self.client.shared.settings.time_source.now();
        let mut orphans = Vec::new();
        for object in objects {
            let verdict = judge(&object, now, self.older_than);
            report.saw(&object, verdict);
            if verdict == Verdict::Orphan {
                if let Some(callback) = &self.on_orphan {
                    callback(&object);
                }
                orphans.push(object);
            }
        }
        if self.deletes {
            let store = &self.client.shared.store;
            let deleting = stream::iter(&orphans)
                .map(async |orphan| store.delete(&Pointer::new(store.bucket(), &orphan.key)).await);
            let mut results =
                std::pin::pin!(deleting.buffer_unordered(self.client.shared.settings.concurrency));
            while let Some(result) = results.next().await {
                report.deleted(result);
            }
        }
        report.keep(orphans);
    }

    async fn check(&self) -> Result<(), Error> {
        let longest = Duration::from_secs(u64::try_from(*RETENTION_SECONDS.end()).unwrap_or(u64::MAX));
        let mut least = if self.queues.is_empty() { longest } else { Duration::ZERO };
        for url in &self.queues {
            let facts = queue_facts::ask(&self.client.inner, url).await.map_err(Error::below)?;
            least = least.max(facts.retention.unwrap_or(longest));
        }
        if self.older_than >= least {
            return Ok(());
        }
        let (least, wanted) = (least.as_secs(), self.older_than.as_secs());
        let text = format!(
            "a sweep for objects older than {wanted} s could delete payloads that messages still need: queues keep messages for \
             up to {least} s, so {least} s is the least (queues(..) asks the queues that use the bucket)"
        );
        Err(Error::new(ErrorKind::Config, text))
    }
}
