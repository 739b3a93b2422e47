//! The queues of one account in one region.
//!
//! `C` is the value that the owner keeps for each queue, such as the queue behind its lock. A directory does not look
//! into it: no operation needs the lock of a queue and that of its directory at once.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use sqs_client::wire::service_error::ServiceError;

use super::Settings;
use super::blocked::Blocked;
use crate::service::clock::Timestamp;

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

    /// Creates the queue of a name, or returns the one that exists. `make` receives a number for
    /// [`Seed::of_queue`](crate::service::seed::Seed::of_queue).
    ///
    /// # Errors
    /// `QueueDeletedRecently` within 60 seconds of a delete, unless the timing is relaxed.
    pub(crate) fn create(
        &mut self,
        now: Timestamp,
        name: &str,
        make: impl FnOnce(u64) -> C,
    ) -> Result<Option<Arc<C>>, ServiceError> {
        if let Some(cell) = self.get(name) {
            return Ok(Some(Arc::clone(cell)));
        }
        self.blocked.check(now, name)?;
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
        if !self.settings.relaxed_timing {
            self.blocked.block(deleted, name.into());
        }
    }

    /// Ends the block of a name.
    #[cfg(feature = "durable")]
    pub(crate) fn unblock(&mut self, name: &str) {
        self.blocked.unblock(name);
    }

    /// Removes a queue. The caller must [`close`](super::Queue::close) it.
    pub(crate) fn delete(&mut self, now: Timestamp, name: &str) -> Option<Arc<C>> {
        self.set_dead_letter_queue(name, None);
        let (name, entry) = self.queues.remove_entry(name)?;
        self.names.remove(&name);
        self.deletions += 1;
        if !self.settings.relaxed_timing {
            self.blocked.block(now, name);
        }
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

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
