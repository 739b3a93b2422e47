//! The client: entries in, tickets out.
//!
//! ```text
//! enqueue -> check -> room in the share of the lane -> lane of the queue and operation -> ticket
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use serde::Serialize;
use sqs_client::client::Execute;
use sqs_client::wire::validate::{Draft, QueueRules, error};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::entry::{Entry, Ticket, is_fifo};
use crate::error::{EnqueueError, SendError, SendErrorKind};
use crate::lane::capacity::{Amount, Capacity, Permit};
use crate::lane::flush::Summary;
use crate::lane::queue::Key;
use crate::lane::request::{Change, DeduplicationId, Delete, Kind, Outgoing, SendReceipt, Sends, Visibility};
use crate::lane::{Arrival, Flush, Lane, NotAdmitted};
use crate::observe::meter::Meter;
use crate::observe::sends::{Hook, Observer, SendStats};
use crate::queue::BufferedQueue;
use crate::receive::delivery::Claims;
use crate::settings::{BufferedClientBuilder, MAX_OFFLOADED_BYTES, Rules, Settings};
use crate::time::{after, whole_seconds};
use crate::trace_context;

/// A client that batches sends, deletes and visibility changes in the background.
///
/// It runs on any client that implements [`Execute`], and needs a tokio runtime. Clones share everything. When the last clone
/// is dropped, admitted entries are still sent in the background while the runtime runs; [`close`](Self::close) waits for
/// them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_buffered::BufferedClient;
///
/// let buffered = BufferedClient::new(client.clone());
/// let receipt = buffered.send(&url, "one coffee").await?; // returns when its batch is accepted
/// println!("{}", receipt.message_id);
///
/// let received = client.receive_message().queue_url(&url).send().await?;
/// for message in received.messages() {
///     buffered.delete(&url, message.receipt_handle().unwrap_or_default()).await?;
/// }
/// buffered.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BufferedClient<H: Execute = sqs_client::Client> {
    shared: Arc<Shared<H>>,
}

struct Shared<H: Execute> {
    handle: H,
    settings: Settings,
    /// Where requests run; `None` for the runtime that enqueues.
    runtime: Option<Handle>,
    /// The capacity for sends.
    sends: Arc<Capacity>,
    /// The capacity for deletes and visibility changes: a full buffer of sends must not delay a delete or the renewal of a lease.
    acknowledgements: Arc<Capacity>,
    observer: Arc<Observer>,
    lanes: Lanes<H>,
    /// The messages that its consumers and receivers are handling.
    claims: Arc<Claims>,
}

impl<H: Execute> BufferedClient<H> {
    /// Creates a client with default settings.
    pub fn new(handle: H) -> Self {
        Self::assemble(handle, Settings::default(), None, None)
    }

    /// Returns a builder, for other settings.
    pub fn builder(handle: H) -> BufferedClientBuilder<H> {
        BufferedClientBuilder::new(handle)
    }

    pub(crate) fn assemble(
        handle: H,
        settings: Settings,
        runtime: Option<Handle>,
        hook: Option<Hook>,
    ) -> Self {
        let sends = Arc::new(Capacity::new(settings.max_entries, settings.max_bytes));
        let acknowledgements = Arc::new(Capacity::new(settings.max_entries, 1));
        Meter::describe();
        let observer = Arc::new(Observer::new(hook));
        let lanes = Lanes::new(&handle, &settings, (&sends, &acknowledgements), &observer);
        let claims = Arc::default();
        let shared = Shared { handle, settings, runtime, sends, acknowledgements, observer, lanes, claims };
        Self { shared: Arc::new(shared) }
    }

    /// The client below.
    pub fn inner(&self) -> &H {
        &self.shared.handle
    }

    pub(crate) fn settings(&self) -> Settings {
        self.shared.settings
    }

