//! The leases of one receiver, and what is to be done about them when. Pure: time and chance are parameters.
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

use tokio::time::Instant;

use super::{Schedule, Term};

/// The number of a lease in its book. Numbers are not used again.
pub(crate) type Number = u64;

/// What is to be done about a lease.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Due<T> {
    /// Hide the message for so many seconds, and tell the book what came of it.
    Renew(Number, u32, T),
    /// It is lost; the book has forgotten it.
    Lost(T),
}

/// What came of a renewal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Renewed {
    /// The service did it.
    Done,
    /// The service says that the message is not ours.
    Refused,
    /// It is not known, or was not done, for reasons that may pass.
    Failed,
}

/// The leases of one receiver.
#[derive(Debug)]
pub(crate) struct Book<T> {
    schedule: Schedule,
    leases: HashMap<Number, Lease<T>>,
    /// When to look at which lease. Each open lease is there once.
    timers: BTreeSet<(Instant, Number)>,
    next: Number,
}

#[derive(Debug)]
struct Lease<T> {
    holder: T,
    term: Term,
    timer: Instant,
    stage: Stage,
    /// What its holder asked for instead of the usual.
    wanted: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Held,
    /// A renewal is under way, for this long when its holder asked for it.
    Renewing(Option<Duration>),
    /// The last renewal failed, and there is a pause before the next.
    Pausing,
}

impl<T: Clone> Book<T> {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { schedule, leases: HashMap::new(), timers: BTreeSet::new(), next: 0 }
    }

    /// Opens the lease of a message that came with an answer of this moment, for the holder that `of_number` makes.
    pub(crate) fn open(&mut self, now: Instant, of_number: impl FnOnce(Number) -> T, chance: f64) -> T {
        let number = self.next;
        let holder = of_number(number);
        self.next += 1;
        let granted = self.schedule.first_grant();
        let deadline = Schedule::deadline(now, granted);
        let term = Term { received: now, deadline, limit: self.schedule.limit(now) };
        let timer = Schedule::renew_at(now, granted, chance);
        self.timers.insert((timer, number));
        let lease = Lease { holder: holder.clone(), term, timer, stage: Stage::Held, wanted: None };
        self.leases.insert(number, lease);
        holder
    }

    /// When to look again.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// What is to be done now.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Due<T>> {
        let mut due = Vec::new();
        while let Some(&(_, number)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            let Some(lease) = self.leases.get_mut(&number) else { continue };
            if lease.term.deadline <= now {
                due.extend(self.leases.remove(&number).map(|lease| Due::Lost(lease.holder)));
                continue;
            }
            if !matches!(lease.stage, Stage::Renewing(_)) {
                let wanted = lease.wanted.take();
                if let Some(seconds) = self.schedule.extension(&lease.term, now, wanted) {
                    lease.stage = Stage::Renewing(wanted);
                    due.push(Due::Renew(number, seconds, lease.holder.clone()));
                }
            }
            lease.timer = lease.term.deadline;
            self.timers.insert((lease.timer, number));
        }
        due
    }

    /// Takes what came of a renewal of `seconds` that was asked for at `asked`. Returns the holder when the lease is
    /// thereby lost. The new time counts from the asking, which is no later than when the service hid the message.
    pub(crate) fn renewed(
        &mut self,
        number: Number,
        (asked, seconds): (Instant, u32),
        result: Renewed,
        now: Instant,
        chance: f64,
    ) -> Option<T> {
        let lease = self.leases.get_mut(&number)?;
        let Stage::Renewing(wanted) = std::mem::replace(&mut lease.stage, Stage::Held) else { return None };
        if lease.term.deadline <= now {
            return self.lose(number);
        }
        let timer = match result {
            Renewed::Refused => return self.lose(number),
            Renewed::Done => {
                let granted = Duration::from_secs(seconds.into());
                lease.term.deadline = Schedule::deadline(asked, granted);
                if lease.wanted.is_some() { now } else { Schedule::renew_at(asked, granted, chance) }
            }
            Renewed::Failed => {
                lease.stage = Stage::Pausing;
                lease.wanted = lease.wanted.or(wanted);
                Schedule::retry_at(now, lease.term.deadline, chance)
            }
        };
        self.set_timer(number, timer);
        None
    }

    /// Whether a handler can begin with the message now. If not, a renewal is due at once; `None` when the lease is
    /// over, or cannot be made any longer.
    pub(crate) fn freshen(&mut self, number: Number, now: Instant) -> Option<bool> {
        let lease = self.leases.get(&number)?;
        if self.schedule.is_fresh(lease.term.deadline, now) {
            return Some(true);
        }
        if lease.stage == Stage::Held {
            self.schedule.extension(&lease.term, now, None)?;
            self.set_timer(number, now);
        }
        Some(false)
    }

    /// Makes the lease last for `wanted` from now, also beyond the usual limit. Returns until when it will last once
    /// that is done; `None` when the lease is over.
    pub(crate) fn want(&mut self, number: Number, wanted: Duration, now: Instant) -> Option<Instant> {
        let lease = self.leases.get_mut(&number)?;
        lease.term.limit = lease.term.limit.max(now + wanted);
        let Some(seconds) = self.schedule.extension(&lease.term, now, Some(wanted)) else {
            return Some(lease.term.deadline);
        };
        lease.wanted = Some(lease.wanted.map_or(wanted, |other| other.max(wanted)));
        if lease.stage == Stage::Held {
            self.set_timer(number, now);
        }
        Some(Schedule::deadline(now, Duration::from_secs(seconds.into())))
    }

    /// Ends a lease: nothing will be due for it. `None` when it was lost before.
    pub(crate) fn end(&mut self, number: Number, now: Instant) -> Option<Term> {
        let lease = self.leases.remove(&number)?;
        self.timers.remove(&(lease.timer, number));
        (lease.term.deadline > now).then_some(lease.term)
    }

    /// The term of a lease that is not over.
    pub(crate) fn term(&self, number: Number) -> Option<Term> {
        self.leases.get(&number).map(|lease| lease.term)
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
#[path = "book_tests.rs"]
mod tests;
