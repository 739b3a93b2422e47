//! Events on their way from buckets to queues and topics.
//!
//! ```text
//! operation -> reserve (waits while too many events are undelivered)
//!           -> write, and send under the lock of the bucket -> response
//!                      |                                          |
//!                      +-> worker, in the order of the writes <---+ ready -> Targets -> queues, topics
//! ```
//! A write and its event happen without a pause between them, so that a caller that disconnects loses neither. The lock of
//! the bucket keeps the events of a key in the order of its changes.

mod targets;
#[cfg(test)]
pub(super) mod tests;
mod worker;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::notifications::{Change, Configuration, Event};
use super::request_context::RequestContext;
use super::store::Bucket;
use crate::service::clock::Clock;

pub(crate) use targets::Targets;
use worker::Queued;
pub(super) use worker::{Running, Worker};

/// The maximum number of undelivered events. It exceeds the number of keys that one request can delete.
const CAPACITY: usize = 10_000;
/// The user in events, since the server does not know users. Both ids are those of the examples of AWS.
const PRINCIPAL_ID: &str = "AWS:AIDAJDPLRKLG7UEXAMPLE";
const OWNER_ID: &str = "A3NL1KOZZKExample";
/// The address of callers in events: the server is local.
const SOURCE_IP: &str = "127.0.0.1";
/// The bits of a sequence number below the time in milliseconds.
const SEQUENCE_BITS: u32 = 20;

/// Takes events for delivery.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: mpsc::Sender<Queued>,
    epoch: Arc<Epoch>,
    clock: Clock,
    /// The region of all buckets.
    region: String,
    sequence: AtomicU64,
}

/// Counts resets.
#[derive(Debug, Default)]
struct Epoch {
    number: AtomicU64,
    /// Held during each delivery and each reset, so that no event from before a reset is delivered after it.
    delivery: Mutex<()>,
}

impl Epoch {
    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }
}

/// The worker has stopped.
#[derive(Debug)]
pub(super) struct OutboxClosed;

/// Places for the events of one request. On drop, those without an event are free again.
#[derive(Debug)]
pub(super) struct Slots<'o> {
    outbox: &'o Outbox,
    /// `None` if the bucket has no rules.
    permits: Option<mpsc::PermitIterator<'o, Queued>>,
    epoch: u64,
    bucket: String,
    configuration: Arc<Configuration>,
    request: Arc<RequestContext>,
}

impl Outbox {
    /// An outbox, and the worker that delivers its events once it is started.
    pub(super) fn new(clock: Clock, region: String, targets: Arc<Targets>) -> (Self, Worker) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let epoch = Arc::<Epoch>::default();
        let worker = Worker::new(receiver, Arc::clone(&epoch), targets);
        (Self { queue: sender, epoch, clock, region, sequence: AtomicU64::new(0) }, worker)
    }

    /// The region of all buckets.
    pub(super) fn region(&self) -> &str {
        &self.region
    }

    /// Waits for places for `count` events. Without rules for the bucket, it returns at once.
    ///
    /// # Cancel safety
    /// Dropping the future frees the places.
    pub(super) async fn reserve(
        &self,
        bucket: &Bucket,
        request: Arc<RequestContext>,
        count: usize,
    ) -> Result<Slots<'_>, OutboxClosed> {
        let mut slots = self.slots(bucket, request);
        if !slots.configuration.rules.is_empty() {
            slots.permits = Some(self.queue.reserve_many(count).await.map_err(|_| OutboxClosed)?);
        }
        Ok(slots)
    }

    /// A place for one event without a request.
    ///
    /// # Errors
    /// Too many events are undelivered.
    pub(super) fn try_reserve(&self, bucket: &Bucket) -> io::Result<Slots<'_>> {
        let mut slots = self.slots(bucket, RequestContext::of(&http::Extensions::new()));
        if !slots.configuration.rules.is_empty() {
            let full = |_| {
                let text = format!("{CAPACITY} events of S3 are not delivered yet");
                io::Error::new(io::ErrorKind::WouldBlock, text)
            };
            slots.permits = Some(self.queue.try_reserve_many(1).map_err(full)?);
        }
        Ok(slots)
    }

    fn slots(&self, bucket: &Bucket, request: Arc<RequestContext>) -> Slots<'_> {
        Slots {
            outbox: self,
            permits: None,
            epoch: self.epoch.number(),
            bucket: bucket.name().to_owned(),
            configuration: bucket.notifications(),
            request,
        }
    }

    /// Drops all undelivered events, also those of requests in progress.
    pub(super) fn discard(&self) {
        let _no_delivery = self.epoch.delivery.lock();
        self.epoch.number.fetch_add(1, Ordering::Relaxed);
    }

    /// A number that is higher than all before, also than those of an earlier server.
    fn next_sequence(&self) -> u64 {
        let of_time = self.clock.now().as_millis() << SEQUENCE_BITS;
        let after = |last: u64| last.saturating_add(1).max(of_time);
        let last = self
            .sequence
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)))
            .unwrap_or_default();
        after(last)
    }
}

impl Slots<'_> {
    /// Sends the event of a change, if a rule of the bucket selects it. Callers hold the lock of the bucket.
    pub(super) fn send(&mut self, key: &str, change: Change<'_>) {
        let Some(permits) = &mut self.permits else { return };
        let Some(rule) = self.configuration.rule_for(change, key) else { return };
        let Some(permit) = permits.next() else { return };
        let event = Event {
            change,
            time: self.outbox.clock.now(),
            region: &self.outbox.region,
            principal_id: PRINCIPAL_ID,
            source_ip: SOURCE_IP,
            request_id: &self.request.id,
            host_id: &self.request.host_id(),
            configuration_id: &rule.id,
            bucket: &self.bucket,
            owner_id: OWNER_ID,
            key,
            sequence: self.outbox.next_sequence(),
        };
        permit.send(Queued {
            epoch: self.epoch,
            bucket: self.bucket.clone(),
            target: rule.target.clone(),
            message: event.json(),
            request: Arc::clone(&self.request),
        });
    }
}
