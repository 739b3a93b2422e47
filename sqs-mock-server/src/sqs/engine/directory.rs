//! The queues of one account in one region.
//!
//! `C` is the value that the owner keeps for each queue, such as the queue behind its lock. A directory does not look
//! into it: no operation needs the lock of a queue and that of its directory at once.
//!
//! Names of deleted queues, which AWS does not let reuse for 60 seconds.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::control::clock::Timestamp;
use crate::sqs::engine::Settings;

/// Queues by name, sorted for listing, with their dead-letter relations.
#[derive(Debug)]
pub(crate) struct QueueDirectory<C> {
    settings: Settings,
    queues: HashMap<Arc<str>, Entry<C>>,
    names: BTreeSet<Arc<str>>,
    /// Names of source queues by the name of their dead-letter queue, which need not exist.
    sources: HashMap<Box<str>, BTreeSet<Arc<str>>>,
    blocked: Blocked,
    deletions: u64,
}

#[derive(Debug)]
struct Entry<C> {
    cell: Arc<C>,
    dead_letter_queue: Option<Box<str>>,
}

/// A page of a list of names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Page {
    /// The names, sorted.
    pub names: Vec<Arc<str>>,
    /// Whether more names follow.
    pub more: bool,
}

impl<C> QueueDirectory<C> {
    /// An empty directory. Its first queue has the incarnation `deletions`, as if this many queues had been deleted.
    pub(crate) fn after(deletions: u64, settings: Settings) -> Self {
        Self {
            settings,
            queues: HashMap::new(),
            names: BTreeSet::new(),
            sources: HashMap::new(),
            blocked: Blocked::default(),
            deletions,
        }
    }

    /// Whether there are no queues.
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Number of deleted queues.
    pub(crate) fn deletions(&self) -> u64 {
        self.deletions
    }

    /// All queues, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<C>> {
        self.queues.values().map(|entry| &entry.cell)
    }

    /// The queue of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<C>> {
        self.queues.get(name).map(|entry| &entry.cell)
    }

    /// The error of AWS if a queue of this name was deleted less than 60 seconds ago.
    pub(crate) fn too_soon_to_create(&self, now: Timestamp, name: &str) -> Option<ServiceError> {
        if !self.blocked.has(now, name) {
            return None;
        }
        let text = "You must wait 60 seconds after deleting a queue before you can create another with the same name.";
        Some(ServiceError::new(ErrorCode::QueueDeletedRecently, text))
    }

    /// Creates the queue of a name, or returns the one that exists. `make` receives a number for
    /// [`Seed::of_queue`](crate::control::seed::Seed::of_queue).
    ///
    /// # Errors
    /// `QueueDeletedRecently` within 60 seconds of a delete, if the one-minute rules hold.
    pub(crate) fn create(
        &mut self,
        now: Timestamp,
        name: &str,
        make: impl FnOnce(u64) -> C,
    ) -> Result<Option<Arc<C>>, ServiceError> {
        if let Some(cell) = self.get(name) {
            return Ok(Some(Arc::clone(cell)));
        }
        if self.settings.one_minute_rules {
            self.too_soon_to_create(now, name).map_or(Ok(()), Err)?;
        }
        self.blocked.unblock(name);
        let cell = Arc::new(make(self.deletions));
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        self.queues.insert(name, Entry { cell, dead_letter_queue: None });
        Ok(None)
    }

    /// Adds a queue of an earlier process.
    #[cfg(feature = "durable")]
    pub(crate) fn restore(&mut self, name: &str, cell: C) {
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        self.queues.insert(name, Entry { cell: Arc::new(cell), dead_letter_queue: None });
    }

    /// Blocks the name of a queue that an earlier process deleted.
    #[cfg(feature = "durable")]
    pub(crate) fn restore_deletion(&mut self, deleted: Timestamp, name: &str) {
        self.blocked.block(deleted, name.into());
    }

    /// Ends the block of a name.
    #[cfg(feature = "durable")]
    pub(crate) fn unblock(&mut self, name: &str) {
        self.blocked.unblock(name);
    }

    /// Removes a queue. The caller must [`close`](crate::sqs::engine::queue::Queue::close) it.
    pub(crate) fn delete(&mut self, now: Timestamp, name: &str) -> Option<Arc<C>> {
        self.set_dead_letter_queue(name, None);
        let (name, entry) = self.queues.remove_entry(name)?;
        self.names.remove(&name);
        self.deletions += 1;
        self.blocked.block(now, name);
        Some(entry.cell)
    }

    /// Names that start with `prefix` and sort after `after`.
    pub(crate) fn list(&self, prefix: &str, after: Option<&str>, at_most: usize) -> Page {
        page(&self.names, prefix, after, at_most)
    }

    /// Sets or removes the dead-letter queue of `source`.
    pub(crate) fn set_dead_letter_queue(&mut self, source: &str, target: Option<&str>) {
        let Some((name, _)) = self.queues.get_key_value(source) else {
            return;
        };
        let name = Arc::clone(name);
        let Some(entry) = self.queues.get_mut(source) else {
            return;
        };
        let old = std::mem::replace(&mut entry.dead_letter_queue, target.map(Box::from));
        if let Some(old) = old
            && let Some(sources) = self.sources.get_mut(&old)
        {
            sources.remove(&name);
            if sources.is_empty() {
                self.sources.remove(&old);
            }
        }
        if let Some(target) = target {
            self.sources.entry(target.into()).or_default().insert(name);
        }
    }

    /// Whether another queue has this one as its dead-letter queue.
    pub(crate) fn is_dead_letter_queue(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }

    /// Names of the queues whose dead-letter queue is `target`, sorted after `after`.
    pub(crate) fn sources_of(&self, target: &str, after: Option<&str>, at_most: usize) -> Page {
        self.sources.get(target).map(|names| page(names, "", after, at_most)).unwrap_or_default()
    }
}

