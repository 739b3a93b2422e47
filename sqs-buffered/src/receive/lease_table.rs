//! The leases of one receiver, and when each is renewed. Pure: time and chance are parameters.
//!
//! ```text
//! open -> due: Renew -> renewed --Ok--> held until a later deadline
//! |            |          |--Failed--> due again, before the deadline
//! |            |          +--Refused-> lost
//! |            +-- the deadline has come: lost
//! +-> end: from here on nothing is due for it
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use sqs_client::wire::limits::VISIBILITY_TIMEOUT_SECONDS;
use tokio::time::Instant;

use crate::time::{after, whole_seconds};

/// The longest safety margin at the end of a visibility timeout: responses take time, and clocks differ.
const MAX_MARGIN: Duration = Duration::from_secs(2);

/// The jitter of a renewal, as a fraction of half the visibility timeout.
const JITTER: f64 = 0.1;

/// The shortest pause after a failed renewal.
const MIN_RETRY: Duration = Duration::from_millis(50);

/// The shortest time limit of a renewal, if that much time is left.
const MIN_RENEWAL_TIME: Duration = Duration::from_secs(2);

/// The schedule of the leases of one receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Schedule {
    /// The visibility timeout of receives and renewals, in whole seconds.
    visibility: Duration,
    /// Renewals end this long after the receive.
    max_lease: Duration,
}

impl Schedule {
    /// A schedule. The service keeps no message hidden for more than 12 hours after its receive, so neither do leases.
    pub(crate) fn new(visibility_seconds: u32, max_lease: Duration) -> Self {
        let visibility = Duration::from_secs(visibility_seconds.into());
        Self { visibility, max_lease: max_lease.min(longest()) }
    }

    /// The latest end of a lease that is renewed as often as allowed.
    pub(crate) fn limit(&self, received: Instant) -> Instant {
        received + self.max_lease
    }

    /// The end of the usable time of a message that is hidden for `granted`, from `since` or earlier.
    pub(crate) fn deadline(since: Instant, granted: Duration) -> Instant {
        since + granted.saturating_sub(MAX_MARGIN.min(granted / 4))
    }

    /// The time that a receive hides a message.
    fn first_grant(&self) -> Duration {
        self.visibility
    }

    /// When to renew what was granted: half-way. After an extension, half a visibility timeout before its end, because an
    /// earlier renewal would not make the lease longer. A bit earlier or later by `chance` from 0 to 1, so that consumers
    /// that started together do not renew together.
    fn renew_at(&self, since: Instant, granted: Duration, chance: f64) -> Instant {
        let half = granted.min(self.visibility) / 2;
        let factor = 1.0 + JITTER - 2.0 * JITTER * chance.clamp(0.0, 1.0);
        since + granted.saturating_sub(half.mul_f64(factor))
    }

    /// The longest time between the renewals of leases that began together. One sweep renews all that are due within it.
    fn window(&self) -> Duration {
        (self.visibility / 2).mul_f64(2.0 * JITTER)
    }

    /// When to retry a failed renewal: at random in the first half of the remaining time.
    fn retry_at(now: Instant, deadline: Instant, chance: f64) -> Instant {
        let left = deadline.saturating_duration_since(now);
        now + (left / 2).mul_f64(chance.clamp(0.0, 1.0)).max(MIN_RETRY)
    }

    /// When a renewal without a response counts as failed and another one starts: after half of the remaining time, or
    /// after all of it if that is short.
    pub(crate) fn give_up_at(asked: Instant, deadline: Instant) -> Instant {
        let left = deadline.saturating_duration_since(asked);
        asked + (left / 2).max(MIN_RENEWAL_TIME.min(left))
    }

    /// The visibility timeout of a renewal in seconds; `None` if the lease cannot become longer. `wanted` is the end
    /// that its holder requested, if any. Fractions of a second are rounded up, because time has passed since the
    /// request.
    fn extension(&self, term: &LeaseTerm, now: Instant, wanted: Option<Instant>) -> Option<u32> {
        let left = |until: Instant| until.saturating_duration_since(now);
        let most = left(term.received + longest()).as_secs();
        let seconds = match wanted {
            Some(until) => whole_seconds(left(until)),
            None => self.visibility.min(left(term.limit)).as_secs(),
        };
        let seconds = seconds.min(most);
        let is_longer = Self::deadline(now, Duration::from_secs(seconds)) > term.deadline;
        (seconds > 0 && is_longer).then(|| u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    /// Whether enough time is left for a handler to start: half of the visibility timeout.
    pub(crate) fn is_fresh(&self, deadline: Instant, now: Instant) -> bool {
        deadline.saturating_duration_since(now) >= self.visibility / 2
    }
}

/// The current and the latest possible end of a lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LeaseTerm {
    /// The time of the response with the message.
    pub(crate) received: Instant,
    /// The current end of the lease.
    pub(crate) deadline: Instant,
    /// The latest possible end of the lease.
    pub(crate) limit: Instant,
}

impl LeaseTerm {
    /// The end of an extension by `wanted`, limited to the time for which SQS can hide the message.
    fn extended(&self, now: Instant, wanted: Duration) -> Instant {
        after(now, wanted).min(self.received + longest())
    }