    /// Whether the client is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.sends.is_closed()
    }

    pub(crate) fn claims(&self) -> &Arc<Claims> {
        &self.shared.claims
    }

    /// The totals since the client was created.
    pub fn stats(&self) -> SendStats {
        let (sends, others) = (self.shared.sends.taken(), self.shared.acknowledgements.taken());
        self.shared.observer.stats(Amount { entries: sends.entries + others.entries, ..sends })
    }

    /// Admits an entry, waiting for capacity.
    ///
    /// # Cancel safety
    /// If the future is dropped, the entry is not admitted.
    pub(crate) async fn enter<K: Kind>(
        &self,
        lanes: &ByQueue<K, H>,
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
    pub(crate) fn try_enter<K: Kind>(
        &self,
        lanes: &ByQueue<K, H>,
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
    fn runtime(&self) -> Option<Handle> {
        self.shared.runtime.clone().or_else(|| Handle::try_current().ok())
    }

    async fn wait<K: Kind>(
        &self,
        lane: &Lane<K, H>,
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
        lanes: &ByQueue<K, H>,
        mut lane: Arc<Lane<K, H>>,
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
            arrival = match lane.admit(arrival, &runtime) {
                Ok(ticket) => return Ok(ticket),
                Err(NotAdmitted::Closed(entry)) => return Err((entry, SendErrorKind::Closed)),
                Err(NotAdmitted::Void(entry)) => return Err((entry, SendErrorKind::Superseded)),
                Err(NotAdmitted::Retired(arrival)) => arrival,
            };
            lane = match lanes.get(&lane.queue_url) {
                Some(lane) => lane,
                None => return Err((arrival.entry, SendErrorKind::Closed)),
            };
        }
    }

    /// Sends a message, in a batch with others, and waits until SQS has accepted it.
    ///
    /// # Errors
    /// The message was not admitted or not accepted; see [`SendError::kind`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the message may be sent or not.
    pub async fn send(
        &self,
        queue_url: impl Into<String>,
        body: impl Into<String>,
    ) -> Result<SendReceipt, SendError> {
        self.send_entry(Entry::new(queue_url, body)).await
    }

    /// Like [`send`](Self::send), for messages with more than a body.
    ///
    /// # Errors
    /// The same as `send`.
    ///
    /// # Cancel safety
    /// The same as `send`.
    pub async fn send_entry(&self, entry: impl Into<Entry>) -> Result<SendReceipt, SendError> {
        self.enqueue(entry).await?.await
    }

    /// Like [`send`](Self::send), with this value as JSON.
    ///
    /// # Errors
    /// The same as `send`; or the value has no form in JSON, such as a map whose keys are no texts
    /// ([`Invalid`](SendErrorKind::Invalid)).
    ///
    /// # Cancel safety
    /// The same as `send`.
    pub async fn send_json(
        &self,
        queue_url: impl Into<String>,
        value: &(impl Serialize + Sync + ?Sized),
    ) -> Result<SendReceipt, SendError> {
        let entry = Entry::json(queue_url, value).map_err(SendError::no_json)?;
        self.send_entry(entry).await
    }

    /// A client of the queue with this URL.
    pub fn queue(&self, url: impl Into<String>) -> BufferedQueue<H> {
        BufferedQueue::new(self.clone(), url.into())
    }

    /// Admits a message; waits if there is no room. Admission is first come, first served within a queue. The ticket resolves
    /// with the result. To send without a ticket, use [`send_detached`](Self::send_detached).
    ///
    /// # Errors
    /// The message was not admitted: `Full` (no room in time), `TooLarge`, `Invalid`, `Closed` or `NoRuntime`. The error returns
    /// the entry.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, the message is never sent, and takes no room.
    pub async fn enqueue(&self, entry: impl Into<Entry>) -> Result<Ticket<SendReceipt>, EnqueueError> {
        self.enqueue_of(entry.into(), self.shared.settings.max_message_bytes).await
    }

    /// Like [`send_entry`](Self::send_entry), for a received message: whatever its size, the client below can send it.
    pub(crate) async fn send_letter(&self, letter: Entry) -> Result<SendReceipt, SendError> {
        self.enqueue_of(letter, MAX_OFFLOADED_BYTES).await?.await
    }

    async fn enqueue_of(&self, entry: Entry, most: usize) -> Result<Ticket<SendReceipt>, EnqueueError> {
        let (queue_url, entrant) = self.entrant(entry, most)?;
        let admitted = self.enter(&self.shared.lanes.sends, &queue_url, entrant).await;
        admitted.map_err(|refused| give_back(queue_url, refused))
    }

    /// Admits a message without a ticket. If it fails, the [event hook](crate::settings::BufferedClientBuilder::on_event) gets the
    /// failure; without a hook, the client logs a warning. [`flush`](Self::flush) and [`close`](Self::close) count it.
    ///
    /// # Errors
    /// The same as [`enqueue`](Self::enqueue).
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, the message is never sent.
    pub async fn send_detached(&self, entry: impl Into<Entry>) -> Result<(), EnqueueError> {
        self.enqueue(entry).await.map(drop)
    }

    /// Like [`enqueue`](Self::enqueue), but fails at once if there is no room.
    ///
    /// # Errors
    /// The same as [`enqueue`](Self::enqueue).
    pub fn try_enqueue(&self, entry: impl Into<Entry>) -> Result<Ticket<SendReceipt>, EnqueueError> {
        let (queue_url, entrant) = self.entrant(entry.into(), self.shared.settings.max_message_bytes)?;
        let admitted = self.try_enter(&self.shared.lanes.sends, &queue_url, entrant);
        admitted.map_err(|refused| give_back(queue_url, refused))
    }

    /// Rejects entries that SQS would refuse, or that would make SQS refuse their whole batch.
    fn entrant(&self, mut entry: Entry, most: usize) -> Result<(String, Entrant<Sends>), EnqueueError> {
        let settings = &self.shared.settings;
        // A letter may be larger than what users may send. The context must not make it so.
        trace_context::inject(&mut entry.message, most.min(settings.max_message_bytes));
        let bytes = entry.size();
        if bytes > most {
            let error = SendError::new(SendErrorKind::TooLarge);
            return Err(EnqueueError::new(
                entry,
                error.explained(format!("{bytes} bytes, `max_message_bytes` allows {most}")),
            ));
        }
        if let Err(refusal) = check(&entry, most) {
            let error = SendError::invalid(refusal);
            return Err(EnqueueError::new(entry, error));
        }
        let Entry { queue_url, message } = entry;
        let is_fifo = is_fifo(&queue_url);
        let needs_id = is_fifo && message.message_deduplication_id.is_none();
        let key = message.message_group_id.as_deref().filter(|_| is_fifo).map(Arc::from);
        let timeout = settings.delivery_timeout(is_fifo);
        let id = if needs_id { DeduplicationId::Open(settings.dedup_id) } else { DeduplicationId::Settled };
        let entry = Outgoing::new(message, id);
        Ok((queue_url, Entrant { entry, key, bytes, timeout, deadline: None }))
    }

    /// Deletes a received message, in a batch with others, and waits for the result. Drops a pending visibility change of the
    /// message.
    ///
    /// # Errors
    /// The delete was not admitted, or failed; see [`SendError::kind`]. On FIFO queues, a receipt handle can expire
    /// ([`LeaseLost`](SendErrorKind::LeaseLost)).
    ///
    /// # Cancel safety
    /// If the future is dropped, the message may be deleted or not.
    pub async fn delete(&self, queue_url: &str, receipt_handle: &str) -> Result<(), SendError> {
        self.enqueue_delete(queue_url, receipt_handle).await?.await
    }

    /// Like [`delete`](Self::delete), but waits for room only.
    ///
    /// # Errors
    /// The delete was not admitted: `Full`, `Invalid`, `Closed` or `NoRuntime`. The error returns the receipt handle.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, nothing is deleted.
    pub async fn enqueue_delete(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        let entrant = self.deletion(&handle);
        let admitted = self.enter(&self.shared.lanes.deletes, queue_url, entrant).await;
        self.delete_admitted(queue_url, &handle, admitted)
    }

    /// Like [`enqueue_delete`](Self::enqueue_delete), but fails at once if there is no room.
    ///
    /// # Errors
    /// The same as `enqueue_delete`.
    pub fn try_enqueue_delete(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        let entrant = self.deletion(&handle);
        let admitted = self.try_enter(&self.shared.lanes.deletes, queue_url, entrant);
        self.delete_admitted(queue_url, &handle, admitted)
    }

    /// Hides a received message for `timeout` from now (at most 12 hours), in a batch with others, and waits for the result. Rounds
    /// up to full seconds. Zero makes the message visible at once. Of several pending changes of one message, the last one wins.
    ///
    /// # Errors
    /// The same as [`delete`](Self::delete); and [`Superseded`](SendErrorKind::Superseded) if the message is deleted first.
    ///
    /// # Cancel safety
    /// If the future is dropped, the visibility may be changed or not.
    pub async fn change_visibility(
        &self,
        queue_url: &str,
        receipt_handle: &str,
        timeout: Duration,
    ) -> Result<(), SendError> {
        self.enqueue_visibility(queue_url, receipt_handle, timeout).await?.await
    }

    /// Like [`change_visibility`](Self::change_visibility), but waits for room only.
    ///
    /// # Errors
    /// The same as [`enqueue_delete`](Self::enqueue_delete).
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, nothing is changed.
    pub async fn enqueue_visibility(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        timeout: Duration,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let change = checked_change(queue_url, receipt_handle.into(), timeout)?;
        self.enqueue_change(queue_url, change, None).await
    }

    /// Like [`enqueue_visibility`](Self::enqueue_visibility), but fails at once if there is no room.
    ///
    /// # Errors
    /// The same as `enqueue_visibility`.
    pub fn try_enqueue_visibility(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        timeout: Duration,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let entrant = self.change(checked_change(queue_url, receipt_handle.into(), timeout)?, None);
        let admitted = self.try_enter(&self.shared.lanes.changes, queue_url, entrant);
        admitted.map_err(|(change, kind)| refused(&change.handle, kind))
    }

    /// Like [`enqueue_visibility`](Self::enqueue_visibility), for a change that is checked. It is abandoned at `deadline` if it is
    /// not in flight then.
    pub(crate) async fn enqueue_change(
        &self,
        queue_url: &str,
        change: Change,
        deadline: Option<Instant>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let admitted = self.enter(&self.shared.lanes.changes, queue_url, self.change(change, deadline)).await;
        admitted.map_err(|(change, kind)| refused(&change.handle, kind))
    }

    /// Drops visibility changes of a message, unless they are in flight.
    pub(crate) fn supersede_visibility(&self, queue_url: &str, handle: &str) {
        if let Some(changes) = self.shared.lanes.changes.find(queue_url) {
            changes.supersede(&handle.into());
        }
    }

    /// Drops visibility changes of a message whose delete was admitted, unless they are in flight.
    fn delete_admitted(
        &self,
        queue_url: &str,
        handle: &Key,
        admitted: Admitted<Delete>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let ticket = admitted.map_err(|(_, kind)| refused(handle, kind))?;
        self.supersede_visibility(queue_url, handle);
        Ok(ticket)
    }

    fn deletion(&self, handle: &Key) -> Entrant<Delete> {
        self.acknowledgement(handle, Key::clone(handle), None)
    }

    fn change(&self, change: Change, deadline: Option<Instant>) -> Entrant<Visibility> {
        let handle = Key::clone(&change.handle);
        self.acknowledgement(&handle, change, deadline)
    }

    fn acknowledgement<K: Kind>(
        &self,
        handle: &Key,
        entry: K::Entry,
        deadline: Option<Instant>,
    ) -> Entrant<K> {
        let timeout = self.shared.settings.delivery_timeout(false);
        Entrant { entry, key: Some(Key::clone(handle)), bytes: 0, timeout, deadline }
    }

    /// Sends all entries that were admitted so far, without waiting for fuller batches. Returns when all of them
    /// have ended, with the results of the entries that it waited for. Like a ticket, it also ends if the runtime of the entries is idle.
    ///
    /// # Cancel safety
    /// If the future is dropped, the entries are still sent.
    pub async fn flush(&self) -> Summary {
        total(self.shared.lanes.flush()).await.0
    }

    /// Admits no more entries, and sends those that were admitted. When all of them have ended, returns the results of all entries
    /// since the client was created. Entries that take longer than the [grace](crate::settings::BufferedClientBuilder::close_grace)
    /// are aborted; their tickets say whether SQS may have them. You can call it again.
    ///
    /// Outside of a tokio runtime there is no timer for the grace: nothing is aborted, and the delivery timeout limits the
    /// wait.
    ///
    /// # Cancel safety
    /// If the future is dropped, the client is closed, and the entries are sent in the background.
    pub async fn close(&self) -> Summary {
        self.close_within(self.shared.settings.close_grace).await
    }

    /// Like [`close`](Self::close), with another grace.
    ///
    /// # Cancel safety
    /// The same as `close`.
    pub async fn close_within(&self, grace: Duration) -> Summary {
        self.shared.close();
        let mut flushed = pin!(total(self.shared.lanes.flush()));
        let has_all = match self.runtime() {
            Some(runtime) => {
                let flushing = {
                    let _entered = runtime.enter();
                    timeout(grace, &mut flushed)
                };
                flushing.await.is_ok_and(|(_, has_all)| has_all)
            }
            None => flushed.as_mut().await.1,
        };
        if !has_all {
            self.shared.lanes.abort();
            // The tickets of what is aborted resolve before this returns.
            let _ = total(self.shared.lanes.flush()).await;
        }
        self.shared.observer.summary()
    }
}