fn page(names: &BTreeSet<Arc<str>>, prefix: &str, after: Option<&str>, at_most: usize) -> Page {
    let start = match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    };
    let mut matching =
        names.range::<str, _>((start, Bound::Unbounded)).take_while(|name| name.starts_with(prefix));
    let names: Vec<_> = matching.by_ref().take(at_most).cloned().collect();
    Page { more: matching.next().is_some(), names }
}

/// Maximum number of blocked names. Beyond it, the oldest become free early: a stopped clock never frees any.
const MAX_NAMES: usize = 100_000;

/// How long the name of a deleted queue is blocked.
pub(crate) const COOL_DOWN: Duration = Duration::from_secs(limits::DELETE_COOLDOWN_SECONDS);

#[derive(Debug, Default)]
pub(crate) struct Blocked {
    since: HashMap<Arc<str>, Timestamp>,
    /// Oldest first. A name that was blocked twice is listed twice.
    in_order: VecDeque<(Timestamp, Arc<str>)>,
}

impl Blocked {
    /// Blocks a name for 60 seconds.
    pub(crate) fn block(&mut self, now: Timestamp, name: Arc<str>) {
        self.since.insert(Arc::clone(&name), now);
        self.in_order.push_back((now, name));
        while let Some((since, name)) = self.in_order.front()
            && (*since + COOL_DOWN <= now || self.in_order.len() > MAX_NAMES)
        {
            if self.since.get(name) == Some(since) {
                self.since.remove(name);
            }
            self.in_order.pop_front();
        }
    }

    /// Ends the block of a name.
    pub(crate) fn unblock(&mut self, name: &str) {
        self.since.remove(name);
    }

    /// Whether a name is blocked.
    fn has(&self, now: Timestamp, name: &str) -> bool {
        self.since.get(name).is_some_and(|since| now < *since + COOL_DOWN)
    }
}

#[cfg(test)]
mod directory_tests {
    use std::time::Duration;

    use sqs_client::wire::service_error::ErrorCode;

    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn directory(one_minute_rules: bool) -> QueueDirectory<u64> {
        QueueDirectory::after(0, Settings { one_minute_rules, ..Settings::default() })
    }

    fn with(names: &[&str]) -> QueueDirectory<u64> {
        let mut directory = directory(true);
        for name in names {
            directory.create(START, name, |number| number).unwrap();
        }
        directory
    }

    fn names(page: &Page) -> Vec<&str> {
        page.names.iter().map(|name| &**name).collect()
    }

    #[test]
    fn repeated_create_returns_the_existing_queue() {
        let mut directory = directory(true);
        assert!(matches!(directory.create(START, "a", |_| 7), Ok(None)));
        let Ok(Some(existing)) = directory.create(START, "a", |_| 8) else { panic!("new") };
        assert!(directory.get("a").is_some_and(|cell| Arc::ptr_eq(cell, &existing) && **cell == 7));
        assert!(directory.get("b").is_none());
    }

