//! Finds and deletes objects that no message needs.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt as _, stream};
use sqs_client::client::Execute;
use sqs_client::wire::limits::RETENTION_SECONDS;

use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::format::pointer::{Pointer, ends_with_uuid};
use crate::queue_attributes;
use crate::queue_attributes::QueueAttributes;
use crate::store::{Listed, TOKEN_METADATA};

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
        check_age(self.older_than, lifetime)
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

/// Orphans that a report lists.
const LISTED: usize = 1_000;

/// The progress of a sweep.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SweepProgress {
    /// Objects that were examined.
    pub examined: u64,
    /// Objects that other programs wrote: their keys do not end in a UUID, or they lack the mark of this crate. They are kept.
    pub foreign: u64,
    /// Objects that no message needs.
    pub orphans: u64,
    /// The total bytes of the orphans.
    pub orphaned_bytes: u64,
    /// Orphans that were deleted.
    pub deleted: u64,
    /// Old objects whose mark could not be read, and orphans that could not be deleted.
    pub failed: u64,
}

/// The result of a sweep.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SweepReport {
    /// Counts over all pages.
    pub progress: SweepProgress,
    /// The first 1,000 orphans by key; [`on_orphan`](Sweep::on_orphan) gets all.
    pub orphans: Vec<Listed>,
    /// The first error of an object.
    pub first_error: Option<Error>,
}

impl SweepReport {
    pub(crate) fn orphan(&mut self, object: &Listed) {
        self.progress.orphans += 1;
        self.progress.orphaned_bytes = self.progress.orphaned_bytes.saturating_add(object.length);
        if self.orphans.len() < LISTED {
            self.orphans.push(object.clone());
        }
    }

    pub(crate) fn failed(&mut self, error: Error) {
        self.progress.failed += 1;
        self.first_error.get_or_insert(error);
    }
}

/// How much older than any message an object must be: one day.
///
/// An object is older than its message. S3 dates an object that was uploaded in parts from the [start of its
/// upload](https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html). Its message is sent after the
/// upload, perhaps after retries, and clocks differ. If uploads take longer than a day, use a larger age.
pub const SWEEP_MARGIN: Duration = Duration::from_secs(86_400);

/// The classification of an object by key and age.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Its key does not end in a UUID.
    Foreign,
    /// A message may need it.
    Young,
    /// No message can need it.
    Old,
}

/// An object that is exactly as old as `older_than` is young.
pub(crate) fn judge(key: &str, written: SystemTime, now: SystemTime, older_than: Duration) -> Verdict {
    if !ends_with_uuid(key) {
        return Verdict::Foreign;
    }
    // An object from the future is new.
    let age = now.duration_since(written).unwrap_or_default();
    if age > older_than { Verdict::Old } else { Verdict::Young }
}

/// Rejects an age at which a message may need the object. `lifetime` is that of a message.
pub(crate) fn check_age(older_than: Duration, lifetime: Duration) -> Result<(), Error> {
    let least = lifetime.saturating_add(SWEEP_MARGIN);
    if older_than >= least {
        return Ok(());
    }
    let text = format!(
        "a sweep of objects older than {} s could delete payloads of live messages: at least {} s are needed, the time that \
         a message may live ({} s) and a day (queues(..) reads the retention periods of your queues)",
        older_than.as_secs(),
        least.as_secs(),
        lifetime.as_secs()
    );
    Err(Error::new(ErrorKind::Config, text))
}

/// Rejects an empty prefix: other programs may use the bucket.
pub(crate) fn check_prefix(prefix: &str) -> Result<(), Error> {
    if prefix.is_empty() {
        let text = "a sweep needs a key prefix, since other programs may use the bucket; \"\" is not allowed";
        return Err(Error::new(ErrorKind::Config, text));
    }
    Ok(())
}

/// What happened to an old object.
enum Outcome {
    Foreign,
    Found,
    Deleted,
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "01234567-89ab-4cde-8f01-23456789ABCD";

    const DAY: Duration = Duration::from_secs(86_400);

    fn verdict(key: &str, age: u64) -> Verdict {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        judge(key, now - Duration::from_secs(age), now, Duration::from_secs(100))
    }

    #[test]
    fn only_old_objects_with_a_uuid_are_orphans() {
        assert_eq!(verdict(UUID, 101), Verdict::Old);
        assert_eq!(verdict(&format!("orders/{UUID}"), 101), Verdict::Old);
        assert_eq!(verdict(UUID, 100), Verdict::Young);
        assert_eq!(verdict("orders/readme.txt", 101), Verdict::Foreign);
        assert_eq!(verdict(&UUID[1..], 101), Verdict::Foreign);
        let soon = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
        assert_eq!(judge(UUID, soon, SystemTime::UNIX_EPOCH, Duration::ZERO), Verdict::Young);
    }

    #[test]
    fn objects_must_be_a_day_older_than_any_message() {
        assert!(check_age(15 * DAY, 14 * DAY).is_ok());
        for older_than in [14 * DAY + Duration::from_secs(86_399), 14 * DAY] {
            let error = check_age(older_than, 14 * DAY).expect_err("too young");
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("at least 1296000 s"), "{error}");
        }
        assert!(check_age(Duration::MAX, Duration::MAX).is_ok());
    }

    #[test]
    fn empty_prefix_is_rejected() {
        assert!(check_prefix("orders/").is_ok());
        assert_eq!(check_prefix("").expect_err("empty").kind(), ErrorKind::Config);
    }
}