impl<H: Execute> fmt::Debug for BufferedClient<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedClient").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

impl<H: Execute> Shared<H> {
    /// Admits no more entries.
    fn close(&self) {
        self.sends.close();
        self.acknowledgements.close();
        self.lanes.close();
    }
}

impl<H: Execute> Drop for Shared<H> {
    /// Tasks hold their lanes, not the client. They finish the admitted entries and end.
    fn drop(&mut self) {
        self.close();
    }
}

/// An entry that has no capacity yet.
#[derive(Debug)]
pub(crate) struct Entrant<K: Kind> {
    pub(crate) entry: K::Entry,
    pub(crate) key: Option<Key>,
    pub(crate) bytes: usize,
    /// The longest time from its admission to its end.
    timeout: Duration,
    /// The time at which it is abandoned, even while it waits for capacity.
    pub(crate) deadline: Option<Instant>,
}

/// A ticket, or the entry with the reason why it was not admitted.
type Admitted<K> = Result<Ticket<<K as Kind>::Receipt>, (<K as Kind>::Entry, SendErrorKind)>;

/// All lanes. Locked for lookups only, and to remove unused lanes.
#[derive(Debug)]
struct Lanes<H: Execute> {
    sends: ByQueue<Sends, H>,
    deletes: ByQueue<Delete, H>,
    changes: ByQueue<Visibility, H>,
}