    /// How long the message can still be hidden, from now.
    pub(crate) fn hideable(&self, now: Instant) -> Duration {
        (self.received + longest()).saturating_duration_since(now)
    }
}

/// The longest time that a message can stay hidden after its receive. Two seconds are kept in reserve: SQS counts from
/// its own time of the receive, which is before ours.
fn longest() -> Duration {
    let seconds = u64::try_from(*VISIBILITY_TIMEOUT_SECONDS.end()).unwrap_or_default();
    Duration::from_secs(seconds).saturating_sub(MAX_MARGIN)
}

/// The lease was lost, or the message was settled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseOver;

impl fmt::Display for LeaseOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lease has ended: it was lost, or the message was settled")
    }
}

impl std::error::Error for LeaseOver {}

/// A due action for a lease.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Due<T> {
    /// Hide the message for this many seconds, and report the result to the table.
    Renew(u32, T),
    /// The extension that the holder requested is already granted.
    Served(T),
    /// The lease is lost, and the table has removed it.
    Lost(T),
}

/// The result of a renewal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Renewed {
    /// SQS has renewed the lease.
    Done,
    /// SQS refused it permanently: the receipt handle has expired.
    Refused,
    /// A transient failure, or an unknown outcome.
    Failed,
}

/// The state of one lease.
#[derive(Debug)]
struct LeaseState<T> {
    holder: T,
    term: LeaseTerm,
    timer: Instant,
    phase: Phase,
    /// The time of the next renewal or retry without a request of the holder.
    usual: Instant,
    /// The earliest time at which it may be renewed together with others.
    earliest: Instant,
    /// The extension that the holder requested.
    request: Option<ExtendRequest>,
    /// Requests up to this number are served.
    served: u64,
}

/// A request of the holder to have the message until then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct ExtendRequest {
    number: u64,
    until: Instant,
}

impl ExtendRequest {
    /// A request that serves both.
    fn and(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        Self { number: self.number.max(other.number), until: self.until.max(other.until) }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Held,
    /// A renewal is running, for this request if there is one.
    Renewing(Option<ExtendRequest>),
    /// The last renewal failed, and there is a pause before the next.
    Pausing,
}

impl<T: Clone> LeaseState<T> {
    /// Whether to look at it in a sweep.
    fn is_swept(&self, now: Instant) -> bool {
        self.timer <= now || (self.phase == Phase::Held && self.earliest <= now)
    }

    /// The action that is due now, or until `soon`, if any. Sets the timer to the next look.
    fn due(&mut self, schedule: &Schedule, now: Instant, soon: Instant) -> Option<Due<T>> {
        self.timer = self.term.deadline;
        if matches!(self.phase, Phase::Renewing(_)) {
            return None;
        }
        let request = self.request.take();
        let requested = request.and_then(|request| schedule.extension(&self.term, now, Some(request.until)));
        let usual = || schedule.extension(&self.term, now, None).filter(|_| self.usual <= soon);
        if let Some(seconds) = requested.or_else(usual) {
            self.phase = Phase::Renewing(request);
            return Some(Due::Renew(seconds, self.holder.clone()));
        }
        if self.usual > now {
            self.timer = self.usual.min(self.term.deadline);
        }
        self.served = request?.number;
        Some(Due::Served(self.holder.clone()))
    }
}

/// The time of the next renewal, and the earliest time at which it may join others.
fn moments(schedule: &Schedule, since: Instant, granted: Duration, chance: f64) -> (Instant, Instant) {
    (schedule.renew_at(since, granted, chance), schedule.renew_at(since, granted, 0.0))
}

/// The number of a lease in its table. Numbers are not used again.
pub(crate) type Number = u64;

/// The leases of one receiver.
#[derive(Debug)]
pub(crate) struct LeaseTable<T> {
    schedule: Schedule,
    leases: BTreeMap<Number, LeaseState<T>>,
    /// The next time to look at each open lease. Each is there once.
    timers: BTreeSet<(Instant, Number)>,
    next: Number,
    /// The number of the latest request. The first is 1.
    requests: u64,
}

impl<T: Clone> LeaseTable<T> {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { schedule, leases: BTreeMap::new(), timers: BTreeSet::new(), next: 0, requests: 0 }
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

