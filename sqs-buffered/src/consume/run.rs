//! One run of a consumer: messages in, handlers started, outcomes carried out.
//!
//! ```text
//! intake -> groups -> start -> handler (a task) -> step -> settle -> step -> groups
//! stop: messages that have not started are given back; handlers finish, or are stopped and their messages given back
//! ```
//! One task owns all of this; handlers, receives and the renewal of leases run in other tasks.

use std::collections::VecDeque;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::{Execute, Unopened};
use sqs_client::random;
use sqs_client::wire::limits::MAX_IN_FLIGHT;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tracing::Instrument as _;

use crate::consume::adaptive::HandlerEnd;
use crate::consume::batch::AnyBatchHandler;
use crate::consume::consumer::{Report, Shared};
use crate::consume::group::{Arrived, GroupAdvance, Groups, Key};
use crate::consume::handler::AnyHandler;
use crate::consume::pool::{PoolMember, RateLimit};
use crate::consume::settle;
use crate::consume::settle::{Handling, Lines, Outcome, Poison, Return, Step, Verdict, handle, handle_batch};
use crate::error::ReceiveError;
use crate::observe::meter::Level;
use crate::observe::receives::{Event, Settled};
use crate::receive::delivery::{Delivery, Grace};
use crate::receive::pump::{Intake, pause};
use crate::time::after;

/// The longest pause of a message whose handler returned `Overloaded`: it runs again soon after the overload is over.
const MAX_REST: Duration = Duration::from_secs(5);

/// One run of a consumer.
pub(crate) struct Run<H: Execute> {
    pub(crate) shared: Arc<Shared<H>>,
    intake: Intake<H>,
    pub(crate) groups: Groups<Delivery, Verdict>,
    pub(crate) work: FuturesUnordered<BoxFuture<'static, Step>>,
    /// Messages that may start because their leases were just renewed.
    pub(crate) fresh: VecDeque<(Key, Arrived<Delivery>)>,
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
    pub(crate) panics: Vec<String>,
}