/// Lanes of one operation, by the URL of the queue.
#[derive(Debug)]
pub(crate) struct ByQueue<K: Kind, H: Execute> {
    client: H,
    /// The rules of its lanes, and how long their requests may take.
    rules: (Rules, Duration),
    capacity: Arc<Capacity>,
    observer: Arc<Observer>,
    queues: RwLock<Queues<K, H>>,
}

#[derive(Debug)]
struct Queues<K: Kind, H: Execute> {
    by_url: BTreeMap<Arc<str>, Arc<Lane<K, H>>>,
    is_closed: bool,
    /// At this number of lanes, unused ones are removed.
    cleanup_at: usize,
}

/// Up to this number, unused lanes are kept.
const KEPT_LANES: usize = 64;

impl<K: Kind, H: Execute> ByQueue<K, H> {
    fn new(
        client: &H,
        settings: &Settings,
        rules: Rules,
        capacity: &Arc<Capacity>,
        observer: &Arc<Observer>,
    ) -> Self {
        let rules = Rules { grace: K::GRACE, tells_retries: observer.is_heard(), ..rules };
        let queues =
            RwLock::new(Queues { by_url: BTreeMap::new(), is_closed: false, cleanup_at: KEPT_LANES });
        Self {
            client: client.clone(),
            rules: (rules, settings.attempt_timeout),
            capacity: Arc::clone(capacity),
            observer: Arc::clone(observer),
            queues,
        }
    }

