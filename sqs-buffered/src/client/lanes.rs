//! The lanes of a client: one for each queue and operation.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::channel::Channel;
use crate::kind::{Delete, Kind, Send, Visibility};

/// All lanes. Locked for lookups only, never while a lane is locked.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    pub(super) sends: ByQueue<Send>,
    pub(super) deletes: ByQueue<Delete>,
    pub(super) changes: ByQueue<Visibility>,
}

/// Lanes of one operation, by the URL of the queue.
#[derive(Debug)]
pub(super) struct ByQueue<K: Kind>(RwLock<Queues<K>>);

#[derive(Debug)]
struct Queues<K: Kind> {
    by_url: HashMap<Arc<str>, Arc<Channel<K>>>,
    is_closed: bool,
}

impl<K: Kind> Default for ByQueue<K> {
    fn default() -> Self {
        Self(RwLock::new(Queues { by_url: HashMap::new(), is_closed: false }))
    }
}

impl<K: Kind> ByQueue<K> {
    pub(super) fn find(&self, queue_url: &str) -> Option<Arc<Channel<K>>> {
        self.0.read().by_url.get(queue_url).map(Arc::clone)
    }

    /// The lane of a queue; `None` when the client is closed.
    pub(super) fn get(&self, queue_url: &str, new: impl FnOnce() -> Channel<K>) -> Option<Arc<Channel<K>>> {
        if let Some(channel) = self.find(queue_url) {
            return Some(channel);
        }
        let mut queues = self.0.write();
        if queues.is_closed {
            return None;
        }
        let channel = queues.by_url.entry(queue_url.into()).or_insert_with(|| Arc::new(new()));
        Some(Arc::clone(channel))
    }

    fn each(&self, act: impl FnMut(&Arc<Channel<K>>)) {
        let all: Vec<_> = self.0.read().by_url.values().map(Arc::clone).collect();
        all.iter().for_each(act);
    }

    fn close(&self) {
        self.0.write().is_closed = true;
        self.each(|channel| channel.close());
    }
}

impl Lanes {
    /// Takes no more entries.
    pub(super) fn close(&self) {
        self.sends.close();
        self.deletes.close();
        self.changes.close();
    }

    /// Lets every worker look again.
    pub(super) fn wake(&self) {
        self.sends.each(|channel| channel.changed.notify_one());
        self.deletes.each(|channel| channel.changed.notify_one());
        self.changes.each(|channel| channel.changed.notify_one());
    }

    /// Ends everything.
    pub(super) fn abort(&self) {
        self.sends.each(|channel| channel.abort());
        self.deletes.each(|channel| channel.abort());
        self.changes.each(|channel| channel.abort());
    }

    /// Flushes every lane, and says who tells when each is done.
    pub(super) fn flush(&self) -> Vec<tokio::sync::oneshot::Receiver<()>> {
        let mut waits = Vec::new();
        self.sends.each(|channel| waits.extend(channel.flush()));
        self.deletes.each(|channel| waits.extend(channel.flush()));
        self.changes.each(|channel| waits.extend(channel.flush()));
        waits
    }
}
