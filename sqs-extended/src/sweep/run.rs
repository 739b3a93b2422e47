//! Runs a sweep over all pages of a listing.

use std::pin::pin;

use futures_util::{StreamExt as _, stream};
use sqs_client::client::Execute;

use super::rules::{Verdict, check_prefix, judge};
use super::{Sweep, SweepReport};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::{Listed, TOKEN_METADATA};

impl<H: Execute> Sweep<H> {
    /// Examines all objects.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the prefix is empty or the age is too small; an error of SQS if the attributes of a
    /// queue cannot be read; an error of the store if the bucket cannot be listed. Orphans that were found before have
    /// been passed to the callbacks. Objects that cannot be read or deleted are counted instead.
    ///
    /// # Cancel safety
    /// You can drop the future at any time, and start again.
    pub async fn run(self) -> Result<SweepReport, Error> {
        check_prefix(&self.prefix)?;
        self.check_age().await?;
        let store = &self.client.shared.store;
        let (mut report, mut page) = (SweepReport::default(), None);
        loop {
            let listed = store.list(store.bucket(), &self.prefix, page.as_deref()).await?;
            self.sweep_page(listed.objects, &mut report).await;
            if let Some(callback) = &self.on_progress {
                callback(&report.progress);
            }
            if listed.next.is_none() {
                return Ok(report);
            }
            if listed.next == page {
                let text = format!("listing {:?}: the store returned the same page twice", store.bucket());
                return Err(Error::new(ErrorKind::Rejected, text));
            }
            page = listed.next;
        }
    }

    async fn sweep_page(&self, objects: Vec<Listed>, report: &mut SweepReport) {
        let now = self.client.shared.settings.time_source.now();
        let mut old = Vec::new();
        for object in objects {
            report.progress.examined += 1;
            match judge(&object.key, object.modified, now, self.older_than) {
                Verdict::Foreign => report.progress.foreign += 1,
                Verdict::Young => {}
                Verdict::Old => old.push(object),
            }
        }
        let sweeping = stream::iter(old).map(|object| self.sweep_object(object));
        let mut swept = pin!(sweeping.buffered(self.client.shared.settings.concurrency));
        while let Some((object, outcome)) = swept.next().await {
            match outcome {
                Ok(Outcome::Foreign) => report.progress.foreign += 1,
                Ok(Outcome::Found) => report.orphan(&object),
                Ok(Outcome::Deleted) => {
                    report.orphan(&object);
                    report.progress.deleted += 1;
                }
                Err(error) => report.failed(error),
            }
        }
    }

    async fn sweep_object(&self, object: Listed) -> (Listed, Result<Outcome, Error>) {
        let store = &self.client.shared.store;
        let at = Pointer::new(store.bucket(), &object.key);
        match self.is_ours(&at, object.length).await {
            Ok(true) => {}
            Ok(false) => return (object, Ok(Outcome::Foreign)),
            Err(error) => return (object, Err(error)),
        }
        if let Some(callback) = &self.on_orphan {
            callback(&object);
        }
        if !self.deletes {
            return (object, Ok(Outcome::Found));
        }
        let deleted = store.delete(&at).await;
        (object, deleted.map(|()| Outcome::Deleted))
    }

    /// Whether an object has the mark of this crate, or does not need it.
    async fn is_ours(&self, at: &Pointer, length: u64) -> Result<bool, Error> {
        if self.takes_unmarked {
            return Ok(true);
        }
        // An empty object has no byte for a range.
        let range = (length > 0).then_some(0..1);
        let object = self.client.shared.store.get(at, range, None).await?;
        Ok(object.metadata.contains_key(TOKEN_METADATA))
    }
}

/// What happened to an old object.
enum Outcome {
    Foreign,
    Found,
    Deleted,
}
