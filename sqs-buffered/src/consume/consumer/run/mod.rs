//! One run of a consumer: messages in, handlers started, outcomes carried out.
//!
//! ```text
//! intake -> groups -> start -> handler (a task) -> step -> settle -> step -> groups
//! stop: messages that have not started are given back; handlers finish, or are stopped and their messages given back
//! ```
//! One task owns all of this; handlers, receives and the renewal of leases run in other tasks.

mod batch;
mod next;
mod start;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::Execute;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tracing::Instrument as _;

use super::Shared;
use super::groups::{Entry, Groups, Key};
use super::handling::Verdict;
use super::report::Report;
use super::step::{self, Return, Step};
use crate::consume::pool::{PoolMember, RateLimit};
use crate::consume::receive::{Delivery, Grace, Intake, ReceiveError, pause};
use crate::meter::Level;
use crate::random;

/// The longest pause of a message whose handler returned `Overloaded`: it runs again soon after the overload is over.
const MAX_REST: Duration = Duration::from_secs(5);

/// One run of a consumer.
pub(super) struct Run<H: Execute> {
    pub(super) shared: Arc<Shared<H>>,
    intake: Intake<H>,
    pub(super) groups: Groups<Delivery, Verdict>,
    pub(super) work: FuturesUnordered<BoxFuture<'static, Step>>,
    /// Messages that may start because their leases were just renewed.
    pub(super) fresh: VecDeque<(Key, Entry<Delivery>)>,
    /// The number of running handlers.
    running: usize,
    pool_member: PoolMember,
    rate: Option<RateLimit>,
    /// The number and the limit of running handlers, as metrics.
    running_metric: Level,
    limit_metric: Level,
    /// The number of places that the credits have.
    places: usize,
    /// Messages that wait for the next run of their handlers.
    resting: usize,
    /// When the next batch starts even if it is not full.
    batch_due: Option<Instant>,
    /// Stops the handlers. The run waits for them until this time.
    stop_handlers: watch::Sender<Option<Instant>>,
    pub(super) panics: Vec<String>,
}

impl<H: Execute> Run<H> {
    pub(super) fn new(shared: Arc<Shared<H>>, intake: Intake<H>) -> Self {
        let (groups, work) = (Groups::new(), FuturesUnordered::new());
        let (fresh, stop_handlers) = (VecDeque::new(), watch::channel(None).0);
        let pool_member = shared.join_pool();
        let metrics = &shared.observer.metrics;
        let (running_metric, limit_metric) = (metrics.handlers_running(), metrics.handlers_limit());
        // Its bounds were checked when the consumer was built.
        let rate = shared.limits.per_second.and_then(|per_second| RateLimit::new(per_second).ok());
        Self {
            shared,
            intake,
            groups,
            work,
            fresh,
            running: 0,
            running_metric,
            limit_metric,
            pool_member,
            rate,
            places: 0,
            resting: 0,
            batch_due: None,
            stop_handlers,
            panics: Vec::new(),
        }
    }

    /// Handles messages until `stop`, or until receiving has ended by itself.
    pub(super) async fn serve(&mut self) {
        let stop = self.shared.stop.clone();
        let woken = Arc::clone(&self.shared.woken);
        loop {
            let next_start = self.start_ready();
            let next_look = next_start.into_iter().chain(self.update_places()).min();
            tokio::select! {
                biased;
                () = stop.finishing() => return,
                Some(step) = self.work.next() => self.take(step),
                batch = self.intake.next() => match batch {
                    Some(batch) => self.arrive(batch),
                    None => return,
                },
                () = woken.notified() => {}
                () = sleep_until(next_look.unwrap_or_else(Instant::now)), if next_look.is_some() => {}
            }
        }
    }

