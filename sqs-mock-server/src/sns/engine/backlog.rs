//! Deliveries to queues that wait for a retry.
//!
//! Messages of one group of a FIFO topic wait in one lane for each subscription: the first is tried, the others follow in
//! their order. Every other delivery has a lane of its own.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::control::clock::Timestamp;
use crate::sns::engine::delivery_policy::Schedule;

/// A limit of this server that bounds memory.
const MAX_BYTES: usize = 64 << 20;

/// What a delivery takes in addition to its texts, approximately.
const OVERHEAD: usize = 512;

/// Queues are endpoints of AWS.
const SCHEDULE: Schedule = Schedule::MANAGED;

/// The attempts at a delivery at one time: as many as have different pauses.
const MAX_ATTEMPTS: usize = 16;

/// A subscription, by id, and a group of its FIFO topic.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Group {
    pub(crate) subscription: Box<str>,
    pub(crate) name: Box<str>,
}

/// Deliveries of type `T` that wait for a retry.
#[derive(Debug)]
pub(crate) struct Backlog<T> {
    lanes: BTreeMap<u64, Lane<T>>,
    /// The next attempt of each lane.
    due: BTreeSet<(Timestamp, u64)>,
    groups: HashMap<Group, u64>,
    last_lane: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Lane<T> {
    group: Option<Group>,
    /// The failed attempts to deliver the first.
    failed: u32,
    waiting: VecDeque<(usize, T)>,
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self { lanes: BTreeMap::new(), due: BTreeSet::new(), groups: HashMap::new(), last_lane: 0, bytes: 0 }
    }
}

impl<T> Backlog<T> {
    /// Whether an earlier message of the group waits.
    pub(crate) fn is_blocked(&self, group: &Group) -> bool {
        self.groups.contains_key(group)
    }

    /// Whether a lane has deliveries.
    pub(crate) fn has(&self, lane: u64) -> bool {
        self.lanes.contains_key(&lane)
    }

    /// When the next attempt is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Adds a delivery of `bytes` bytes after a failed attempt, and returns its lane; `None` if there is no room for it.
    pub(crate) fn add(
        &mut self,
        now: Timestamp,
        group: Option<Group>,
        (bytes, delivery): (usize, T),
    ) -> Option<u64> {
        let bytes = bytes + OVERHEAD;
        if self.bytes + bytes > MAX_BYTES {
            return None;
        }
        self.bytes += bytes;
        let known = group.as_ref().and_then(|group| self.groups.get(group)).copied();
        let number = known.unwrap_or(self.last_lane + 1);
        if known.is_none() {
            self.last_lane = number;
            self.due.insert((now, number));
            self.groups.extend(group.clone().map(|group| (group, number)));
        }
        let lane = self.lanes.entry(number);
        let lane = lane.or_insert_with(|| Lane { group, failed: 1, waiting: VecDeque::new() });
        lane.waiting.push_back((bytes, delivery));
        Some(number)
    }

    /// Makes attempts that are due, about `most` of them. `attempt` returns whether the delivery is settled; `give_up` gets
    /// those whose last attempt failed.
    pub(crate) fn run(
        &mut self,
        now: Timestamp,
        most: usize,
        attempt: impl Fn(&T) -> bool,
        give_up: impl Fn(T),
    ) {
        let made = Cell::new(0);
        let counted = |delivery: &T| {
            made.set(made.get() + 1);
            attempt(delivery)
        };
        while made.get() < most
            && let Some(&(due, number)) = self.due.first()
            && due <= now
        {
            self.due.pop_first();
            self.run_lane(now, (due, number), counted, &give_up);
        }
    }

    /// Makes the attempts of a new lane. Those of others are not for its publisher to wait for.
    pub(crate) fn begin(
        &mut self,
        now: Timestamp,
        lane: u64,
        attempt: impl Fn(&T) -> bool,
        give_up: impl Fn(T),
    ) {
        if self.due.remove(&(now, lane)) {
            self.run_lane(now, (now, lane), attempt, give_up);
        }
    }

    fn run_lane(
        &mut self,
        now: Timestamp,
        (mut due, number): (Timestamp, u64),
        attempt: impl Fn(&T) -> bool,
        give_up: impl Fn(T),
    ) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        let mut made = 0;
        while let Some((_, first)) = lane.waiting.front() {
            let is_settled = attempt(first);
            made += 1;
            if made == MAX_ATTEMPTS {
                // After a jump of the clock: the attempts that were due meanwhile would all see the same.
                let (retries, passed) = SCHEDULE.skipped(lane.failed, now.saturating_since(due));
                lane.failed += retries;
                due = due + passed;
            }
            if !is_settled && let Some(pause) = SCHEDULE.pause(lane.failed) {
                lane.failed += 1;
                due = due + pause;
                if due > now {
                    self.due.insert((due, number));
                    return;
                }
                continue;
            }
            (lane.failed, made) = (0, 0);
            let Some((bytes, ended)) = lane.waiting.pop_front() else { break };
            self.bytes -= bytes;
            if !is_settled {
                give_up(ended);
            }
        }
        if let Some(Lane { group: Some(group), .. }) = self.lanes.remove(&number) {
            self.groups.remove(&group);
        }
    }
}

#[cfg(test)]
#[path = "backlog_tests.rs"]
mod tests;
