//! One run of a consumer: messages in, their lines, the shutdown.
//!
//! ```text
//! intake -> lines -> a future for each line that has messages
//! stop: messages that have not started are given back; handlers finish, or are stopped and their messages given back
//! ```

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::Execute;
use sqs_client::wire::limits::MAX_IN_FLIGHT;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::consume::consumer::{Report, Shared};
use crate::consume::group::Work;
use crate::consume::lines::{Arrived, Lines};
use crate::consume::settle::Return;
use crate::consume::work::Handling;
use crate::error::ReceiveError;
use crate::observe::meter::Level;
use crate::receive::delivery::{Delivery, Grace};
use crate::receive::opening::extra_places;
use crate::receive::pump::{Intake, give_back};

type Future = BoxFuture<'static, ()>;

/// One run of a consumer.
pub(crate) struct Run<H: Execute> {
    work: Arc<Work<H>>,
    intake: Intake<H>,
    /// The lines, and what they do in the background.
    futures: FuturesUnordered<Future>,
    background: mpsc::UnboundedReceiver<Future>,
    /// Starts batches, for a batch handler.
    batches: Future,
    /// The total of the credits.
    total: usize,
    /// The limit of running handlers, as a metric.
    limit_metric: Level,
}

impl<H: Execute> Run<H> {
    pub(crate) fn new(shared: &Arc<Shared<H>>, intake: Intake<H>) -> Self {
        let (sender, background) = mpsc::unbounded_channel();
        let work = Arc::new(Work::new(shared, sender));
        let batches: Future = match &shared.handler {
            Handling::Each(_) => Box::pin(pending()),
            Handling::Batches(handler) => Box::pin(Arc::clone(&work).run_batches(handler.clone())),
        };
        let limit_metric = shared.observer.metrics.handlers_limit();
        Self { work, intake, futures: FuturesUnordered::new(), background, batches, total: 0, limit_metric }
    }

    /// Handles messages until `stop`, or until receiving has ended by itself.
    pub(crate) async fn serve(&mut self) {
        let shared = Arc::clone(&self.work.shared);
        loop {
            let next_look = self.update_places();
            tokio::select! {
                biased;
                () = shared.stop.finishing() => return,
                Some(()) = self.futures.next() => {}
                Some(future) = self.background.recv() => self.futures.push(future),
                // They end when the consumer stops.
                () = &mut self.batches => self.batches = Box::pin(pending()),
                batch = self.intake.next() => match batch {
                    Some(batch) => self.arrive(batch),
                    None => return,
                },
                () = shared.woken.notified() => self.work.gate.ring(),
                () = sleep_until(next_look.unwrap_or_else(Instant::now)), if next_look.is_some() => {
                    self.work.gate.ring();
                }
            }
        }
    }

    /// Adds messages to their lines, and starts the lines that had none.
    fn arrive(&mut self, batch: Vec<Delivery>) {
        self.work.arrive(batch);
        if let Handling::Each(handler) = &self.work.shared.handler {
            let ready = self.work.lines().take_ready();
            for key in ready {
                self.futures.push(Box::pin(Arc::clone(&self.work).run_line(handler.clone(), key)));
            }
        }
    }

    /// Sets the places of the receives: messages whose handlers may run, plus the prefetch, but no more than the rate limit allows
    /// soon. Returns when this may change without a notification.
    fn update_places(&mut self) -> Option<Instant> {
        let shared = &self.work.shared;
        let (limits, size) = (&shared.options.limits, shared.options.limits.batch_size);
        let (handlers, next_change) = self.work.gate.places();
        self.limit_metric.set(handlers);
        let most = handlers.saturating_mul(size).saturating_add(limits.prefetch).min(MAX_IN_FLIGHT);
        let places = match self.work.gate.ahead() {
            Some(ahead) => {
                let started = self.work.gate.running().saturating_mul(size);
                let waiting = self.work.resting.load(Relaxed);
                most.min(started.saturating_add(waiting).saturating_add(ahead.max(size)))
            }
            None => most,
        };
        self.work.places.store(places, Relaxed);
        let waiting = (self.work.failing.load(Relaxed), self.work.hanging.load(Relaxed));
        let extra = extra_places(waiting, places, most);
        let total = if places == 0 || shared.is_paused.load(Relaxed) { 0 } else { places + extra };
        if total != std::mem::replace(&mut self.total, total) {
            shared.credits.set_total(total);
        }
        next_change
    }

    /// Shuts down within the grace.
    pub(crate) async fn wind_up(mut self, started: Instant) -> Result<Report, ReceiveError> {
        let shared = Arc::clone(&self.work.shared);
        let mut ending = shared.ending.subscribe();
        let mut grace = Grace::new(Instant::now(), shared.options.grace);
        let (mut is_late, mut comes_more) = (false, true);
        // No more batches start. Messages in the lines are given back.
        self.batches = Box::pin(pending());
        let (handlers, receives) = (self.work.gate.running(), self.intake.stats().receiving);
        if handlers + receives > 0 {
            let within = grace.end.saturating_duration_since(Instant::now());
            let hint = if receives == 0 || shared.settings.cancels_receives {
                ""
            } else {
                "; `cancel_receives` would end long polls at once"
            };
            tracing::info!(
                handlers,
                receives,
                ?within,
                "shutting down: waiting for handlers and receives{hint}"
            );
        }
        if shared.settings.cancels_receives {
            self.intake.abandon_receives();
        }
        loop {
            if !is_late {
                grace = ending.borrow_and_update().unwrap_or(grace);
            }
            self.give_waiting_back();
            while let Ok(future) = self.background.try_recv() {
                self.futures.push(future);
            }
            if self.futures.is_empty() && !comes_more {
                break;
            }
            tokio::select! {
                biased;
                Some(()) = self.futures.next() => {}
                Some(future) = self.background.recv() => self.futures.push(future),
                batch = self.intake.next(), if comes_more => match batch {
                    Some(unwanted) => give_back(unwanted),
                    None => comes_more = false,
                },
                _ = ending.changed(), if !is_late => {}
                () = sleep_until(grace.stop), if !is_late => {
                    is_late = true;
                    self.work.stop_handlers.send_replace(Some(grace.give_back));
                    self.intake.abandon_receives();
                }
                () = sleep_until(grace.last_try), if is_late => break,
            }
        }
        // Dropped deliveries are given back by the renewal task, except those whose deletes are under way.
        self.futures.clear();
        while self.background.try_recv().is_ok() {}
        let lines = std::mem::replace(&mut *self.work.lines(), Lines::new());
        drop(lines);
        let finished = timeout_at(grace.end, self.intake.finish()).await;
        let result = finished.unwrap_or_else(|_| self.intake.result());
        let (stats, panics) = (self.intake.stats(), self.work.take_panics());
        let is_clean = !is_late && stats.receives_abandoned == 0;
        result.map(|()| Report { stats, panics, is_clean, elapsed: started.elapsed() })
    }

    /// Gives back all messages that have not started.
    fn give_waiting_back(&mut self) {
        let drained = self.work.lines().drain();
        for mut line in drained {
            let rest = line.split_off(1.min(line.len()));
            let head = line.into_iter().flat_map(Arrived::into_deliveries).collect();
            let work = Arc::clone(&self.work);
            self.futures.push(Box::pin(async move {
                work.give_back_in_order(rest, head, Return::Returned(Duration::ZERO)).await;
            }));
        }
    }
}
