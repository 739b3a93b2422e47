//! The queues of one account in one region.
//!
//! `C` is what the owner keeps for each queue, such as the queue behind its lock. A directory does not look into it: no
//! operation needs the lock of a queue and that of its directory at once.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use sqs_client::wire::service_error::ServiceError;

use super::Settings;
use super::blocked::Blocked;
use crate::service::clock::Timestamp;

/// Queues by name, with an order for listing and the dead-letter relation.
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

/// Whether a queue was there before.
#[derive(Debug)]
pub(crate) enum Created<C> {
    /// It is new.
    New,
    /// It existed; its attributes have to be compared with those asked for.
    Existing(Arc<C>),
}

/// A part of a list of names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Page {
    /// The names, in order.
    pub names: Vec<Arc<str>>,
    /// Whether there are more behind the last one.
    pub more: bool,
}

impl<C> QueueDirectory<C> {
    /// An empty directory. Its queues have incarnations from `deletions` on, as if so many queues had been deleted.
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

    /// Whether there is no queue.
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// How many queues were deleted.
    pub(crate) fn deletions(&self) -> u64 {
        self.deletions
    }

    /// All queues, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<C>> {
        self.queues.values().map(|entry| &entry.cell)
    }

    /// A queue.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<C>> {
        self.queues.get(name).map(|entry| &entry.cell)
    }

    /// Gives the queue of a name, or makes one. `make` gets a number for
    /// [`Seed::of_queue`](crate::service::seed::Seed::of_queue).
    ///
    /// # Errors
    /// `QueueDeletedRecently` within 60 seconds of a delete, unless the timing is relaxed.
    pub(crate) fn create(
        &mut self,
        now: Timestamp,
        name: &str,
        make: impl FnOnce(u64) -> C,
    ) -> Result<Created<C>, ServiceError> {
        if let Some(cell) = self.get(name) {
            return Ok(Created::Existing(Arc::clone(cell)));
        }
        self.blocked.check(now, name)?;
        let cell = Arc::new(make(self.deletions));
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        self.queues.insert(name, Entry { cell, dead_letter_queue: None });
        Ok(Created::New)
    }

    /// Takes a queue out. Its [`close`](super::Queue::close) is up to the caller.
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

    /// Names that start with `prefix` and come behind `after`.
    pub(crate) fn list(&self, prefix: &str, after: Option<&str>, at_most: usize) -> Page {
        page(&self.names, prefix, after, at_most)
    }

    /// Notes where the dead letters of a queue go.
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

    /// Whether dead letters of some queue go to this one.
    pub(crate) fn is_dead_letter_queue(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }

    /// Names of the queues whose dead letters go to `target`, from behind `after` on.
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
