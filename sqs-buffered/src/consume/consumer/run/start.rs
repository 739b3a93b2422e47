//! Starts handlers, within all limits.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::wire::limits::MAX_IN_FLIGHT;
use tokio::time::Instant;

use super::super::groups::{Entry, Key};
use super::super::handling::{Handling, handle};
use super::super::step::Step;
use super::Run;
use crate::consume::handler::AnyHandler;
use crate::consume::pool::HandlerEnd;
use crate::consume::receive::Delivery;

impl<H: Execute> Run<H> {
    /// Starts handlers. Returns the time to try again; `None` if that depends only on messages and other handlers.
    pub(super) fn start_ready(&mut self) -> Option<Instant> {
        let shared = Arc::clone(&self.shared);
        let next = if shared.is_paused.load(Relaxed) {
            Ok(())
        } else {
            match &shared.handler {
                Handling::Each(handler) => self.start_handlers(handler),
                Handling::Batches(handler) => self.start_batches(handler),
            }
        };
        let Err(next_start) = next else {
            self.pool_member.idle();
            return None;
        };
        next_start
    }

    /// Starts handlers for all messages. The error is the time to try again, as in [`may_start`](Self::may_start).
    fn start_handlers(&mut self, handler: &AnyHandler) -> Result<(), Option<Instant>> {
        while let Some((key, entry)) = self.fresh.pop_front().or_else(|| self.groups.start()) {
            if !entry.latest.lease.is_fresh() {
                self.refresh(key, entry);
                continue;
            }
            if let Err(next_start) = self.may_start() {
                self.fresh.push_front((key, entry));
                return Err(next_start);
            }
            self.start_handler(handler.clone(), key, entry);
        }
        Ok(())
    }

    fn start_handler(&mut self, handler: AnyHandler, key: Key, mut entry: Entry<Delivery>) {
        self.started(1);
        let (shared, stop) = (Arc::clone(&self.shared), self.stop_handlers.subscribe());
        self.work.push(Box::pin(async move {
            let began = Instant::now();
            let verdict = handle(&handler, &shared.source, &mut entry.latest, &shared.observer, stop).await;
            Step::Handled { key, entry, verdict, elapsed: began.elapsed() }
        }));
    }

    /// Takes the place of a handler that is about to start. The error is the time to try again; `None` if that depends
    /// only on other handlers.
    pub(super) fn may_start(&mut self) -> Result<(), Option<Instant>> {
        if let Some(next_start) = self.rate.as_mut().and_then(|rate| rate.next_start(Instant::now())) {
            self.pool_member.idle();
            return Err(Some(next_start));
        }
        if !self.pool_member.start(Instant::now()) {
            return Err(None);
        }
        self.running += 1;
        self.running_metric.set(self.running);
        Ok(())
    }

    /// Notes that a handler starts with this number of messages.
    pub(super) fn started(&mut self, messages: usize) {
        if let Some(rate) = &mut self.rate {
            rate.started(messages);
        }
    }

    pub(super) fn handler_ended(&mut self, how: HandlerEnd, elapsed: Duration) {
        self.running -= 1;
        self.running_metric.set(self.running);
        self.pool_member.ended(how, elapsed, Instant::now());
    }

    /// Sets the places of the receives: messages whose handlers may run, plus the prefetch, but no more than the rate limit allows
    /// soon. Returns when this may change without a notification.
    pub(super) fn update_places(&mut self) -> Option<Instant> {
        let (limits, size) = (&self.shared.limits, self.shared.limits.batch_size);
        let (handlers, next_change) = self.pool_member.places(Instant::now());
        self.limit_metric.set(handlers);
        let most = handlers.saturating_mul(size).saturating_add(limits.prefetch).min(MAX_IN_FLIGHT);
        let places = match &self.rate {
            _ if self.shared.is_paused.load(Relaxed) => 0,
            Some(rate) => most.min(self.running.saturating_mul(size).saturating_add(rate.ahead().max(size))),
            None => most,
        };
        if places != std::mem::replace(&mut self.places, places) {
            self.shared.credits.set_total(places);
        }
        next_change
    }
}
