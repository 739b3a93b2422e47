//! The state behind the lock of a lane: the lane, its alarms, and its requests.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::AbortHandle;
use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::todo::{Due, Load, Todo};
use crate::meter::IS_ON;
use crate::produce::alarms::Alarms;
use crate::produce::kind::Kind;
use crate::produce::lane::{Cause, Lane, Look, Rules, Step};
use crate::produce::lane_metrics::LaneMetrics;
use crate::produce::ticket::Waiters;

/// How often the age of the oldest entry is recorded.
const AGE_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct State<K: Kind> {
    pub(super) lane: LaneOf<K>,
    pub(super) alarms: Alarms,
    /// Runtimes with a started task that has not yet asked for its batch. They may no longer run.
    pub(super) starting: Vec<Id>,
    /// Aborts requests in flight, by the numbers of their batches.
    requests: Vec<(u64, AbortHandle)>,
    /// The latest time at which a ticket resolves.
    pub(super) ends: Option<Instant>,
    /// Whether another lane has replaced it.
    pub(super) is_retired: bool,
    /// When the age of the oldest entry was last recorded, and whether it was above zero.
    age_recorded: (Option<Instant>, bool),
}

/// The lane of a kind, with its loads and waiters.
type LaneOf<K> = Lane<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

impl<K: Kind> State<K> {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            lane: Lane::new(rules),
            alarms: Alarms::default(),
            starting: Vec::new(),
            requests: Vec::new(),
            ends: None,
            is_retired: false,
            age_recorded: (None, false),
        }
    }

    /// The batches to send now, and the time of the next action.
    pub(super) fn due(&mut self, now: Instant, cause: Cause) -> (Vec<Due<K>>, Option<Instant>) {
        let (mut due, mut cause) = (Vec::new(), cause);
        loop {
            let batch = match self.lane.poll(now, cause) {
                Step::Dispatch(batch) => batch,
                Step::Wait(until) => return (due, until),
            };
            let (give_up, given_up) = AbortHandle::new_pair();
            self.requests.push((batch.number, give_up));
            due.push(Due { batch, given_up });
            if cause == Cause::Answer {
                cause = Cause::Other;
            }
        }
    }

    /// The same, with the alarm of a runtime set.
    pub(super) fn poll(&mut self, now: Instant, cause: Cause, runtime: Id) -> Todo<K> {
        let (due, until) = self.due(now, cause);
        Todo { starts: false, due, alarm: self.alarm(until, runtime) }
    }

    /// Whether a task must ask for due batches.
    pub(super) fn look(&mut self, now: Instant, cause: Cause, runtime: Id) -> Todo<K> {
        let (starts, until) = match self.lane.look(now, cause) {
            Look::Due => (!self.starting.contains(&runtime), None),
            Look::Wait(until) => (false, until),
        };
        self.starting.extend(starts.then_some(runtime));
        Todo { starts, due: Vec::new(), alarm: self.alarm(until, runtime) }
    }

    fn alarm(&mut self, until: Option<Instant>, runtime: Id) -> Option<(Instant, Arc<Notify>)> {
        let until = to_record_age(until)?;
        Some((until, self.alarms.set(runtime, until)?))
    }

    /// Records metrics of the lane. The age of the oldest entry is recorded at most once a second, because it takes
    /// linear time.
    pub(super) fn record(&mut self, metrics: &LaneMetrics) {
        metrics.in_flight_limit.set(self.lane.in_flight_limit());
        let (now, (last, was_some)) = (Instant::now(), self.age_recorded);
        if self.lane.has_waiting() {
            if last.is_none_or(|last| now >= last + AGE_INTERVAL) {
                let oldest = self.lane.oldest_waiting().unwrap_or(now);
                metrics.oldest_age.set(now.saturating_duration_since(oldest).as_secs_f64());
                self.age_recorded = (Some(now), true);
            }
        } else if was_some {
            metrics.oldest_age.set(0.0);
            self.age_recorded.1 = false;
        }
    }

    pub(super) fn forget_request(&mut self, number: u64) {
        if let Some(index) = self.requests.iter().position(|(other, _)| *other == number) {
            self.requests.swap_remove(index);
        }
    }

    /// Ends waiting entries if no task is left to send them.
    pub(super) fn abort_if_unattended(&mut self) {
        if self.alarms.is_empty() && self.starting.is_empty() && self.lane.has_none_in_flight() {
            self.abort();
        }
    }

    pub(super) fn abort(&mut self) {
        self.lane.abort();
        for (_, request) in self.requests.drain(..) {
            request.abort();
        }
    }
}

/// When an alarm is due although there is nothing to send before `until`: waiting entries get older.
pub(super) fn to_record_age(until: Option<Instant>) -> Option<Instant> {
    if IS_ON { until.map(|until| until.min(Instant::now() + AGE_INTERVAL)) } else { until }
}
