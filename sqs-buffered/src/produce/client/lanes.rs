//! The lanes of a client: one for each queue and operation.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use sqs_client::client::Execute;

use crate::produce::channel::{Arrival, Channel, Turned};
use crate::produce::error::SendErrorKind;
use crate::produce::kind::{Delete, Kind, Send, Visibility};
use crate::produce::summary::Summary;
use crate::produce::ticket::Ticket;

/// All lanes. Locked for lookups only, and to let lanes go that are not in use; never while a lane is locked.
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
    /// When there are so many, those that are not in use go.
    crowd: usize,
}

/// So many lanes are no crowd.
const FEW: usize = 64;

impl<K: Kind> Default for ByQueue<K> {
    fn default() -> Self {
        Self(RwLock::new(Queues { by_url: HashMap::new(), is_closed: false, crowd: FEW }))
    }
}

impl<K: Kind> ByQueue<K> {
    pub(super) fn find(&self, queue_url: &str) -> Option<Arc<Channel<K>>> {
        self.0.read().by_url.get(queue_url).map(Arc::clone)
    }

    /// Takes an entry into the lane of its queue, which is made if there is none.
    pub(super) fn admit<H: Execute>(
        &self,
        queue_url: &str,
        handle: &H,
        mut arrival: Arrival<K>,
        new: impl Fn() -> Channel<K>,
    ) -> Result<Ticket<K::Receipt>, (K::Entry, SendErrorKind)> {
        loop {
            let Some(channel) = self.get(queue_url, &new) else {
                return Err((arrival.entry, SendErrorKind::Closed));
            };
            arrival = match channel.admit(handle, arrival) {
                Ok(ticket) => return Ok(ticket),
                Err(Turned::Refused(entry, kind)) => return Err((entry, kind)),
                Err(Turned::Retired(arrival)) => arrival,
            };
        }
    }

    /// The lane of a queue; `None` when the client is closed.
    fn get(&self, queue_url: &str, new: impl FnOnce() -> Channel<K>) -> Option<Arc<Channel<K>>> {
        if let Some(channel) = self.find(queue_url) {
            return Some(channel);
        }
        let mut queues = self.0.write();
        if queues.is_closed {
            return None;
        }
        if queues.by_url.len() >= queues.crowd {
            queues.by_url.retain(|_, channel| !channel.retire());
            queues.crowd = FEW.max(queues.by_url.len().saturating_mul(2));
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
    pub(super) fn flush(&self) -> Vec<tokio::sync::oneshot::Receiver<Summary>> {
        let mut waits = Vec::new();
        self.sends.each(|channel| waits.extend(channel.flush()));
        self.deletes.each(|channel| waits.extend(channel.flush()));
        self.changes.each(|channel| waits.extend(channel.flush()));
        waits
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;

    use super::FEW;
    use crate::produce::client::BufferedClient;

    #[tokio::test(start_paused = true)]
    async fn lanes_that_are_not_in_use_go_and_come_again() {
        let server = MockSqs::in_process();
        let client = server.client();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        let buffered = BufferedClient::new(client);
        let lanes = || buffered.shared.lanes.sends.0.read().by_url.len();
        buffered.send(&url, "1").await.unwrap();
        let old = buffered.shared.lanes.sends.find(&url).unwrap();
        for round in 0..3 {
            for number in 0..FEW {
                buffered.send(format!("{url}-{round}-{number}"), "lost").await.unwrap_err();
            }
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        assert!(lanes() <= FEW + 1, "{}", lanes());
        buffered.send(&url, "2").await.unwrap();
        assert_eq!(server.queue("q").bodies(), ["1", "2"]);
        assert!(old.retire(), "who still holds it is sent to the new one");
        buffered.close().await;
    }
}
