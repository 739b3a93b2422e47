//! The admission of an entry: capacity, then its lane.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

use super::BufferedClient;
use super::lanes::ByQueue;
use crate::produce::admission::Permit;
use crate::produce::driver;
use crate::produce::error::SendErrorKind;
use crate::produce::kind::Kind;
use crate::produce::lane::Key;
use crate::produce::lane_handle::{Arrival, LaneHandle, NotAdmitted};
use crate::produce::ticket::Ticket;
use crate::time::after;

/// An entry that has no capacity yet.
#[derive(Debug)]
pub(super) struct Entrant<K: Kind> {
    pub(super) entry: K::Entry,
    pub(super) key: Option<Key>,
    pub(super) bytes: usize,
    /// The longest time from its admission to its end.
    pub(super) timeout: Duration,
    /// The time at which it is abandoned, even while it waits for capacity.
    pub(super) deadline: Option<Instant>,
}

/// A ticket, or the entry with the reason why it was not admitted.
pub(super) type Admitted<K> = Result<Ticket<<K as Kind>::Receipt>, (<K as Kind>::Entry, SendErrorKind)>;

impl<H: Execute> BufferedClient<H> {
    /// Admits an entry, waiting for capacity.
    ///
    /// # Cancel safety
    /// If the future is dropped, the entry is not admitted.
    pub(super) async fn enter<K: Kind>(
        &self,
        lanes: &ByQueue<K>,
        queue_url: &str,
        entrant: Entrant<K>,
    ) -> Admitted<K> {
        let Some(lane) = lanes.get(queue_url) else { return Err((entrant.entry, SendErrorKind::Closed)) };
        let permit = match lane.share.try_enter(entrant.bytes) {
            Some(permit) => Ok(permit),
            None => self.wait(&lane, entrant.bytes, entrant.deadline).await,
        };
        match permit {
            Ok(permit) => self.admit(lanes, lane, entrant, permit),
            Err(kind) => Err((entrant.entry, kind)),
        }
    }

    /// Admits an entry if there is capacity now.
    pub(super) fn try_enter<K: Kind>(
        &self,
        lanes: &ByQueue<K>,
        queue_url: &str,
        entrant: Entrant<K>,
    ) -> Admitted<K> {
        let Some(lane) = lanes.get(queue_url) else { return Err((entrant.entry, SendErrorKind::Closed)) };
        match lane.share.try_enter(entrant.bytes) {
            Some(permit) => self.admit(lanes, lane, entrant, permit),
            None if self.is_closed() => Err((entrant.entry, SendErrorKind::Closed)),
            None => Err((entrant.entry, SendErrorKind::Full)),
        }
    }

    /// The runtime of the client, or else of the caller.
    pub(super) fn runtime(&self) -> Option<Handle> {
        self.shared.runtime.clone().or_else(|| Handle::try_current().ok())
    }

    async fn wait<K: Kind>(
        &self,
        lane: &LaneHandle<K>,
        bytes: usize,
        deadline: Option<Instant>,
    ) -> Result<Permit, SendErrorKind> {
        let patience = after(Instant::now(), self.shared.settings.admission_timeout);
        let until = deadline.map_or(patience, |deadline| deadline.min(patience));
        let entering = {
            // The timer of the timeout is that of the runtime that is entered here.
            let _entered = self.runtime().ok_or(SendErrorKind::NoRuntime)?.enter();
            timeout_at(until, lane.share.enter(bytes, || lane.send_for_capacity()))
        };
        match entering.await {
            Ok(Some(permit)) => Ok(permit),
            Ok(None) => Err(SendErrorKind::Closed),
            Err(_) => Err(SendErrorKind::Full),
        }
    }

    /// Gives the entry to its lane, or to the lane that replaced it.
    fn admit<K: Kind>(
        &self,
        lanes: &ByQueue<K>,
        mut lane: Arc<LaneHandle<K>>,
        entrant: Entrant<K>,
        permit: Permit,
    ) -> Admitted<K> {
        let Entrant { entry, key, bytes, timeout, deadline } = entrant;
        let Some(runtime) = self.runtime() else {
            return Err((entry, SendErrorKind::NoRuntime));
        };
        let admitted = Instant::now();
        let deadline = deadline.unwrap_or_else(|| after(admitted, timeout));
        let mut arrival = Arrival { entry, key, bytes, permit, admitted, deadline };
        loop {
            arrival = match lane.admit(arrival, runtime.id()) {
                Ok((ticket, todo)) => {
                    driver::start(&lane, &self.shared.handle, &runtime, todo);
                    return Ok(ticket);
                }
                Err(NotAdmitted::Closed(entry)) => return Err((entry, SendErrorKind::Closed)),
                Err(NotAdmitted::Retired(arrival)) => arrival,
            };
            lane = match lanes.get(&lane.queue_url) {
                Some(lane) => lane,
                None => return Err((arrival.entry, SendErrorKind::Closed)),
            };
        }
    }
}
