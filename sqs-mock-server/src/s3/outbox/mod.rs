//! Events on their way from buckets to queues and topics.
//!
//! ```text
//! operation -> write, and send under the lock of the bucket -> response
//!                      |                                          |
//!                      +-> Outbox, in the order of the writes <---+ ready -> Targets -> queues, topics
//! ```
//! A write and its event happen without a pause between them, so that a caller that disconnects loses neither. The lock of
//! the bucket keeps the events of a key in the order of its changes. The request that is answered delivers its own events
//! and those behind them.

mod targets;
#[cfg(test)]
pub(super) mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::yield_now;

use super::RequestContext;
use super::notifications::{Change, Configuration, Event, Target};
use crate::service::clock::Clock;

pub(crate) use targets::Targets;

/// The maximum number of events that wait. More are delivered before the response of their request.
const CAPACITY: usize = 10_000;
/// The bits of a sequence number below the time in milliseconds.
const SEQUENCE_BITS: u32 = 20;

/// The events that are not delivered yet.
#[derive(Debug)]
pub(super) struct Outbox {
    /// Held to write, add or remove an event, also under the lock of a bucket.
    queue: Mutex<Queue>,
    /// Held for the delivery of one event, and for a reset: no event from before a reset is delivered after it. Its holder
    /// locks `queue`, and then queues and topics.
    delivery: Mutex<()>,
    /// Of the server. Without one, the thread that ends a request delivers its events.
    runtime: Option<Handle>,
    /// The source of all timestamps of S3.
    pub(super) clock: Clock,
    /// The region of all buckets.
    pub(super) region: String,
    pub(super) targets: Arc<Targets>,
}

/// The events that wait.
#[derive(Debug, Default)]
struct Queue {
    /// In the order of the writes.
    events: VecDeque<Queued>,
    /// The last sequence number.
    sequence: u64,
    resets: u64,
}

/// An event that is not delivered yet.
#[derive(Debug)]
struct Queued {
    bucket: String,
    target: Target,
    message: String,
    request: Arc<RequestContext>,
}

/// A request without a response. Its drop means that the response is ready or the caller gone.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) context: Arc<RequestContext>,
    outbox: Arc<Outbox>,
}

impl Unanswered {
    /// Starts to deliver the events of this request, and later events that are due.
    pub(super) fn release(&self) {
        self.context.is_answered.store(true, Ordering::Release);
        if self.outbox.queue.lock().events.is_empty() {
            return;
        }
        let outbox = Arc::clone(&self.outbox);
        match &self.outbox.runtime {
            // In a task, so that the connection can write the response first.
            Some(runtime) => drop(runtime.spawn(async move { outbox.deliver(CAPACITY).await })),
            None => while outbox.deliver_next(CAPACITY) {},
        }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.release();
    }
}

impl Outbox {
    pub(super) fn new(clock: Clock, region: String, targets: Arc<Targets>) -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::default(),
            delivery: Mutex::default(),
            runtime: Handle::try_current().ok(),
            clock,
            region,
            targets,
        })
    }

    /// Begins a request with this id.
    pub(super) fn begin(self: &Arc<Self>, id: String, trace_header: Option<String>) -> Unanswered {
        let resets = self.queue.lock().resets;
        let context = RequestContext { id, trace_header, resets, ..RequestContext::default() };
        Unanswered { context: Arc::new(context), outbox: Arc::clone(self) }
    }

    /// Sends the event of a change, if a rule of the bucket selects it. Callers hold the lock of the bucket.
    pub(super) fn send(
        &self,
        request: &Arc<RequestContext>,
        bucket: &str,
        configuration: &Configuration,
        key: &str,
        change: Change<'_>,
    ) {
        let Some(rule) = configuration.rule_for(change.name, key) else { return };
        let mut queue = self.queue.lock();
        if request.resets != queue.resets {
            tracing::debug!(bucket, key, "no event, since the server was reset during the request");
            return;
        }
        let time = self.clock.now();
        // Higher than all before, also than those of an earlier server.
        queue.sequence = queue.sequence.saturating_add(1).max(time.as_millis() << SEQUENCE_BITS);
        let event = Event {
            change,
            time,
            region: &self.region,
            request_id: &request.id,
            host_id: &request.host_id(),
            configuration_id: &rule.id,
            bucket,
            key,
            sequence: queue.sequence,
        };
        let message = event.json();
        let (bucket, target) = (bucket.to_owned(), rule.target.clone());
        queue.events.push_back(Queued { bucket, target, message, request: Arc::clone(request) });
    }

    /// Delivers all events. No request may be in progress.
    ///
    /// # Cancel safety
    /// If the future is dropped, the other events are not delivered.
    pub(super) async fn drain(&self) {
        self.deliver(0).await;
    }

    /// Delivers events in their order: those of answered requests, and others while more than `most` wait. Other tasks run
    /// between two events, since a signed notification takes a millisecond.
    async fn deliver(&self, most: usize) {
        while self.deliver_next(most) {
            yield_now().await;
        }
    }

    /// Delivers an event; `false` if none is due.
    fn deliver_next(&self, most: usize) -> bool {
        let _one_after_the_other = self.delivery.lock();
        let next = {
            let events = &mut self.queue.lock().events;
            let is_full = events.len() > most;
            events.pop_front_if(|next| is_full || next.request.is_answered.load(Ordering::Acquire))
        };
        let Some(Queued { bucket, target, message, request }) = next else { return false };
        self.targets.deliver(&bucket, &target, &message, request.trace_header.as_deref());
        true
    }

    /// Drops all undelivered events, also those of requests in progress.
    pub(super) fn discard(&self) {
        let _no_delivery = self.delivery.lock();
        let mut queue = self.queue.lock();
        queue.events.clear();
        queue.resets += 1;
    }
}
