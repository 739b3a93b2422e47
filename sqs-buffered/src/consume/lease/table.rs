//! The leases of one receiver, and when each is renewed. Pure: time and chance are parameters.
//!
//! ```text
//! open -> due: Renew -> renewed --Ok--> held until a later deadline
//!   |            |          |--Failed--> due again, before the deadline
//!   |            |          +--Refused-> lost
//!   |            +-- the deadline has come: lost
//!   +-> end: from here on nothing is due for it
//! ```

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use sqs_client::wire::limits::MAX_BATCH_ENTRIES;
use tokio::time::Instant;

use super::schedule::{LeaseTerm, Schedule};
use super::state::{Due, ExtendRequest, LeaseOver, LeaseState, Phase, Renewed, moments};

/// Renewals per request.
const BATCH: usize = MAX_BATCH_ENTRIES;

/// The number of a lease in its table. Numbers are not used again.
pub(crate) type Number = u64;

/// The leases of one receiver.
#[derive(Debug)]
pub(crate) struct LeaseTable<T> {
    schedule: Schedule,
    leases: HashMap<Number, LeaseState<T>>,
    /// The next time to look at each open lease. Each is there once.
    timers: BTreeSet<(Instant, Number)>,
    next: Number,
    /// The number of the latest request. The first is 1.
    requests: u64,
}

