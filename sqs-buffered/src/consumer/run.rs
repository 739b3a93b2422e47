//! One run of a consumer: messages in, handlers started, outcomes carried out.
//!
//! ```text
//! intake -> groups -> start -> handler (a task) -> Handled -> delete | give back | dead letter -> Deleted, GivenBack -> groups
//! stop: what has not started is given back, handlers have the grace, then they are stopped and theirs is given back
//! ```
//! One task owns all of this; only handlers, receives and the keeper of leases run beside it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::Execute;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::Instrument as _;

use super::Shared;
use super::groups::{Entry, Groups, Key};
use super::handler::Verdict;
use super::outcome::{GroupPace, Outcome};
use super::report::Report;
use super::settle::{self, Back};
use crate::random;
use crate::receive::{Delivery, Event, Intake, ReceiveError, Settled};

/// How long the last requests may take when the grace is over.
const LAST_REQUESTS: Duration = Duration::from_secs(5);
/// Panics whose text is reported.
const MOST_PANICS: usize = 10;

/// What has come to an end.
pub(super) enum Step {
    Handled {
        key: Key,
        entry: Entry<Delivery>,
        verdict: Verdict,
    },
    /// The sending of a dead letter: its deliveries, the latest first, and why it failed.
    Sent {
        key: Key,
        deliveries: Vec<Delivery>,
        result: Result<(), String>,
    },
    Deleted {
        key: Option<Key>,
        is_done: bool,
        deliveries: Vec<Delivery>,
    },
    GivenBack {
        key: Option<Key>,
    },
}

/// One run of a consumer.
pub(super) struct Run<H: Execute> {
    shared: Arc<Shared<H>>,
    intake: Intake<H>,
    groups: Groups<Delivery>,
    work: FuturesUnordered<BoxFuture<'static, Step>>,
    /// Handlers that run.
    running: usize,
    abort: watch::Sender<bool>,
    panics: Vec<String>,
}

impl<H: Execute> Run<H> {
    pub(super) fn new(shared: Arc<Shared<H>>, intake: Intake<H>) -> Self {
        let (groups, work) = (Groups::new(), FuturesUnordered::new());
        Self { shared, intake, groups, work, running: 0, abort: watch::channel(false).0, panics: Vec::new() }
    }

