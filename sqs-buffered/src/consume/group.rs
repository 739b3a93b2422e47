//! One group at a time: open, run, settle, the next message.
//!
//! ```text
//! arrive -> lines -> run_line: gate (a place) -> handle (claim, open, call) -> settle (delete | rest | dead letter | give back) -+
//!             ^         ^                                                                                                     |
//!             |         +---------------------------- the next message of the line <------------------------------------------+
//!             +-> run_batches: gate -> open_batch -> handle_batch -> settle_line, for each line of the batch
//!                                         +-> put_back: lines whose first message still loads
//! ```
//! A line is a message group on FIFO queues; on standard queues, each message is a line of its own. All of this is polled by the run of
//! the consumer; handlers, receives and the renewal of leases have tasks of their own.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use sqs_client::client::Execute;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::consume::adaptive::HandlerEnd;
use crate::consume::batch::AnyBatchHandler;
use crate::consume::consumer::Shared;
use crate::consume::gate::{Gate, NotStarted, Place};
use crate::consume::handler::AnyHandler;
use crate::consume::lines::{Arrived, Key, Lines};
use crate::consume::work::{ByLine, OpeningLines, Verdict, handle, handle_batch, open_batch, ready};
use crate::receive::delivery::Delivery;
use crate::time::after;

/// Panics whose text is reported.
const MAX_PANICS: usize = 10;

/// What the lines of a run share.
pub(crate) struct Work<H: Execute> {
    pub(crate) shared: Arc<Shared<H>>,
    lines: Mutex<Lines<Delivery, Verdict>>,
    pub(crate) gate: Gate,
    /// Rings when a message has arrived, or a line is done, for batches.
    is_ready: Notify,
    /// The number of places that the credits have.
    pub(crate) places: AtomicUsize,
    /// Messages that wait for the next run of their handlers.
    pub(crate) resting: AtomicUsize,
    /// Those of them whose handlers have failed, or that could not be opened.
    pub(crate) failing: AtomicUsize,
    /// Messages that hang while they are opened.
    pub(crate) hanging: AtomicUsize,
    /// Stops the handlers. The run waits for them until this time.
    pub(crate) stop_handlers: watch::Sender<Option<Instant>>,
    panics: Mutex<Vec<String>>,
    background: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
}

/// A message that counts among those that fail, or that hang.
pub(crate) struct Counted<'w> {
    count: &'w AtomicUsize,
    /// Wakes the run: its places depend on these messages.
    woken: &'w Notify,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Relaxed);
        self.woken.notify_one();
    }
}