impl<T: Clone> LeaseTable<T> {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { schedule, leases: HashMap::new(), timers: BTreeSet::new(), next: 0, requests: 0 }
    }

    /// Opens the lease of a message whose response arrived at `now`. `of_number` creates its holder.
    pub(crate) fn open(&mut self, now: Instant, of_number: impl FnOnce(Number) -> T, chance: f64) -> T {
        let number = self.next;
        let holder = of_number(number);
        self.next += 1;
        let granted = self.schedule.first_grant();
        let deadline = Schedule::deadline(now, granted);
        let term = LeaseTerm { received: now, deadline, limit: self.schedule.limit(now) };
        let (usual, earliest) = moments(&self.schedule, now, granted, chance);
        self.timers.insert((usual, number));
        let (holder_of, phase) = (holder.clone(), Phase::Held);
        let lease = LeaseState {
            holder: holder_of,
            term,
            timer: usual,
            phase,
            usual,
            earliest,
            request: None,
            served: 0,
        };
        self.leases.insert(number, lease);
        holder
    }

    /// The next time to look.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// The leases that are due now, and others that are due soon, to fill batches.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Due<T>> {
        let (mut due, mut renewals) = (Vec::new(), 0);
        while let Some(&(_, number)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            let Some(lease) = self.leases.get_mut(&number) else { continue };
            if lease.term.deadline <= now {
                due.extend(self.leases.remove(&number).map(|lease| Due::Lost(lease.holder)));
                continue;
            }
            let what = lease.due(&self.schedule, now);
            renewals += usize::from(matches!(what, Some(Due::Renew(..))));
            due.extend(what);
            self.timers.insert((lease.timer, number));
        }
        for number in self.companions(now, renewals.next_multiple_of(BATCH) - renewals) {
            let Some(lease) = self.leases.get_mut(&number) else { continue };
            self.timers.remove(&(lease.timer, number));
            lease.usual = now;
            due.extend(lease.due(&self.schedule, now));
            self.timers.insert((lease.timer, number));
        }
        due
    }

    /// Up to `count` leases that are due within the jitter window, the earliest first.
    fn companions(&self, now: Instant, count: usize) -> Vec<Number> {
        if count == 0 {
            return Vec::new();
        }
        let soon = now + self.schedule.jitter_window();
        let timers = self.timers.iter().take_while(|(at, _)| *at <= soon);
        let may_come = |number: &Number| {
            let lease = self.leases.get(number).filter(|lease| lease.phase == Phase::Held);
            lease.is_some_and(|lease| {
                lease.earliest <= now && self.schedule.extension(&lease.term, now, None).is_some()
            })
        };
        timers.map(|(_, number)| *number).filter(may_come).take(count).collect()
    }

    /// Takes the result of a renewal of `seconds` that was requested at `asked`. Returns the holder if the lease is lost. The new
    /// time counts from the request, which is no later than the time at which SQS hid the message.
    pub(crate) fn renewed(
        &mut self,
        number: Number,
        (asked, seconds): (Instant, u32),
        result: Renewed,
        now: Instant,
        chance: f64,
    ) -> Option<T> {
        let lease = self.leases.get_mut(&number)?;
        let Phase::Renewing(request) = std::mem::replace(&mut lease.phase, Phase::Held) else { return None };
        if lease.term.deadline <= now {
            return self.lose(number);
        }
        let timer = match result {
            Renewed::Refused => return self.lose(number),
            Renewed::Done => {
                let granted = Duration::from_secs(seconds.into());
                lease.term.deadline = Schedule::deadline(asked, granted);
                lease.served = request.map_or(lease.served, |request| request.number);
                (lease.usual, lease.earliest) = moments(&self.schedule, asked, granted, chance);
                if lease.request.is_some() { now } else { lease.usual }
            }
            Renewed::Failed => {
                lease.phase = Phase::Pausing;
                lease.request = request.map(|request| request.and(lease.request)).or(lease.request);
                lease.usual = Schedule::retry_at(now, lease.term.deadline, chance);
                lease.usual
            }
        };
        self.set_timer(number, timer);
        None
    }

    /// Whether a handler can start with the message now. If not, a renewal is due at once; `None` if the lease is over
    /// or cannot become longer.
    pub(crate) fn refresh(&mut self, number: Number, now: Instant) -> Option<bool> {
        let lease = self.leases.get_mut(&number)?;
        if self.schedule.is_fresh(lease.term.deadline, now) {
            return Some(true);
        }
        if lease.phase == Phase::Held {
            self.schedule.extension(&lease.term, now, None)?;
            lease.usual = now;
            self.set_timer(number, now);
        }
        Some(false)
    }

    /// Extends the lease to `wanted` from now, even beyond the usual limit. Returns the number of the request, for
    /// [`granted`](Self::granted); `None` when the lease is over.
    pub(crate) fn extend(&mut self, number: Number, wanted: Duration, now: Instant) -> Option<u64> {
        let lease = self.leases.get_mut(&number)?;
        let until = lease.term.extended(now, wanted);
        lease.term.limit = lease.term.limit.max(until);
        if self.schedule.extension(&lease.term, now, Some(until)).is_none() {
            return Some(0);
        }
        self.requests += 1;
        let request = ExtendRequest { number: self.requests, until };
        lease.request = Some(request.and(lease.request));
        if lease.phase == Phase::Held {
            self.set_timer(number, now);
        }
        Some(request.number)
    }

    /// The end of the lease, if this request is served; `None` until then.
    pub(crate) fn granted(&self, number: Number, request: u64) -> Result<Option<Instant>, LeaseOver> {
        let lease = self.leases.get(&number).ok_or(LeaseOver)?;
        Ok((lease.served >= request).then_some(lease.term.deadline))
    }

    /// Ends a lease: nothing will be due for it. `None` when it was lost before.
    pub(crate) fn end(&mut self, number: Number, now: Instant) -> Option<LeaseTerm> {
        let lease = self.leases.remove(&number)?;
        self.timers.remove(&(lease.timer, number));
        (lease.term.deadline > now).then_some(lease.term)
    }

    /// The term of a lease that is not over.
    pub(crate) fn term(&self, number: Number) -> Option<LeaseTerm> {
        self.leases.get(&number).map(|lease| lease.term)
    }

    /// Removes all leases, and returns their holders.
    pub(crate) fn clear(&mut self) -> Vec<T> {
        self.timers.clear();
        self.leases.drain().map(|(_, lease)| lease.holder).collect()
    }

    fn lose(&mut self, number: Number) -> Option<T> {
        let lease = self.leases.remove(&number)?;
        self.timers.remove(&(lease.timer, number));
        Some(lease.holder)
    }

    fn set_timer(&mut self, number: Number, at: Instant) {
        let Some(lease) = self.leases.get_mut(&number) else { return };
        self.timers.remove(&(lease.timer, number));
        lease.timer = at.min(lease.term.deadline);
        self.timers.insert((lease.timer, number));
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
