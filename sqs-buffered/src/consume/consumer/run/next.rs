//! Applies the result of each step.
//!
//! ```text
//! Refreshed -> its handler may begin, or it is given back
//! Handled -> retry or overloaded -> rest --Rested--> it may start again
//!    |
//!    |-> succeeded -> delete --Deleted--> the next of the line may start
//! HandledBatch -> each message in the order of its line, when the one before it is done: Decided, as Handled
//!    |                               | failed
//!    |-> failed, or given back ------+--> give back, all that waits behind it first --GivenBack--> the next may start
//!    |-> dead letter --Sent--> as if succeeded | as if failed
//!    +-> lost --> a later delivery of it runs again | the group begins again
//! ```

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::{Execute, Unopened};
use tracing::Instrument as _;

use super::super::groups::{Entry, GroupAdvance, Key};
use super::super::handling::Verdict;
use super::super::step::{self, Return, Step};
use super::Run;
use super::batch::batch_end;
use crate::consume::observe::{Event, Settled};
use crate::consume::outcome::Outcome;
use crate::consume::receive::Delivery;
use crate::random;

/// Panics whose text is reported.
const MAX_PANICS: usize = 10;
/// The minimum pause of `Outcome::Retry`.
const MIN_RETRY: Duration = Duration::from_millis(100);
/// The minimum delay of a message that another consumer is handling, or whose delete failed: an immediate receive would
/// not help.
const SOON: Duration = Duration::from_secs(1);

impl<H: Execute> Run<H> {
    /// Applies the result of a step.
    pub(super) fn take(&mut self, step: Step) {
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

    pub(super) fn handled(&mut self, key: Key, mut entry: Entry<Delivery>, verdict: Verdict) {
        match verdict {
            Verdict::Outcome(Outcome::Retry(pause)) if self.may_rest() => {
                entry.latest.overloads = 0;
                return self.rest(key, entry, pause.max(MIN_RETRY));
            }
            Verdict::Outcome(Outcome::Overloaded) => return self.rest_after_overload(key, entry),
            _ => {}
        }
        let receives = entry.latest.receive_count();
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
            Verdict::Failed(panic) => {
                self.panics.extend(panic.filter(|_| self.panics.len() < MAX_PANICS));
                self.failed(key, deliveries, receives);
            }
            Verdict::Busy => {
                self.shared.observer.duplicate();
                self.give_back(key, deliveries, Return::Returned(SOON));
            }
            Verdict::Unopened(Unopened::Delete, _) => self.succeeded(key, deliveries, Settled::Discarded),
            // It did not run: the back-off is that of its receives.
            Verdict::Unopened(..) => {
                let delay = self.shared.settings.back_off.delay(receives, random::unit());
                self.give_back(key, deliveries, Return::Returned(delay));
            }
            Verdict::Aborted => self.give_back(key, deliveries, Return::Returned(Duration::ZERO)),
        }
    }

    /// Puts a message whose pause is over at the front of its line, with later deliveries of it.
    fn rested(&mut self, key: &Key, mut entry: Entry<Delivery>) {
        self.resting -= 1;
        let overloads = entry.latest.overloads;
        self.groups.take_more(key).into_iter().for_each(|delivery| entry.renew(delivery));
        entry.latest.overloads = overloads;
        self.groups.run_again(key, entry);
        drop(self.line_done(key));
    }

    /// Gives back a message that could not start.
    pub(super) fn not_started(&mut self, key: Key, entry: Entry<Delivery>) {
        if let Some(deliveries) = self.together(&key, entry, false) {
            self.give_back(key, deliveries, Return::Returned(Duration::ZERO));
        }
    }

    /// All deliveries of a message that ran, the latest first. If its lease is lost, handles that and returns `None`, unless its
    /// handler has succeeded and the message was received again: then the later delivery deletes it.
    fn together(&mut self, key: &Key, entry: Entry<Delivery>, has_succeeded: bool) -> Option<Vec<Delivery>> {
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
    fn lost(&mut self, key: Key, entry: Entry<Delivery>, mut more: Vec<Delivery>) {
        entry.into_deliveries().for_each(Delivery::forget);
        if let Some(latest) = more.pop() {
            self.groups.run_again(&key, Entry { latest, earlier: more });
            drop(self.line_done(&key));
        } else {
            self.give_back(key, Vec::new(), Return::Returned(Duration::ZERO));
        }
    }

    fn failed(&mut self, key: Key, deliveries: Vec<Delivery>, receives: u32) {
        let delay = self.shared.settings.back_off.delay(receives, random::unit());
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
        let span = step::span(&self.shared.source.url, "delete", deliveries.len());
        let deleting = step::delete(Arc::clone(&self.shared), key, deliveries, how);
        self.work.push(Box::pin(deleting.instrument(span)));
    }

    fn send(&mut self, key: Key, deliveries: Vec<Delivery>, reason: String) {
        self.work.push(Box::pin(step::send(Arc::clone(&self.shared), key, deliveries, reason)));
    }

    fn sent(&mut self, key: Key, deliveries: Vec<Delivery>, result: Result<(), String>) {
        let Err(reason) = result else { return self.succeeded(key, deliveries, Settled::DeadLettered) };
        let receives = deliveries.first().map_or(1, |latest| {
            self.shared
                .observer
                .report(&Event::DeadLetterFailed { message_id: latest.id(), reason: &reason });
            latest.receive_count()
        });
        self.failed(key, deliveries, receives);
    }

    /// Gives a message back that ran, with its later deliveries, after all messages that wait behind it.
    fn give_back(&mut self, key: Key, deliveries: Vec<Delivery>, how: Return) {
        let rest = self.groups.take_waiting(&key);
        let late = self.groups.give_back(&key).into_iter().rev();
        self.push_back(Some(key), rest, (late.chain(deliveries).collect(), how));
    }
}