    /// Handles messages until `stop` says that it should not, or until receiving has ended by itself.
    pub(super) async fn serve(&mut self, mut stop: watch::Receiver<bool>) {
        loop {
            self.start_what_may();
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                Some(step) = self.work.next() => self.take(step),
                batch = self.intake.next() => match batch {
                    Some(batch) => self.arrive(batch),
                    None => return,
                },
            }
        }
    }

    /// Brings everything to an end.
    pub(super) async fn wind_up(mut self, started: Instant, grace: Duration) -> Result<Report, ReceiveError> {
        self.intake.stop();
        let (mut until, mut is_late) = (Instant::now() + grace, false);
        let mut comes_more = true;
        loop {
            self.give_waiting_back();
            if self.work.is_empty() && !comes_more {
                break;
            }
            tokio::select! {
                biased;
                Some(step) = self.work.next() => self.take(step),
                batch = self.intake.next(), if comes_more => match batch {
                    Some(unwanted) => crate::receive::give_back(unwanted),
                    None => comes_more = false,
                },
                () = sleep_until(until) => {
                    if is_late {
                        break;
                    }
                    (until, is_late) = (Instant::now() + LAST_REQUESTS, true);
                    self.abort.send_replace(true);
                    self.intake.abandon_receives();
                }
            }
        }
        let until = if is_late { until } else { until + LAST_REQUESTS };
        // What is still being settled is given back by being dropped.
        self.work.clear();
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
        let result = timeout(left, self.intake.finish()).await.unwrap_or(Ok(()));
        let (stats, panics) = (self.intake.stats(), self.panics);
        result.map(|()| Report { stats, panics, is_clean: !is_late, elapsed: started.elapsed() })
    }

    fn arrive(&mut self, batch: Vec<Delivery>) {
        for delivery in batch {
            let key = self.shared.line_of(&delivery);
            if self.groups.arrive(key, delivery) {
                self.intake.monitor.tally.duplicates.one();
            }
        }
    }

    fn start_what_may(&mut self) {
        while self.running < self.shared.settings.concurrency {
            let Some((key, entry)) = self.groups.start() else { return };
            self.running += 1;
            let (shared, abort) = (Arc::clone(&self.shared), self.abort.subscribe());
            self.work.push(Box::pin(async move {
                let (handler, monitor) = (&shared.handler, &shared.monitor);
                let source = (shared.source.client.busy(), &shared.source.url);
                let verdict = handler.run(source, &entry.latest, monitor, abort).await;
                Step::Handled { key, entry, verdict }
            }));
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Handled { key, entry, verdict } => self.handled(key, entry, verdict),
            Step::Sent { key, deliveries, result } => self.sent(key, deliveries, result),
            Step::Deleted { key: Some(key), is_done, deliveries } => {
                if !is_done {
                    return self.give_back(key, deliveries, Back::Returned);
                }
                let late = self.groups.done(&key);
                if !late.is_empty() {
                    self.delete(None, late, Settled::Acked);
                }
            }
            // What is left of them is given back by being dropped.
            Step::Deleted { key: None, .. } | Step::GivenBack { key: None } => {}
            Step::GivenBack { key: Some(key) } => drop(self.groups.done(&key)),
        }
    }

    fn handled(&mut self, key: Key, entry: Entry<Delivery>, verdict: Verdict) {
        self.running -= 1;
        let more = self.groups.take_more(&key);
        if entry.latest.lease.is_lost() {
            return self.lost(key, entry, more);
        }
        let receives = entry.latest.receive_count();
        let deliveries: Vec<_> = more.into_iter().rev().chain(entry.into_deliveries()).collect();
        match verdict {
            Verdict::Outcome(Outcome::Ack) => self.succeeded(key, deliveries, Settled::Acked),
            Verdict::Outcome(Outcome::Nack(delay)) => self.give_back(key, deliveries, Back::After(delay)),
            Verdict::Outcome(Outcome::Release) => self.give_back(key, deliveries, Back::Released),
            Verdict::Outcome(Outcome::Keep) => self.give_back(key, deliveries, Back::Kept),
            Verdict::Outcome(Outcome::DeadLetter(reason)) => self.send(key, deliveries, reason),
            Verdict::Failed(panic) => {
                self.panics.extend(panic.filter(|_| self.panics.len() < MOST_PANICS));
                self.failed(key, deliveries, receives);
            }
            Verdict::Busy => {
                self.shared.monitor.tally.duplicates.one();
                self.give_back(key, deliveries, Back::Later);
            }
            Verdict::Stale | Verdict::Aborted => self.give_back(key, deliveries, Back::Returned),
        }
    }

    /// Nothing more is done about deliveries that are lost. A later one of the same message is run now that the first has
    /// ended; without one, a group has to begin again from the message that is lost.
    fn lost(&mut self, key: Key, entry: Entry<Delivery>, mut more: Vec<Delivery>) {
        entry.into_deliveries().for_each(Delivery::forget);
        if let Some(latest) = more.pop() {
            self.groups.run_again(&key, Entry { latest, earlier: more });
            drop(self.groups.done(&key));
        } else {
            self.give_back(key, Vec::new(), Back::Returned);
        }
    }

    fn failed(&mut self, key: Key, deliveries: Vec<Delivery>, receives: u32) {
        let delay = self.shared.back_off.delay(receives, random::unit());
        self.give_back(key, deliveries, Back::After(delay));
    }

    fn succeeded(&mut self, key: Key, mut deliveries: Vec<Delivery>, how: Settled) {
        if self.shared.pace == GroupPace::AfterHandler && self.shared.source.is_fifo() {
            deliveries.extend(self.groups.done(&key));
            return self.delete(None, deliveries, how);
        }
        self.delete(Some(key), deliveries, how);
    }

    fn delete(&mut self, key: Option<Key>, deliveries: Vec<Delivery>, how: Settled) {
        let span = settle::span(&self.shared.source.url, "delete", deliveries.len());
        let deleting = settle::delete(Arc::clone(&self.shared), key, deliveries, how);
        self.work.push(Box::pin(deleting.instrument(span)));
    }

    fn send(&mut self, key: Key, deliveries: Vec<Delivery>, reason: String) {
        let shared = Arc::clone(&self.shared);
        self.work.push(Box::pin(async move {
            let result = match deliveries.first() {
                Some(latest) => shared.dead_letters.send(&shared.source, latest, &reason).await,
                None => Ok(()),
            };
            Step::Sent { key, deliveries, result }
        }));
    }

    fn sent(&mut self, key: Key, deliveries: Vec<Delivery>, result: Result<(), String>) {
        let Err(reason) = result else { return self.succeeded(key, deliveries, Settled::DeadLettered) };
        let receives = deliveries.first().map_or(1, |latest| {
            self.shared.monitor.tell(&Event::DeadLetterFailed { message_id: latest.id(), reason: &reason });
            latest.receive_count()
        });
        self.failed(key, deliveries, receives);
    }

    /// Gives a message back that ran, after all that waits behind it.
    fn give_back(&mut self, key: Key, deliveries: Vec<Delivery>, how: Back) {
        let rest = self.groups.take_waiting(&key);
        self.groups.give_back(&key);
        self.push_back(Some(key), rest, (deliveries, how));
    }

    /// Gives everything back that has not started.
    fn give_waiting_back(&mut self) {
        for mut line in self.groups.drain() {
            let rest = line.split_off(1.min(line.len()));
            let head = line.into_iter().flat_map(Entry::into_deliveries).collect();
            self.push_back(None, rest, (head, Back::Returned));
        }
    }

    fn push_back(&mut self, key: Option<Key>, rest: Vec<Entry<Delivery>>, head: (Vec<Delivery>, Back)) {
        let span = settle::span(&self.shared.source.url, "change_visibility", rest.len() + head.0.len());
        let giving = settle::give_back(Arc::clone(&self.shared), key, rest, head);
        self.work.push(Box::pin(giving.instrument(span)));
    }
}