    /// The lane of a queue, if there is one.
    fn find(&self, queue_url: &str) -> Option<Arc<Lane<K, H>>> {
        self.queues.read().by_url.get(queue_url).map(Arc::clone)
    }

    /// The lane of a queue, created on first use; `None` if the client is closed.
    fn get(&self, queue_url: &str) -> Option<Arc<Lane<K, H>>> {
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
            Arc::new(Lane::new(self.client.clone(), queue_url, self.rules, share, observer))
        };
        Some(Arc::clone(queues.by_url.entry(queue_url.into()).or_insert_with(new)))
    }

    fn each(&self, act: impl FnMut(&Arc<Lane<K, H>>)) {
        let all: Vec<_> = self.queues.read().by_url.values().map(Arc::clone).collect();
        all.iter().for_each(act);
    }

    fn close(&self) {
        self.queues.write().is_closed = true;
        self.each(|lane| lane.close());
    }
}

impl<H: Execute> Lanes<H> {
    pub(crate) fn new(
        client: &H,
        settings: &Settings,
        (sends, acknowledgements): (&Arc<Capacity>, &Arc<Capacity>),
        observer: &Arc<Observer>,
    ) -> Self {
        let (of_sends, of_others) = (settings.of_sends(), settings.of_acknowledgements());
        Self {
            sends: ByQueue::new(client, settings, of_sends, sends, observer),
            deletes: ByQueue::new(client, settings, of_others, acknowledgements, observer),
            changes: ByQueue::new(client, settings, of_others, acknowledgements, observer),
        }
    }