    /// What is due now. If anything is, renewals that are due soon join it: one request then renews many leases.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Due<T>> {
        if self.next_look().is_none_or(|at| at > now) {
            return Vec::new();
        }
        let soon = now + self.schedule.window();
        let timers = self.timers.range(..=(soon, Number::MAX));
        let numbers: Vec<Number> = timers.map(|(_, number)| *number).collect();
        let mut due = Vec::new();
        for number in numbers {
            let Some(lease) = self.leases.get_mut(&number).filter(|lease| lease.is_swept(now)) else {
                continue;
            };
            if lease.term.deadline <= now {
                due.extend(self.lose(number).map(Due::Lost));
                continue;
            }
            self.timers.remove(&(lease.timer, number));
            due.extend(lease.due(&self.schedule, now, soon));
            self.timers.insert((lease.timer, number));
        }
        due
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
        std::mem::take(&mut self.leases).into_values().map(|lease| lease.holder).collect()
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
mod schedule_tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn term(schedule: Schedule, received: Instant) -> LeaseTerm {
        let deadline = Schedule::deadline(received, schedule.first_grant());
        LeaseTerm { received, deadline, limit: schedule.limit(received) }
    }

    #[test]
    fn deadline_is_two_seconds_or_a_quarter_early() {
        let now = Instant::now();
        let left = |granted: u64| Schedule::deadline(now, Duration::from_secs(granted)) - now;
        assert_eq!(left(30), Duration::from_secs(28));
        assert_eq!(left(8), Duration::from_secs(6));
        assert_eq!(left(1), Duration::from_millis(750));
        assert_eq!(left(0), Duration::ZERO);
    }

    #[test]
    fn renewal_is_abandoned_after_half_of_the_remaining_time_unless_it_is_short() {
        let now = Instant::now();
        let tried = |left: u64| Schedule::give_up_at(now, now + Duration::from_secs(left)) - now;
        assert_eq!([13, 3, 1].map(tried), [6_500, 2_000, 1_000].map(Duration::from_millis));
    }

    #[test]
    fn handler_starts_with_half_of_the_visibility_timeout_left() {
        let now = Instant::now();
        let schedule = Schedule::new(30, HOUR);
        let deadline = term(schedule, now).deadline;
        assert!(schedule.is_fresh(deadline, now + Duration::from_secs(13)));
        assert!(!schedule.is_fresh(deadline, now + Duration::from_millis(13_001)));
    }

    #[test]
    fn renewals_end_with_the_longest_lease() {
        let now = Instant::now();
        let schedule = Schedule::new(600, HOUR);
        let mut term = term(schedule, now);
        let mut seconds = 300;
        while let Some(granted) = schedule.extension(&term, now + Duration::from_secs(seconds), None) {
            let renewed = now + Duration::from_secs(seconds);
            term.deadline = Schedule::deadline(renewed, Duration::from_secs(granted.into()));
            assert!(seconds + u64::from(granted) <= 3_600);
            seconds += 300;
        }
        assert_eq!(term.deadline - now, Duration::from_secs(3_598));
    }

    #[test]
    fn extension_ends_twelve_hours_after_the_receive() {
        let now = Instant::now();
        let schedule = Schedule::new(30, HOUR * 24);
        let term = term(schedule, now);
        let at = |hours: u32| {
            let then = now + HOUR * hours;
            schedule.extension(&term, then, Some(then + HOUR * 12))
        };
        assert_eq!(at(0), Some(43_198));
        assert_eq!(at(11), Some(3_598));
        assert_eq!(at(12), None);
    }

    proptest! {
        /// A lease that is renewed on time never ends before its limit, whatever the visibility timeout and chance.
        #[test]
        fn renewals_on_time_never_lose_a_message(
            visibility in 1_u32..=43_200,
            chances in prop::collection::vec(0.0_f64..=1.0, 1..50),
        ) {
            let start = Instant::now();
            let schedule = Schedule::new(visibility, HOUR * 12);
            let mut term = term(schedule, start);
            let (mut since, mut granted) = (start, schedule.first_grant());
            for chance in chances {
                let at = schedule.renew_at(since, granted, chance);
                prop_assert!(at > since && at < term.deadline, "{at:?} {term:?}");
                let half = (granted / 2).as_secs_f64();
                let from_half = ((at - since).as_secs_f64() - half).abs();
                prop_assert!(from_half <= half * 0.1 + 1e-6);
                let Some(seconds) = schedule.extension(&term, at, None) else {
                    prop_assert!(term.limit - at <= schedule.visibility);
                    break;
                };
                (since, granted) = (at, Duration::from_secs(seconds.into()));
                let deadline = Schedule::deadline(since, granted);
                prop_assert!(deadline > term.deadline && since + granted <= start + HOUR * 12);
                term.deadline = deadline;
            }
        }

        #[test]
        fn failed_renewal_is_retried_soon_but_not_at_once(left in 0_u64..100_000, chance in 0.0_f64..=1.0) {
            let now = Instant::now();
            let left = Duration::from_millis(left);
            let pause = Schedule::retry_at(now, now + left, chance) - now;
            prop_assert!(pause >= MIN_RETRY && pause <= (left / 2).max(MIN_RETRY));
        }
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod table_tests;