impl<H: Execute> Work<H> {
    pub(crate) fn new(
        shared: &Arc<Shared<H>>,
        background: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            lines: Mutex::new(Lines::new()),
            gate: Gate::new(shared),
            is_ready: Notify::new(),
            places: AtomicUsize::new(0),
            resting: AtomicUsize::new(0),
            failing: AtomicUsize::new(0),
            hanging: AtomicUsize::new(0),
            stop_handlers: watch::channel(None).0,
            panics: Mutex::default(),
            background,
        }
    }

    /// The lines. Locked for a few instructions.
    pub(crate) fn lines(&self) -> MutexGuard<'_, Lines<Delivery, Verdict>> {
        self.lines.lock()
    }

    /// Adds the messages of a receive to their lines.
    pub(crate) fn arrive(&self, batch: Vec<Delivery>) {
        for delivery in batch {
            let key = self.shared.line_of(&delivery);
            if self.lines().arrive(key, delivery) {
                self.shared.observer.duplicate();
            }
        }
        self.is_ready.notify_one();
    }

    /// Adds a future to those that the run polls.
    pub(crate) fn in_background(&self, future: impl Future<Output = ()> + Send + 'static) {
        // Without a run, the future is dropped, and with it its messages, which gives them back.
        let _ = self.background.send(Box::pin(future));
    }

    /// Counts a message among those that fail until the result is dropped.
    pub(crate) fn count_failing(&self) -> Counted<'_> {
        self.counted(&self.failing)
    }

    /// Counts a message among those that hang until the result is dropped.
    pub(crate) fn count_hanging(&self) -> Counted<'_> {
        self.counted(&self.hanging)
    }

    fn counted<'w>(&'w self, count: &'w AtomicUsize) -> Counted<'w> {
        count.fetch_add(1, Relaxed);
        self.shared.woken.notify_one();
        Counted { count, woken: &self.shared.woken }
    }

    pub(crate) fn note_panic(&self, panic: Option<String>) {
        let mut panics = self.panics.lock();
        let has_room = panics.len() < MAX_PANICS;
        panics.extend(panic.filter(|_| has_room));
    }

    pub(crate) fn take_panics(&self) -> Vec<String> {
        std::mem::take(&mut *self.panics.lock())
    }

    /// Handles the messages of a line, one after the other. A message stays in its line until it has a place, so that later deliveries
    /// renew it, and a shutdown gives the line back as a whole.
    pub(crate) async fn run_line(self: Arc<Self>, handler: AnyHandler, key: Key) {
        let mut has_waited = false;
        while let Some(place) = self.place_for(&key, has_waited).await {
            let Some(mut entry) = self.lines().start_next_of(&key) else { return };
            let (mut place, stop) = (Some(place), self.stop_handlers.subscribe());
            let (verdict, elapsed) = handle(&handler, &self, &mut entry.latest, &mut place, stop).await;
            if let Some(place) = place {
                place.leave(verdict.end(), elapsed);
            }
            has_waited = matches!(verdict, Verdict::NotYet);
            self.settle(&key, entry, verdict).await;
        }
    }

    /// A place for the first message of a line; `None` if the line is empty, or the consumer stops. One that has waited for its turn before
    /// goes before others.
    async fn place_for(self: &Arc<Self>, key: &Key, has_waited: bool) -> Option<Place> {
        loop {
            self.lines().keep(key);
            let head = || self.lines().head_of(key).map(|entry| entry.latest.lease.clone());
            match self.gate.enter(1, Some(&head), has_waited).await {
                Ok(place) => return Some(place),
                Err(NotStarted::Stopped) => return None,
                Err(NotStarted::LeaseEnds) => {
                    let entry = self.lines().start_next_of(key)?;
                    if entry.latest.lease.may_start() {
                        // A later delivery has replaced it.
                        self.run_again(key, entry);
                    } else {
                        self.settle(key, entry, Verdict::Aborted).await;
                    }
                }
            }
        }
    }

    /// Starts batches that are full, or whose first message has waited for the window.
    pub(crate) async fn run_batches(self: Arc<Self>, handler: AnyBatchHandler) {
        let (size, window) = (self.shared.options.limits.batch_size, self.shared.options.limits.batch_window);
        loop {
            if self.lines().startable(1) == 0 {
                self.is_ready.notified().await;
                continue;
            }
            let due = after(Instant::now(), window);
            while self.lines().startable(size) < size && Instant::now() < due {
                tokio::select! {
                    biased;
                    () = self.is_ready.notified() => {}
                    () = sleep_until(due) => {}
                }
            }
            // The messages are counted when they are known.
            let Ok(place) = self.gate.enter(0, None, false).await else { return };
            let lines = self.next_batch(size);
            if lines.is_empty() {
                place.leave(HandlerEnd::Stopped, Duration::ZERO);
                continue;
            }
            let count = lines.iter().map(|(_, entries)| entries.len()).sum();
            self.gate.started(count);
            let (work, handler) = (Arc::clone(&self), handler.clone());
            self.in_background(async move {
                let stop = work.stop_handlers.subscribe();
                let (lines, late) = open_batch(&work, lines).await;
                let (lines, claimed) = ready(lines, work.shared.stop.is_finishing());
                // The others count when they run.
                work.gate.not_started(count - claimed.len());
                if !late.is_empty() {
                    work.in_background(Arc::clone(&work).put_back(late));
                }
                let (lines, elapsed) = handle_batch(&handler, &work.shared, (lines, claimed), stop).await;
                let ends = lines.iter().flat_map(|(_, entries)| entries).map(|(_, verdict)| verdict.end());
                place.leave(ends.max().unwrap_or(HandlerEnd::Stopped), elapsed);
                for (key, entries) in lines {
                    work.in_background(Arc::clone(&work).settle_line(key, entries));
                }
            });
        }
    }

    /// Takes messages whose leases have enough time left. The others are renewed first, and run in a later batch.
    fn next_batch(self: &Arc<Self>, size: usize) -> ByLine<Arrived<Delivery>> {
        let (mut lines, mut count) = (Vec::new(), 0);
        while count < size {
            let Some((key, entry)) = self.lines().start() else { break };
            if !entry.latest.lease.is_fresh() {
                self.in_background(Arc::clone(self).refresh(key, entry));
                continue;
            }
            let mut entries = vec![entry];
            while count + entries.len() < size
                && let Some(next) = self.lines().start_next(&key, |entry| entry.latest.lease.is_fresh())
            {
                entries.push(next);
            }
            count += entries.len();
            lines.push((key, entries));
        }
        lines
    }

    /// Renews the lease of the first message of a line, and puts it back.
    async fn refresh(self: Arc<Self>, key: Key, entry: Arrived<Delivery>) {
        let is_fresh = tokio::select! {
            biased;
            () = self.shared.stop.finishing() => false,
            fresh = entry.latest.lease.refresh() => fresh.is_ok(),
        };
        if is_fresh {
            self.run_again(&key, entry);
        } else {
            self.settle(&key, entry, Verdict::Aborted).await;
        }
        self.is_ready.notify_one();
    }

    /// Puts lines back when their first messages are open, for a later batch.
    async fn put_back(self: Arc<Self>, mut late: OpeningLines) {
        while let Some((_, (key, entries))) = late.next().await {
            let verdict = |ready: Result<_, Verdict>| ready.err().unwrap_or(Verdict::NotYet);
            let entries = entries.into_iter().map(|(entry, ready)| (entry, verdict(ready)));
            self.in_background(Arc::clone(&self).settle_line(key, entries.collect()));
        }
    }

    /// Settles the messages of a line that ran in one batch, one after the other.
    async fn settle_line(self: Arc<Self>, key: Key, entries: Vec<(Arrived<Delivery>, Verdict)>) {
        let mut entries = entries.into_iter();
        let mut next = entries.next();
        self.lines().decide(&key, entries);
        while let Some((entry, verdict)) = next {
            self.settle(&key, entry, verdict).await;
            next = self.lines().next_decided(&key);
        }
        self.is_ready.notify_one();
    }
}