    /// Admits no more entries.
    pub(crate) fn close(&self) {
        self.sends.close();
        self.deletes.close();
        self.changes.close();
    }

    /// Aborts all entries.
    pub(crate) fn abort(&self) {
        self.sends.each(|lane| lane.abort());
        self.deletes.each(|lane| lane.abort());
        self.changes.each(|lane| lane.abort());
    }

    /// Flushes every lane.
    pub(crate) fn flush(&self) -> Vec<Flush> {
        let mut waits = Vec::new();
        self.sends.each(|lane| waits.extend(lane.flush()));
        self.deletes.each(|lane| waits.extend(lane.flush()));
        self.changes.each(|lane| waits.extend(lane.flush()));
        waits
    }
}

fn give_back(queue_url: String, (outgoing, kind): (Outgoing, SendErrorKind)) -> EnqueueError {
    EnqueueError::of_kind(Entry { queue_url, message: outgoing.message }, kind)
}

fn check(entry: &Entry, max_bytes: usize) -> Result<(), sqs_client::wire::service_error::ServiceError> {
    sqs_client::wire::validate::error::require_queue_url(Some(&entry.queue_url))?;
    let draft = Draft::from(&entry.message);
    if entry.message.message_body.is_empty() {
        sqs_client::wire::validate::message::body("")?;
    }
    // The client does not know here whether the queue has content-based deduplication, so a missing id is allowed.
    draft.validate_for(&QueueRules {
        fifo: is_fifo(&entry.queue_url),
        content_based_deduplication: true,
        maximum_message_size: max_bytes,
    })
}

pub(crate) fn checked_change(
    queue_url: &str,
    handle: String,
    timeout: Duration,
) -> Result<Change, EnqueueError<String>> {
    let handle = checked(queue_url, handle)?;
    // The longest of AWS is far below this limit.
    let seconds = i32::try_from(whole_seconds(timeout)).unwrap_or(i32::MAX);
    match sqs_client::wire::validate::message::new_visibility(Some(seconds)) {
        Ok(()) => Ok(Change { handle, seconds, is_over: None }),
        Err(refusal) => {
            let error = SendError::invalid(refusal);
            Err(EnqueueError::new(handle.as_ref().to_owned(), error))
        }
    }
}

fn checked(queue_url: &str, handle: String) -> Result<Key, EnqueueError<String>> {
    let check = match sqs_client::wire::validate::error::require_queue_url(Some(queue_url)) {
        Ok(()) if handle.is_empty() => Err(error::missing_parameter("ReceiptHandle")),
        checked => checked,
    };
    match check {
        Ok(()) => Ok(handle.into()),
        Err(refusal) => {
            let error = SendError::invalid(refusal);
            Err(EnqueueError::new(handle, error))
        }
    }
}

fn refused(handle: &Key, kind: SendErrorKind) -> EnqueueError<String> {
    EnqueueError::of_kind(handle.as_ref().to_owned(), kind)
}

/// The sum over all lanes, and whether all entries have ended. Those that have not count as timed out.
async fn total(flushes: Vec<Flush>) -> (Summary, bool) {
    let (mut total, mut has_all) = (Summary::default(), true);
    for Flush { mut results, ends, unsettled } in flushes {
        let ended = async { while results.changed().await.is_ok() {} };
        let in_time = if Handle::try_current().is_ok() {
            timeout_at(ends, ended).await.is_ok()
        } else {
            ended.await;
            true
        };
        let known = results.borrow().clone();
        if !in_time {
            has_all = false;
            let left = unsettled.saturating_sub(known.total());
            (0..left).for_each(|_| total.count(Some(SendErrorKind::Timeout)));
        }
        total.add(&known);
    }
    (total, has_all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;

    use super::{BufferedClient, KEPT_LANES};

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