    /// Shuts down within the grace.
    pub(super) async fn wind_up(mut self, started: Instant) -> Result<Report, ReceiveError> {
        let mut ending = self.shared.ending.subscribe();
        let mut grace = Grace::new(Instant::now(), self.shared.grace);
        let (mut is_late, mut comes_more) = (false, true);
        self.pool_member.idle();
        let (handlers, receives) = (self.running, self.intake.stats().receiving);
        if handlers + receives > 0 {
            let within = grace.end.saturating_duration_since(Instant::now());
            tracing::info!(handlers, receives, ?within, "shutting down: waiting for handlers and receives");
        }
        if self.shared.settings.cancels_receives {
            self.intake.abandon_receives();
        }
        loop {
            if !is_late {
                grace = ending.borrow_and_update().unwrap_or(grace);
            }
            self.give_waiting_back();
            if self.work.is_empty() && !comes_more {
                break;
            }
            tokio::select! {
                biased;
                Some(step) = self.work.next() => self.take(step),
                batch = self.intake.next(), if comes_more => match batch {
                    Some(unwanted) => crate::consume::receive::give_back(unwanted),
                    None => comes_more = false,
                },
                _ = ending.changed(), if !is_late => {}
                () = sleep_until(grace.stop), if !is_late => {
                    is_late = true;
                    self.stop_handlers.send_replace(Some(grace.give_back));
                    self.intake.abandon_receives();
                }
                () = sleep_until(grace.last_try), if is_late => break,
            }
        }
        // Dropped deliveries are given back by the renewal task, except those whose deletes are under way.
        self.work.clear();
        self.groups = Groups::new();
        let finished = timeout_at(grace.end, self.intake.finish()).await;
        let result = finished.unwrap_or_else(|_| self.intake.result());
        let (stats, panics) = (self.intake.stats(), self.panics);
        let is_clean = !is_late && stats.receives_abandoned == 0;
        result.map(|()| Report { stats, panics, is_clean, elapsed: started.elapsed() })
    }

    fn arrive(&mut self, batch: Vec<Delivery>) {
        for delivery in batch {
            let key = self.shared.line_of(&delivery);
            if self.groups.arrive(key, delivery) {
                self.intake.observer.duplicate();
            }
        }
    }

    /// Renews a lease that has little time left, without blocking handlers.
    pub(super) fn refresh(&mut self, key: Key, entry: Entry<Delivery>) {
        let stop = self.shared.stop.clone();
        self.work.push(Box::pin(async move {
            let is_fresh = tokio::select! {
                biased;
                () = stop.finishing() => false,
                fresh = entry.latest.lease.refresh() => fresh.is_ok(),
            };
            Step::Refreshed { key, entry, is_fresh }
        }));
    }

    /// Keeps a message for a pause, before its handler runs again.
    fn rest(&mut self, key: Key, entry: Entry<Delivery>, pause: Duration) {
        self.resting += 1;
        let stop = self.shared.stop.clone();
        self.work.push(Box::pin(async move {
            tokio::select! {
                biased;
                () = stop.finishing() => {}
                () = entry.latest.lease.lost() => {}
                () = sleep(pause) => {}
            }
            Step::Rested { key, entry }
        }));
    }

    /// Keeps a message whose handler returned `Overloaded`. The pause grows each time in a row.
    fn rest_after_overload(&mut self, key: Key, mut entry: Entry<Delivery>) {
        entry.latest.overloads += 1;
        let pause = pause(entry.latest.overloads, random::unit()).min(MAX_REST);
        self.rest(key, entry, pause);
    }

    /// Whether another message may wait for the next run of its handler. The messages that wait must leave places for
    /// others.
    fn may_rest(&self) -> bool {
        self.resting < (self.places / 2).max(1)
    }

    /// Gives back all messages that have not started.
    fn give_waiting_back(&mut self) {
        for (key, entry) in std::mem::take(&mut self.fresh) {
            self.not_started(key, entry);
        }
        for mut line in self.groups.drain() {
            let rest = line.split_off(1.min(line.len()));
            let head = line.into_iter().flat_map(Entry::into_deliveries).collect();
            self.push_back(None, rest, (head, Return::Returned(Duration::ZERO)));
        }
    }

    pub(super) fn push_back(
        &mut self,
        key: Option<Key>,
        rest: Vec<Entry<Delivery>>,
        head: (Vec<Delivery>, Return),
    ) {
        let span = step::span(&self.shared.source.url, "change_visibility", rest.len() + head.0.len());
        let giving = step::give_back(Arc::clone(&self.shared), key, rest, head);
        self.work.push(Box::pin(giving.instrument(span)));
    }
}
