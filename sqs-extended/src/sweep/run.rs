//! The way through all pages: objects first, then uploads.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqs_client::client::Execute;

use super::pages::Pages;
use super::{Sweep, SweepReport, Verdict, judge};
use crate::error::Error;
use crate::pointer::Pointer;
use crate::store::{Listed, PayloadStore, Unfinished};

impl<S: PayloadStore, H: Execute> Sweep<S, H> {
    /// Looks at all pages.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) when an age is too small; what a queue says when it is asked; and
    /// [`ErrorKind::Download`](crate::ErrorKind::Download) or [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) when the
    /// bucket, or its uploads, cannot be listed to the end: also when a store names the same page again and again. What was
    /// found before was told to the callbacks. Deletes that fail are counted.
    ///
    /// # Cancel safety
    /// It can be dropped between any two objects, and begun again.
    pub async fn run(self) -> Result<SweepReport, Error> {
        let unfinished_age = self.check().await?;
        let mut report = SweepReport::default();
        self.sweep_objects(&mut report).await?;
        if !self.objects_only {
            self.sweep_uploads(unfinished_age, &mut report).await?;
        }
        Ok(report)
    }

    async fn sweep_objects(&self, report: &mut SweepReport) -> Result<(), Error> {
        let store = &self.client.shared.store;
        let (bucket, prefix, mut pages) = (store.bucket(), &self.prefix, Pages::default());
        let failed = |error| Error::listing(bucket, prefix, error);
        loop {
            let page = store.list(bucket, prefix, pages.current()).await.map_err(failed)?;
            self.sweep_page(page.objects, report).await;
            self.tell_progress(report);
            let Some(next) = page.next else { return Ok(()) };
            pages.turn(next).map_err(failed)?;
        }
    }

    async fn sweep_uploads(&self, age: Duration, report: &mut SweepReport) -> Result<(), Error> {
        let store = &self.client.shared.store;
        let (bucket, prefix, mut pages) = (store.bucket(), &self.prefix, Pages::default());
        let failed = |error| Error::listing_unfinished(bucket, prefix, error);
        loop {
            let page = store.list_unfinished(bucket, prefix, pages.current()).await.map_err(failed)?;
            if !page.uploads.is_empty() {
                self.end_page(page.uploads, age, report).await;
                self.tell_progress(report);
            }
            let Some(next) = page.next else { return Ok(()) };
            pages.turn(next).map_err(failed)?;
        }
    }

    async fn sweep_page(&self, objects: Vec<Listed>, report: &mut SweepReport) {
        let (settings, store) = (&self.client.shared.settings, &self.client.shared.store);
        let now = settings.time_source.now();
        let mut orphans = Vec::new();
        for object in objects {
            let verdict = judge(&object.key, object.modified, now, self.older_than);
            report.saw(&object, verdict);
            if verdict == Verdict::Orphan {
                if let Some(callback) = &self.on_orphan {
                    callback(&object);
                }
                orphans.push(object);
            }
        }
        if self.deletes {
            let deletes = stream::iter(&orphans)
                .map(async |orphan| store.delete(&Pointer::new(store.bucket(), &orphan.key)).await);
            let mut results = std::pin::pin!(deletes.buffer_unordered(settings.concurrency));
            while let Some(result) = results.next().await {
                report.deleted(result);
            }
        }
        report.keep(orphans);
    }

    /// What is younger than `age` may be under way: nothing else says whether it is.
    async fn end_page(&self, mut uploads: Vec<Unfinished>, age: Duration, report: &mut SweepReport) {
        let (settings, store) = (&self.client.shared.settings, &self.client.shared.store);
        let now = settings.time_source.now();
        let is_old = |upload: &Unfinished| judge(&upload.key, upload.initiated, now, age);
        uploads.retain(|upload| is_old(upload) == Verdict::Orphan);
        if let Some(callback) = &self.on_unfinished {
            for upload in &uploads {
                callback(upload);
            }
        }
        if self.deletes {
            let aborts = stream::iter(&uploads).map(async |upload| {
                store.abort_unfinished(&Pointer::new(store.bucket(), &upload.key), &upload.id).await
            });
            let mut results = std::pin::pin!(aborts.buffer_unordered(settings.concurrency));
            while let Some(result) = results.next().await {
                report.aborted(result);
            }
        }
        report.keep_unfinished(uploads);
    }

    fn tell_progress(&self, report: &SweepReport) {
        if let Some(callback) = &self.on_progress {
            callback(&report.progress);
        }
    }
}