    #[test]
    fn deleted_name_is_blocked_for_sixty_seconds() {
        let mut directory = with(&["a"]);
        assert!(directory.delete(START, "a").is_some());
        assert!(directory.delete(START, "a").is_none());
        let error = directory.create(START + Duration::from_millis(59_999), "a", |_| 0).unwrap_err();
        assert_eq!(error.code, ErrorCode::QueueDeletedRecently);
        assert!(directory.create(START, "b", |_| 0).is_ok());
        assert!(directory.create(START + Duration::from_mins(1), "a", |_| 0).is_ok());
    }

    #[test]
    fn second_deletion_blocks_the_name_for_sixty_seconds_again() {
        let mut directory = with(&["a"]);
        directory.delete(START, "a");
        directory.create(START + Duration::from_mins(1), "a", |_| 0).unwrap();
        directory.delete(START + Duration::from_mins(1), "a");
        assert!(directory.create(START + Duration::from_secs(119), "a", |_| 0).is_err());
        assert!(directory.create(START + Duration::from_mins(2), "a", |_| 0).is_ok());
    }

    #[test]
    fn without_the_rule_a_name_is_free_at_once_and_what_aws_would_answer_is_known_until_then() {
        let mut directory = directory(false);
        directory.create(START, "a", |_| 0).unwrap();
        assert!(directory.too_soon_to_create(START, "a").is_none());
        directory.delete(START, "a");
        let error = directory.too_soon_to_create(START, "a").unwrap();
        assert_eq!(error.code, ErrorCode::QueueDeletedRecently);
        assert!(matches!(directory.create(START, "a", |_| 0), Ok(None)));
        assert!(directory.too_soon_to_create(START, "a").is_none());
    }

    #[test]
    fn queue_created_after_a_delete_gets_another_number() {
        let mut directory = directory(false);
        let numbers = [0, 1].map(|_| {
            assert!(matches!(directory.create(START, "a", |number| number), Ok(None)));
            directory.delete(START, "a").map(|cell| *cell)
        });
        assert_ne!(numbers[0], numbers[1]);
    }

    #[test]
    fn names_are_listed_in_order_and_by_prefix() {
        let directory = with(&["b-2", "a", "b-1", "c", "b-3"]);
        assert_eq!(names(&directory.list("", None, 10)), ["a", "b-1", "b-2", "b-3", "c"]);
        assert_eq!(names(&directory.list("b-", None, 10)), ["b-1", "b-2", "b-3"]);
        assert!(directory.list("x", None, 10).names.is_empty());
    }

    #[test]
    fn list_continues_after_the_last_name() {
        let directory = with(&["a", "b-1", "b-2", "b-3", "c"]);
        let page = directory.list("b", None, 2);
        assert_eq!((names(&page), page.more), (vec!["b-1", "b-2"], true));
        let page = directory.list("b", Some("b-2"), 2);
        assert_eq!((names(&page), page.more), (vec!["b-3"], false));
        assert_eq!(names(&directory.list("b", Some("a"), 1)), ["b-1"]);
    }

    #[test]
    fn dead_letter_queue_lists_its_sources() {
        let mut directory = with(&["a", "b", "dead"]);
        directory.set_dead_letter_queue("a", Some("dead"));
        directory.set_dead_letter_queue("b", Some("dead"));
        assert!(directory.is_dead_letter_queue("dead"));
        assert_eq!(names(&directory.sources_of("dead", None, 10)), ["a", "b"]);
        directory.set_dead_letter_queue("a", Some("other"));
        directory.delete(START, "b");
        assert!(!directory.is_dead_letter_queue("dead"));
        assert_eq!(names(&directory.sources_of("other", None, 10)), ["a"]);
        directory.set_dead_letter_queue("never", Some("dead"));
        assert!(directory.sources_of("dead", None, 10).names.is_empty());
    }
}

#[cfg(test)]
mod blocked_tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    #[test]
    fn number_of_names_is_bounded_while_the_clock_is_stopped() {
        let mut blocked = Blocked::default();
        for number in 0..=MAX_NAMES {
            blocked.block(START, number.to_string().into());
        }
        assert_eq!((blocked.since.len(), blocked.in_order.len()), (MAX_NAMES, MAX_NAMES));
        assert!(!blocked.has(START, "0"));
        assert!(blocked.has(START, "1"));
    }

    #[test]
    fn names_are_forgotten_after_sixty_seconds() {
        let mut blocked = Blocked::default();
        blocked.block(START, "a".into());
        blocked.block(START + COOL_DOWN, "b".into());
        assert_eq!((blocked.since.len(), blocked.in_order.len()), (1, 1));
    }
}
