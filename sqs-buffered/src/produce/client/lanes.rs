//! The lanes of a client: one for each queue and operation.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::produce::admission::Capacity;
use crate::produce::kind::{Delete, Kind, Send, Visibility};
use crate::produce::lane::Rules;
use crate::produce::lane_handle::{Flush, LaneHandle};
use crate::produce::observer::Observer;
use crate::produce::settings::Settings;

/// All lanes. Locked for lookups only, and to remove unused lanes.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) sends: ByQueue<Send>,
    pub(super) deletes: ByQueue<Delete>,
    pub(super) changes: ByQueue<Visibility>,
}

/// Lanes of one operation, by the URL of the queue.
#[derive(Debug)]
pub(super) struct ByQueue<K: Kind> {
    rules: Rules,
    capacity: Arc<Capacity>,
    observer: Arc<Observer>,
    queues: RwLock<Queues<K>>,
}

#[derive(Debug)]
struct Queues<K: Kind> {
    by_url: HashMap<Arc<str>, Arc<LaneHandle<K>>>,
    is_closed: bool,
    /// At this number of lanes, unused ones are removed.
    cleanup_at: usize,
}

/// Up to this number, unused lanes are kept.
const KEPT_LANES: usize = 64;

impl<K: Kind> ByQueue<K> {
    fn new(rules: Rules, capacity: &Arc<Capacity>, observer: &Arc<Observer>) -> Self {
        let queues = RwLock::new(Queues { by_url: HashMap::new(), is_closed: false, cleanup_at: KEPT_LANES });
        Self { rules, capacity: Arc::clone(capacity), observer: Arc::clone(observer), queues }
    }

    /// The lane of a queue, if there is one.
    pub(super) fn find(&self, queue_url: &str) -> Option<Arc<LaneHandle<K>>> {
        self.queues.read().by_url.get(queue_url).map(Arc::clone)
    }

    /// The lane of a queue, created on first use; `None` if the client is closed.
    pub(super) fn get(&self, queue_url: &str) -> Option<Arc<LaneHandle<K>>> {
        if let Some(lane) = self.find(queue_url) {
            return Some(lane);
        }
        let mut queues = self.queues.write();
        if queues.is_closed {
            return None;
        }
        if queues.by_url.len() >= queues.cleanup_at {
            queues.by_url.retain(|_, lane| !lane.retire());
            queues.cleanup_at = KEPT_LANES.max(queues.by_url.len().saturating_mul(2));
        }
        let new = || {
            let (share, observer) = (self.capacity.share(), Arc::clone(&self.observer));
            Arc::new(LaneHandle::new(queue_url, self.rules, share, observer))
        };
        Some(Arc::clone(queues.by_url.entry(queue_url.into()).or_insert_with(new)))
    }

    fn each(&self, act: impl FnMut(&Arc<LaneHandle<K>>)) {
        let all: Vec<_> = self.queues.read().by_url.values().map(Arc::clone).collect();
        all.iter().for_each(act);
    }

    fn close(&self) {
        self.queues.write().is_closed = true;
        self.each(|lane| lane.close());
    }
}

impl Lanes {
    pub(super) fn new(
        settings: &Settings,
        sends: &Arc<Capacity>,
        acknowledgements: &Arc<Capacity>,
        observer: &Arc<Observer>,
    ) -> Self {
        let is_heard = observer.is_heard();
        let of_sends = Rules { tells_retries: is_heard, ..settings.of_sends() };
        let of_others = Rules { tells_retries: is_heard, ..settings.of_acknowledgements() };
        Self {
            sends: ByQueue::new(of_sends, sends, observer),
            deletes: ByQueue::new(of_others, acknowledgements, observer),
            changes: ByQueue::new(of_others, acknowledgements, observer),
        }
    }

    /// Admits no more entries.
    pub(super) fn close(&self) {
        self.sends.close();
        self.deletes.close();
        self.changes.close();
    }

    /// Aborts all entries.
    pub(super) fn abort(&self) {
        self.sends.each(|lane| lane.abort());
        self.deletes.each(|lane| lane.abort());
        self.changes.each(|lane| lane.abort());
    }

    /// Flushes every lane.
    pub(super) fn flush(&self) -> Vec<Flush> {
        let mut waits = Vec::new();
        self.sends.each(|lane| waits.extend(lane.flush()));
        self.deletes.each(|lane| waits.extend(lane.flush()));
        self.changes.each(|lane| waits.extend(lane.flush()));
        waits
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;

    use super::KEPT_LANES;
    use crate::produce::client::BufferedClient;

    #[tokio::test(start_paused = true)]
    async fn unused_lanes_are_removed_and_created_again() {
        let server = MockSqs::in_process();
        let client = server.client();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        let buffered = BufferedClient::new(client);
        let lanes = || buffered.shared.lanes.sends.queues.read().by_url.len();
        buffered.send(&url, "1").await.unwrap();
        let old = buffered.shared.lanes.sends.find(&url).unwrap();
        for round in 0..3 {
            for number in 0..KEPT_LANES {
                buffered.send(format!("{url}-{round}-{number}"), "lost").await.unwrap_err();
            }
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        assert!(lanes() <= KEPT_LANES + 1, "{}", lanes());
        buffered.send(&url, "2").await.unwrap();
        assert_eq!(server.queue("q").bodies(), ["1", "2"]);
        assert!(old.retire(), "holders of the old lane are sent to the new one");
        buffered.close().await;
    }
}