impl<H: Execute> Run<H> {
    pub(crate) fn new(shared: Arc<Shared<H>>, intake: Intake<H>) -> Self {
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
    pub(crate) async fn serve(&mut self) {
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
    pub(crate) async fn wind_up(mut self, started: Instant) -> Result<Report, ReceiveError> {
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
                    Some(unwanted) => crate::receive::pump::give_back(unwanted),
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
    pub(crate) fn refresh(&mut self, key: Key, entry: Arrived<Delivery>) {
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
    fn rest(&mut self, key: Key, entry: Arrived<Delivery>, pause: Duration) {
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
    fn rest_after_overload(&mut self, key: Key, mut entry: Arrived<Delivery>) {
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
            let head = line.into_iter().flat_map(Arrived::into_deliveries).collect();
            self.push_back(None, rest, (head, Return::Returned(Duration::ZERO)));
        }
    }

    pub(crate) fn push_back(
        &mut self,
        key: Option<Key>,
        rest: Vec<Arrived<Delivery>>,
        head: (Vec<Delivery>, Return),
    ) {
        let span =
            settle::settle_span(&self.shared.source.url, "change_visibility", rest.len() + head.0.len());
        let giving = settle::give_back(Arc::clone(&self.shared), key, rest, head);
        self.work.push(Box::pin(giving.instrument(span)));
    }

    /// Starts handlers. Returns the time to try again; `None` if that depends only on messages and other handlers.
    fn start_ready(&mut self) -> Option<Instant> {
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

    fn start_handler(&mut self, handler: AnyHandler, key: Key, mut entry: Arrived<Delivery>) {
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
    fn may_start(&mut self) -> Result<(), Option<Instant>> {
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
    pub(crate) fn started(&mut self, messages: usize) {
        if let Some(rate) = &mut self.rate {
            rate.started(messages);
        }
    }

    fn handler_ended(&mut self, how: HandlerEnd, elapsed: Duration) {
        self.running -= 1;
        self.running_metric.set(self.running);
        self.pool_member.ended(how, elapsed, Instant::now());
    }

    /// Sets the places of the receives: messages whose handlers may run, plus the prefetch, but no more than the rate limit allows
    /// soon. Returns when this may change without a notification.
    fn update_places(&mut self) -> Option<Instant> {
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

    /// Applies the result of a step.
    pub(crate) fn take(&mut self, step: Step) {
        match step {
            Step::Refreshed { key, entry, is_fresh: true } => self.fresh.push_back((key, entry)),
            Step::Refreshed { key, entry, is_fresh: false } => self.not_started(key, entry),
            Step::Handled { key, entry, verdict, elapsed } => {
                self.handler_ended(verdict.end(), elapsed);
                self.handled(key, entry, verdict);
            }
            Step::HandledBatch { lines, elapsed } => {
                self.handler_ended(batch_end(&lines), elapsed);
                self.handled_batch(lines);
            }
            Step::Decided { key, entry, verdict } => self.handled(key, entry, verdict),
            Step::Consulted { key, entry, reason, allowed } => self.consulted(key, entry, reason, allowed),
            Step::Rested { key, entry } => self.rested(&key, entry),
            Step::Sent { key, deliveries, result } => self.sent(key, deliveries, result),
            Step::Deleted { key: Some(key), is_done, deliveries } => {
                if !is_done {
                    return self.not_deleted(key, deliveries);
                }
                let late = self.line_done(&key);
                if !late.is_empty() {
                    self.delete(None, late, Settled::Acked);
                }
            }
            Step::Deleted { key: None, is_done: false, deliveries } => {
                let delay = self.delay_after_failed_delete(&deliveries);
                for delivery in deliveries {
                    delivery.give_back_after(delay);
                }
            }
            // Dropping the rest of them gives them back.
            Step::Deleted { key: None, .. } | Step::GivenBack { key: None } => {}
            Step::GivenBack { key: Some(key) } => drop(self.line_done(&key)),
        }
    }

    /// Ends the turn of the first message of a line: the next one is settled if it ran in the same batch, else it may
    /// start. Returns deliveries that arrived too late to be settled with the first.
    fn line_done(&mut self, key: &Key) -> Vec<Delivery> {
        let late = self.groups.done(key);
        if let Some((entry, verdict)) = self.groups.next_decided(key) {
            // A separate step, because a line may have any number of decided messages.
            let step = Step::Decided { key: Key::clone(key), entry, verdict };
            self.work.push(Box::pin(ready(step)));
        }
        late
    }

    pub(crate) fn handled(&mut self, key: Key, mut entry: Arrived<Delivery>, verdict: Verdict) {
        let verdict = match verdict {
            Verdict::Outcome(Outcome::Retry(pause)) if self.may_rest() => {
                entry.latest.overloads = 0;
                return self.rest(key, entry, pause.max(MIN_RETRY));
            }
            Verdict::Outcome(Outcome::Overloaded) => return self.rest_after_overload(key, entry),
            Verdict::Failed { reason, panic } if self.may_run_in_place(&entry) => {
                self.note_panic(panic);
                return self.consult(key, entry, reason);
            }
            verdict => verdict,
        };
        let attempts = entry.latest.attempts();
        let has_succeeded = matches!(verdict, Verdict::Outcome(Outcome::Ack));
        let Some(deliveries) = self.together(&key, entry, has_succeeded) else { return };
        match verdict {
            Verdict::Outcome(Outcome::Ack) => self.succeeded(key, deliveries, Settled::Acked),
            // Too many messages wait for their next run.
            Verdict::Outcome(Outcome::Retry(pause)) => {
                self.give_back(key, deliveries, Return::After(pause.max(SOON)));
            }
            Verdict::Outcome(Outcome::Nack(delay)) => self.give_back(key, deliveries, Return::After(delay)),
            Verdict::Outcome(Outcome::Release | Outcome::Overloaded) => {
                self.give_back(key, deliveries, Return::Released);
            }
            Verdict::Outcome(Outcome::Keep) => self.give_back(key, deliveries, Return::Kept),
            Verdict::Outcome(Outcome::DeadLetter(reason))
            | Verdict::Unopened(Unopened::DeadLetter, reason) => self.send(key, deliveries, reason),
            Verdict::Failed { panic, .. } => {
                self.note_panic(panic);
                self.failed(key, deliveries, attempts);
            }
            Verdict::Busy => {
                self.shared.observer.duplicate();
                self.give_back(key, deliveries, Return::Returned(SOON));
            }
            Verdict::Unopened(Unopened::Delete, _) => self.succeeded(key, deliveries, Settled::Discarded),
            // It did not run: the back-off is that of its receives.
            Verdict::Unopened(..) => {
                let receives = deliveries.first().map_or(1, Delivery::receive_count);
                let delay = self.shared.settings.back_off.delay(receives, random::unit());
                self.give_back(key, deliveries, Return::Returned(delay));
            }
            Verdict::Aborted => self.give_back(key, deliveries, Return::Returned(Duration::ZERO)),
        }
    }

    fn note_panic(&mut self, panic: Option<String>) {
        self.panics.extend(panic.filter(|_| self.panics.len() < MAX_PANICS));
    }

    /// Whether a failed message may run again while its group waits.
    fn may_run_in_place(&self, entry: &Arrived<Delivery>) -> bool {
        self.shared.poison == Poison::InPlace
            && self.shared.source.is_fifo()
            && !self.shared.stop.is_finishing()
            && !entry.latest.lease.is_lost()
    }

    /// Asks for the redrive policy, which decides about a failed message.
    fn consult(&mut self, key: Key, entry: Arrived<Delivery>, reason: String) {
        let shared = Arc::clone(&self.shared);
        self.work.push(Box::pin(async move {
            let allowed = shared.dead_letters.allowed_attempts(&shared.source).await;
            Step::Consulted { key, entry, reason, allowed }
        }));
    }

    /// Runs a failed message again in place, sends it to the dead-letter queue, or leaves it to SQS.
    fn consulted(&mut self, key: Key, mut entry: Arrived<Delivery>, reason: String, allowed: Option<u32>) {
        let attempts = entry.latest.attempts();
        let is_used_up = allowed.is_some_and(|allowed| attempts >= allowed);
        if allowed.is_some() && !is_used_up && self.may_rest() && self.may_run_in_place(&entry) {
            let pause = self.shared.settings.back_off.delay(attempts, random::unit());
            entry.latest.failures += 1;
            entry.latest.overloads = 0;
            let (message_id, retry_in) = (&**entry.latest.id(), pause);
            self.shared.observer.report(&Event::RetriedInPlace { message_id, attempts, retry_in });
            return self.rest(key, entry, pause);
        }
        let Some(deliveries) = self.together(&key, entry, false) else { return };
        if is_used_up {
            self.send(key, deliveries, reason);
        } else {
            self.failed(key, deliveries, attempts);
        }
    }

    /// Puts a message whose pause is over at the front of its line, with later deliveries of it.
    fn rested(&mut self, key: &Key, mut entry: Arrived<Delivery>) {
        self.resting -= 1;
        let (overloads, failures) = (entry.latest.overloads, entry.latest.failures);
        self.groups.take_more(key).into_iter().for_each(|delivery| entry.renew(delivery));
        (entry.latest.overloads, entry.latest.failures) = (overloads, failures);
        self.groups.run_again(key, entry);
        drop(self.line_done(key));
    }

    /// Gives back a message that could not start.
    fn not_started(&mut self, key: Key, entry: Arrived<Delivery>) {
        if let Some(deliveries) = self.together(&key, entry, false) {
            self.give_back(key, deliveries, Return::Returned(Duration::ZERO));
        }
    }

    /// All deliveries of a message that ran, the latest first. If its lease is lost, handles that and returns `None`, unless its
    /// handler has succeeded and the message was received again: then the later delivery deletes it.
    fn together(
        &mut self,
        key: &Key,
        entry: Arrived<Delivery>,
        has_succeeded: bool,
    ) -> Option<Vec<Delivery>> {
        let more = self.groups.take_more(key);
        if entry.latest.lease.is_lost() {
            if has_succeeded && more.last().is_some_and(|latest| !latest.lease.is_lost()) {
                entry.into_deliveries().for_each(Delivery::forget);
                return Some(more.into_iter().rev().collect());
            }
            self.lost(Key::clone(key), entry, more);
            return None;
        }
        Some(more.into_iter().rev().chain(entry.into_deliveries()).collect())
    }

    /// Forgets deliveries whose leases are lost. A later delivery of the message runs now that the first has ended; without one,
    /// the group starts again from the lost message.
    fn lost(&mut self, key: Key, entry: Arrived<Delivery>, mut more: Vec<Delivery>) {
        entry.into_deliveries().for_each(Delivery::forget);
        if let Some(latest) = more.pop() {
            self.groups.run_again(&key, Arrived { latest, earlier: more });
            drop(self.line_done(&key));
        } else {
            self.give_back(key, Vec::new(), Return::Returned(Duration::ZERO));
        }
    }

    fn failed(&mut self, key: Key, deliveries: Vec<Delivery>, attempts: u32) {
        let delay = self.shared.settings.back_off.delay(attempts, random::unit());
        self.give_back(key, deliveries, Return::After(delay));
    }

    fn not_deleted(&mut self, key: Key, deliveries: Vec<Delivery>) {
        let delay = self.delay_after_failed_delete(&deliveries);
        self.give_back(key, deliveries, Return::Returned(delay));
    }

    /// How long a message stays hidden after its delete failed: its handler will run again, and must not spin.
    fn delay_after_failed_delete(&self, deliveries: &[Delivery]) -> Duration {
        let receives = deliveries.first().map_or(1, Delivery::receive_count);
        self.shared.settings.back_off.delay(receives, random::unit()).max(SOON)
    }

    fn succeeded(&mut self, key: Key, mut deliveries: Vec<Delivery>, how: Settled) {
        deliveries.iter_mut().for_each(Delivery::makes_room);
        if self.shared.advance == GroupAdvance::AfterHandler && self.shared.source.is_fifo() {
            deliveries.extend(self.line_done(&key));
            return self.delete(None, deliveries, how);
        }
        self.delete(Some(key), deliveries, how);
    }

    fn delete(&mut self, key: Option<Key>, deliveries: Vec<Delivery>, how: Settled) {
        let span = settle::settle_span(&self.shared.source.url, "delete", deliveries.len());
        let deleting = settle::delete(Arc::clone(&self.shared), key, deliveries, how);
        self.work.push(Box::pin(deleting.instrument(span)));
    }

    fn send(&mut self, key: Key, deliveries: Vec<Delivery>, reason: String) {
        self.work.push(Box::pin(settle::send(Arc::clone(&self.shared), key, deliveries, reason)));
    }

    fn sent(&mut self, key: Key, deliveries: Vec<Delivery>, result: Result<(), String>) {
        let Err(reason) = result else { return self.succeeded(key, deliveries, Settled::DeadLettered) };
        let attempts = deliveries.first().map_or(1, |latest| {
            self.shared
                .observer
                .report(&Event::DeadLetterFailed { message_id: latest.id(), reason: &reason });
            latest.attempts()
        });
        self.failed(key, deliveries, attempts);
    }

    /// Gives a message back that ran, with its later deliveries, after all messages that wait behind it.
    fn give_back(&mut self, key: Key, deliveries: Vec<Delivery>, how: Return) {
        let rest = self.groups.take_waiting(&key);
        let late = self.groups.give_back(&key).into_iter().rev();
        self.push_back(Some(key), rest, (late.chain(deliveries).collect(), how));
    }

    /// Starts batches that are full, or whose first message has waited for the window. The error is the time to try
    /// again; `None` if that depends only on messages and other handlers.
    fn start_batches(&mut self, handler: &AnyBatchHandler) -> Result<(), Option<Instant>> {
        let (now, size, window) =
            (Instant::now(), self.shared.limits.batch_size, self.shared.limits.batch_window);
        loop {
            let here = self.fresh.len() + self.groups.startable(size);
            if here == 0 {
                self.batch_due = None;
                return Ok(());
            }
            let due = *self.batch_due.get_or_insert_with(|| after(now, window));
            if here < size && now < due {
                self.pool_member.idle();
                return Err(Some(due));
            }
            self.may_start()?;
            self.batch_due = None;
            let lines = self.next_batch(size);
            if lines.is_empty() {
                self.handler_ended(HandlerEnd::Stopped, Duration::ZERO);
            } else {
                self.start_batch(handler.clone(), lines);
            }
        }
    }

    /// Takes messages whose leases have enough time left. The others are renewed first, and run in a later batch.
    fn next_batch(&mut self, size: usize) -> Lines<Arrived<Delivery>> {
        let (mut lines, mut count) = (Vec::new(), 0);
        while count < size {
            let Some((key, entry)) = self.fresh.pop_front().or_else(|| self.groups.start()) else { break };
            if !entry.latest.lease.is_fresh() {
                self.refresh(key, entry);
                continue;
            }
            let mut entries = vec![entry];
            while count + entries.len() < size
                && let Some(next) = self.groups.start_next(&key, |entry| entry.latest.lease.is_fresh())
            {
                entries.push(next);
            }
            count += entries.len();
            lines.push((key, entries));
        }
        lines
    }

    fn start_batch(&mut self, handler: AnyBatchHandler, lines: Lines<Arrived<Delivery>>) {
        self.started(lines.iter().map(|(_, entries)| entries.len()).sum());
        let (shared, stop) = (Arc::clone(&self.shared), self.stop_handlers.subscribe());
        self.work.push(Box::pin(async move {
            let began = Instant::now();
            let lines = handle_batch(&handler, &shared.source, lines, &shared.observer, stop).await;
            Step::HandledBatch { lines, elapsed: began.elapsed() }
        }));
    }

    /// Settles the first message of each line; the others when it is their turn.
    fn handled_batch(&mut self, lines: Lines<(Arrived<Delivery>, Verdict)>) {
        for (key, entries) in lines {
            let mut entries = entries.into_iter();
            let Some((first, verdict)) = entries.next() else { continue };
            self.groups.decide(&key, entries);
            self.handled(key, first, verdict);
        }
    }
}

/// Panics whose text is reported.
const MAX_PANICS: usize = 10;

/// The minimum pause of `Outcome::Retry`.
const MIN_RETRY: Duration = Duration::from_millis(100);

/// The minimum delay of a message that another consumer is handling, or whose delete failed: an immediate receive would
/// not help.
const SOON: Duration = Duration::from_secs(1);

/// The result of a batch for the adaptive concurrency.
fn batch_end(lines: &Lines<(Arrived<Delivery>, Verdict)>) -> HandlerEnd {
    let ends = lines.iter().flat_map(|(_, entries)| entries).map(|(_, verdict)| verdict.end());
    ends.max().unwrap_or(HandlerEnd::Stopped)
}
