//! How many handlers run at a time, and whose turn it is.
//!
//! ```text
//! HandlerPool (lock) --> Shares: which consumer starts the next handler (pure)
//!   ^      |       +---> AdaptiveLimit: how many may run (pure)
//!   |      +-- wakes consumers whose turn it is, or whose places have changed
//! PoolMember: one consumer
//! ```
//! Each consumer has a share of the handlers, by its weight. A consumer below its share goes first. The rest, because of rounding or
//! idle consumers, goes to waiting consumers, in turns by weight (stride scheduling). Consumers of a higher
//! priority go before all others. A rate limit bounds how many start per second.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::wire::limits::MAX_IN_FLIGHT;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::consume::adaptive::{AdaptiveLimit, HandlerEnd};
use crate::error::BuildError;
use crate::time::after;

/// How many handlers run at a time.
///
/// ```
/// use sqs_buffered::Concurrency;
///
/// let fixed: Concurrency = 32.into();
/// let adaptive = Concurrency::Adaptive { min: 2, max: 200 };
/// # let _ = (fixed, adaptive);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Concurrency {
    /// A fixed number: 1 to 120,000, the maximum number of in-flight messages of a queue.
    Fixed(usize),
    /// Between `min` and `max`, both 1 to 120,000, depending on the duration of handlers.
    ///
    /// It starts with 10, or the nearest bound. It grows while all handlers are busy and take as long as usual. It
    /// shrinks when they take more than twice as long, because something behind them is overloaded. It is halved when a
    /// handler returns [`Outcome::Overloaded`](crate::consume::settle::Outcome::Overloaded). If handlers take as long with half the
    /// limit, fewer of them do not help, and that duration becomes the usual one. The idea is that of the gradient
    /// limits in <https://github.com/Netflix/concurrency-limits>.
    Adaptive {
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
}

impl Default for Concurrency {
    /// `Fixed(10)`.
    fn default() -> Self {
        Self::Fixed(10)
    }
}

impl From<usize> for Concurrency {
    fn from(handlers: usize) -> Self {
        Self::Fixed(handlers)
    }
}

impl Concurrency {
    /// The maximum number of handlers that ever run at a time.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::Fixed(handlers) => handlers,
            Self::Adaptive { max, .. } => max,
        }
    }

    pub(crate) fn check(self) -> Result<(), BuildError> {
        let within = |setting, value, least| {
            if (least..=MAX_IN_FLIGHT).contains(&value) {
                return Ok(());
            }
            Err(BuildError::new(setting, value, format_args!("{least} to {MAX_IN_FLIGHT}")))
        };
        match self {
            Self::Fixed(handlers) => within("concurrency", handlers, 1),
            Self::Adaptive { min, max } => {
                within("concurrency (min)", min, 1)?;
                within("concurrency (max)", max, min)
            }
        }
    }
}

/// A common limit of running handlers for several consumers, usually one per queue.
///
/// While all queues are busy, each consumer gets handlers in proportion to its weight. Handlers that a queue does not need for a
/// second go to the others. So a busy queue does not starve the others. Each consumer has its own handler function; queues can
/// be FIFO and standard queues.
///
/// Clones share the pool.
///
/// ```no_run
/// # async fn example(client: sqs_client::Client, urgent: &str, other: &str) -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_buffered::{BufferedClient, Consumer, HandlerPool, Outcome};
///
/// let client = BufferedClient::new(client);
/// let pool = HandlerPool::new(32)?;
/// let consumer = |queue_url, weight| {
///     let builder = Consumer::builder_with(&client, queue_url).pool(&pool, weight);
///     builder.message_handler(|_message, _lease| async { Ok(Outcome::Ack) }).build()
/// };
/// let (urgent, other) = (consumer(urgent, 3)?, consumer(other, 1)?);
/// let (urgent, other) = tokio::join!(urgent.run_until_signal(), other.run_until_signal());
/// println!("{:?} {:?}", urgent?, other?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HandlerPool(Arc<Mutex<Pool>>);

/// The lock is held for a few instructions.
struct Pool {
    shares: Shares,
    adaptive: Option<AdaptiveLimit>,
    /// Wakes each consumer.
    wakers: BTreeMap<Id, Arc<Notify>>,
}

/// A consumer of a pool. Dropping it leaves the pool.
pub(crate) struct PoolMember {
    pool: HandlerPool,
    id: Id,
}

impl HandlerPool {
    /// Creates a pool with this [`Concurrency`]: a number, or adaptive bounds.
    ///
    /// # Errors
    /// The number is not 1 to 120,000.
    pub fn new(concurrency: impl Into<Concurrency>) -> Result<Self, BuildError> {
        let concurrency = concurrency.into();
        concurrency.check()?;
        Ok(Self::unchecked(concurrency))
    }

    /// The caller has checked the bounds.
    pub(crate) fn unchecked(concurrency: Concurrency) -> Self {
        let pool = Pool { shares: Shares::new(0), adaptive: None, wakers: BTreeMap::new() };
        let pool = Self(Arc::new(Mutex::new(pool)));
        pool.set(concurrency);
        pool
    }

    /// Changes the number of handlers that run at a time. An increase takes effect at once. After a decrease, running
    /// handlers finish, and fewer start.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn set_concurrency(&self, concurrency: impl Into<Concurrency>) -> Result<(), BuildError> {
        let concurrency = concurrency.into();
        concurrency.check()?;
        self.set(concurrency);
        Ok(())
    }

    /// How many handlers may run at a time now.
    pub fn concurrency(&self) -> usize {
        self.0.lock().shares.limit()
    }

    fn set(&self, concurrency: Concurrency) {
        let mut pool = self.0.lock();
        pool.adaptive = match concurrency {
            Concurrency::Fixed(_) => None,
            Concurrency::Adaptive { min, max } => Some(AdaptiveLimit::new(min, max)),
        };
        let limit = pool.adaptive.as_ref().map_or(concurrency.max(), AdaptiveLimit::limit);
        pool.shares.set_limit(limit);
        pool.wake_others(None);
    }

    /// Joins with this weight. `waker` is notified when it may be this consumer's turn, or its places have changed.
    pub(crate) fn join(&self, (priority, weight): (u8, u32), waker: &Arc<Notify>) -> PoolMember {
        let mut pool = self.0.lock();
        let id = pool.shares.join(priority, weight);
        pool.wakers.insert(id, Arc::clone(waker));
        pool.wake_others(Some(id));
        PoolMember { pool: self.clone(), id }
    }
}

impl Pool {
    /// Wakes the other consumers. Each checks whether it may start, and how many places it has.
    fn wake_others(&self, but: Option<Id>) {
        for (_, waker) in self.wakers.iter().filter(|(id, _)| Some(**id) != but) {
            waker.notify_one();
        }
    }
}

impl PoolMember {
    /// Starts a handler, if it is this consumer's turn. If not, the waker is notified when it is.
    pub(crate) fn start(&self, now: Instant) -> bool {
        let mut guard = self.pool.0.lock();
        let pool = &mut *guard;
        let may = pool.shares.start(self.id, now);
        if may {
            pool.wake_others(Some(self.id));
        } else if let Some(id) = pool.shares.turn(now) {
            if let Some(waker) = pool.wakers.get(&id) {
                waker.notify_one();
            }
        } else if let Some(adaptive) = &mut pool.adaptive {
            adaptive.refused();
        }
        may
    }

    /// This consumer has nothing to start, so others may.
    pub(crate) fn idle(&self) {
        let mut pool = self.pool.0.lock();
        if pool.shares.idle(self.id) {
            pool.wake_others(Some(self.id));
        }
    }

    /// A handler has ended.
    pub(crate) fn ended(&self, how: HandlerEnd, elapsed: Duration, now: Instant) {
        let mut guard = self.pool.0.lock();
        let pool = &mut *guard;
        if let Some(adaptive) = &mut pool.adaptive {
            adaptive.ended(how, elapsed, pool.shares.running(), now);
            pool.shares.set_limit(adaptive.limit());
        }
        pool.shares.ended(self.id, now);
        pool.wake_others(Some(self.id));
    }

    /// How many handlers this consumer may have at a time, and when that may change without a notice.
    pub(crate) fn places(&self, now: Instant) -> (usize, Option<Instant>) {
        let pool = self.pool.0.lock();
        (pool.shares.places(self.id, now), pool.shares.next_change(self.id, now))
    }
}

impl Drop for PoolMember {
    fn drop(&mut self) {
        let mut pool = self.pool.0.lock();
        pool.shares.leave(self.id);
        pool.wakers.remove(&self.id);
        pool.wake_others(None);
    }
}

impl fmt::Debug for HandlerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pool = self.0.lock();
        let (running, consumers) = (pool.shares.running(), pool.wakers.len());
        f.debug_struct("HandlerPool")
            .field("concurrency", &pool.shares.limit())
            .field("running", &running)
            .field("consumers", &consumers)
            .finish()
    }
}

/// How long a busy consumer keeps the handlers that it uses, while it receives. Otherwise another consumer, whose
/// handlers may run for an hour, would take them in the meantime.
const RESERVED: Duration = Duration::from_secs(1);

/// A consumer of the pool.
pub(crate) type Id = u64;

/// The consumers of a pool, and their handlers.
#[derive(Debug)]
pub(crate) struct Shares {
    limit: usize,
    running: usize,
    members: BTreeMap<Id, Member>,
    next_id: Id,
    /// The turns of the consumer that started last. A consumer that was idle continues from here.
    pass: f64,
}

#[derive(Debug)]
struct Member {
    priority: u8,
    weight: u32,
    running: usize,
    /// Whether a message waits to start.
    is_waiting: bool,
    /// Handlers that were started, divided by the weight. The lowest has the next turn.
    turns: f64,
    /// When it last had something to start, or a handler ended.
    busy: Option<Instant>,
    peak: Peak,
}

/// The most handlers of a consumer that ran at a time in the last second or two.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    /// When the current second began.
    since: Option<Instant>,
    current: usize,
    previous: usize,
}

impl Peak {
    fn note(&mut self, running: usize, now: Instant) {
        if self.since.is_none_or(|since| now >= since + RESERVED) {
            *self = Self { since: Some(now), current: 0, previous: self.at(now) };
        }
        self.current = self.current.max(running);
    }

    fn at(&self, now: Instant) -> usize {
        match self.since {
            Some(since) if now < since + RESERVED => self.current.max(self.previous),
            Some(since) if now < since + 2 * RESERVED => self.current,
            _ => 0,
        }
    }
}

impl Shares {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, running: 0, members: BTreeMap::new(), next_id: 0, pass: 0.0 }
    }

    pub(crate) fn join(&mut self, priority: u8, weight: u32) -> Id {
        let id = self.next_id;
        self.next_id += 1;
        self.members.insert(
            id,
            Member {
                priority,
                weight: weight.max(1),
                running: 0,
                is_waiting: false,
                turns: 0.0,
                busy: None,
                peak: Peak::default(),
            },
        );
        id
    }

    /// Forgets a consumer, with the handlers that it runs.
    pub(crate) fn leave(&mut self, id: Id) {
        self.running -= self.members.remove(&id).map_or(0, |member| member.running);
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Running handlers above a new limit continue.
    fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Running handlers.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// Starts a handler, if it is this consumer's turn. If not, the consumer waits.
    pub(crate) fn start(&mut self, id: Id, now: Instant) -> bool {
        self.wait(id, now);
        let may = self.turn(now) == Some(id);
        if may && let Some(member) = self.members.get_mut(&id) {
            self.running += 1;
            member.running += 1;
            member.peak.note(member.running, now);
            self.pass = self.pass.max(member.turns);
            member.turns += 1.0 / f64::from(member.weight);
        }
        may
    }

    /// The consumer has nothing to start.
    pub(crate) fn idle(&mut self, id: Id) -> bool {
        self.members.get_mut(&id).is_some_and(|member| std::mem::take(&mut member.is_waiting))
    }

    pub(crate) fn ended(&mut self, id: Id, now: Instant) {
        if let Some(member) = self.members.get_mut(&id).filter(|member| member.running > 0) {
            member.peak.note(member.running, now);
            member.running -= 1;
            member.busy = Some(now);
            self.running -= 1;
        }
    }

    /// The consumer whose turn it is, if any.
    fn turn(&self, now: Instant) -> Option<Id> {
        if self.running >= self.limit {
            return None;
        }
        let top =
            self.members.values().filter(|member| member.is_waiting).map(|member| member.priority).max()?;
        let rivals = self.members.values().filter(|member| member.priority >= top);
        let reserved: usize = rivals.map(|member| self.reserved(member, now)).sum();
        let is_full = self.running + reserved >= self.limit;
        let order = |member: &Member| (member.running >= self.share(member, false), member.turns);
        let may =
            |member: &Member| member.is_waiting && member.priority == top && !(is_full && order(member).0);
        let waiting = self.members.iter().filter(|(_, member)| may(member));
        let next = waiting.min_by(|(_, one), (_, other)| {
            let (one, other) = (order(one), order(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        next.map(|(id, _)| *id)
    }

    /// How many handlers a consumer may have at a time: its share, or what the others leave.
    pub(crate) fn places(&self, id: Id, now: Instant) -> usize {
        let Some(member) = self.members.get(&id) else { return 0 };
        // Messages that cannot start soon are left to others.
        if self.members.values().any(|rival| rival.is_waiting && rival.priority > member.priority) {
            return member.running;
        }
        let others = self.members.iter();
        let others = others.filter(|(other, rival)| **other != id && rival.priority >= member.priority);
        let taken: usize = others.map(|(_, other)| other.running + self.reserved(other, now)).sum();
        self.share(member, true).max(self.limit.saturating_sub(taken))
    }

    /// When this consumer may take handlers that are reserved for others, if there are any.
    fn next_change(&self, id: Id, now: Instant) -> Option<Instant> {
        let others = self.members.iter().filter(|(other, _)| **other != id).map(|(_, other)| other);
        let reserved = others.filter(|other| !other.is_waiting && self.reserved(other, now) > 0);
        reserved.filter_map(|other| other.busy).map(|busy| busy + RESERVED).min()
    }

    /// How many handlers are reserved for a busy consumer in addition to those that it runs: as many as it ran
    /// recently, within its share. A queue with few messages does not hold back the others.
    fn reserved(&self, member: &Member, now: Instant) -> usize {
        let is_busy = member.is_waiting || member.busy.is_some_and(|busy| now < busy + RESERVED);
        let used = self.share(member, false).min(member.peak.at(now).max(1));
        if is_busy { used.saturating_sub(member.running) } else { 0 }
    }

    /// The share of a consumer among those of its priority and higher ones, rounded up or down.
    fn share(&self, member: &Member, is_rounded_up: bool) -> usize {
        let rivals = self.members.values().filter(|rival| rival.priority >= member.priority);
        let weights: u64 = rivals.map(|rival| u64::from(rival.weight)).sum();
        let limit = u64::try_from(self.limit).unwrap_or(u64::MAX);
        let product = limit.saturating_mul(member.weight.into());
        let share = if is_rounded_up { product.div_ceil(weights) } else { product / weights };
        usize::try_from(share).unwrap_or(usize::MAX)
    }

    /// A consumer that was idle does not make up for turns that it did not take.
    fn wait(&mut self, id: Id, now: Instant) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.busy = Some(now);
        if !std::mem::replace(&mut member.is_waiting, true) {
            member.turns = member.turns.max(self.pass);
        }
    }
}

const SLOWEST: f64 = 0.001;

const FASTEST: f64 = 1_000_000.0;

/// The burst after a pause, in seconds of the rate. It covers the delay of timers on a busy machine.
const BURST_SECONDS: f64 = 0.05;

/// Messages are received this many seconds before they can start.
const AHEAD_SECONDS: f64 = 1.0;

/// A bound on how many handlers start per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimit {
    per_second: f64,
    tokens: f64,
    /// When `tokens` was computed; `None` before the first start.
    at: Option<Instant>,
}

impl RateLimit {
    pub(crate) fn new(per_second: f64) -> Result<Self, BuildError> {
        if !(SLOWEST..=FASTEST).contains(&per_second) {
            let allowed = format_args!("{SLOWEST} to {FASTEST} messages per second");
            return Err(BuildError::new("rate_limit", per_second, allowed));
        }
        Ok(Self { per_second, tokens: 1.0, at: None })
    }

    /// When the next handler may start; `None` when it may start now.
    pub(crate) fn next_start(&mut self, now: Instant) -> Option<Instant> {
        let passed = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let burst = (self.per_second * BURST_SECONDS).max(1.0);
        self.tokens = (self.tokens + passed.as_secs_f64() * self.per_second).min(burst);
        self.at = Some(now);
        let missing = 1.0 - self.tokens;
        // A rounding error is not worth a timer.
        (missing > 1e-6).then(|| after(now, Duration::from_secs_f64(missing / self.per_second)))
    }

    /// Notes the start of a handler with this number of messages. The next waits until all of them are within the rate.
    pub(crate) fn started(&mut self, messages: usize) {
        self.tokens -= f64::from(u32::try_from(messages).unwrap_or(u32::MAX));
    }

    /// This number of messages that were noted have not started.
    pub(crate) fn not_started(&mut self, messages: usize) {
        self.tokens += f64::from(u32::try_from(messages).unwrap_or(u32::MAX));
    }

    /// Messages that may wait to be started.
    pub(crate) fn ahead(&self) -> usize {
        // The bounds of the rate keep this small and positive.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1,000,000")]
        let messages = (self.per_second * AHEAD_SECONDS).ceil() as usize;
        messages.max(1)
    }
}

#[cfg(test)]
mod concurrency_tests {
    use super::*;

    #[test]
    fn invalid_concurrency_is_named_with_what_is_allowed() {
        let error = |concurrency: Concurrency| concurrency.check().expect_err("invalid").to_string();
        assert_eq!(error(0.into()), "concurrency is 0, allowed is 1 to 120000");
        assert_eq!(error(120_001.into()), "concurrency is 120001, allowed is 1 to 120000");
        assert_eq!(
            error(Concurrency::Adaptive { min: 0, max: 9 }),
            "concurrency (min) is 0, allowed is 1 to 120000"
        );
        assert_eq!(
            error(Concurrency::Adaptive { min: 9, max: 8 }),
            "concurrency (max) is 8, allowed is 9 to 120000"
        );
        assert_eq!(Concurrency::default().check(), Ok(()));
        assert_eq!(Concurrency::Adaptive { min: 3, max: 3 }.check(), Ok(()));
    }
}

#[cfg(test)]
#[path = "shares_tests.rs"]
mod shares_tests;

#[cfg(test)]
mod rate_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn starts_are_evenly_spaced() {
        let start = Instant::now();
        let mut rate = RateLimit::new(4.0).expect("a valid rate");
        let mut now = start;
        let mut starts = Vec::new();
        for _ in 0..5 {
            if let Some(at) = rate.next_start(now) {
                now = at;
                assert_eq!(rate.next_start(now), None);
            }
            rate.started(1);
            starts.push((now - start).as_millis());
        }
        assert_eq!(starts, [0, 250, 500, 750, 1_000]);
    }

    #[test]
    fn invalid_rate_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1_000_001.0] {
            let error = RateLimit::new(rate).expect_err("invalid").to_string();
            assert!(error.ends_with("allowed is 0.001 to 1000000 messages per second"), "{error}");
        }
        assert_eq!(RateLimit::new(0.1).map(|rate| rate.ahead()), Ok(1));
        assert_eq!(RateLimit::new(2.5).map(|rate| rate.ahead()), Ok(3));
    }

    proptest! {
        /// Starts stay within the rate after any idle time, whenever they are requested.
        #[test]
        fn starts_never_exceed_the_rate_and_a_small_burst(
            per_second in 0.01_f64..2_000.0,
            pauses in prop::collection::vec(0_u64..200_000, 1..50),
        ) {
            let start = Instant::now();
            let mut rate = RateLimit::new(per_second).expect("a valid rate");
            let (mut now, mut starts) = (start, Vec::new());
            for pause in pauses {
                now += Duration::from_micros(pause);
                while rate.next_start(now).is_none() {
                    rate.started(1);
                    starts.push(now);
                }
                let at = rate.next_start(now).expect("nothing is left");
                prop_assert!(at > now && (at - now).as_secs_f64() <= 1.0 / per_second + 1e-6);
            }
            // The bucket of a reference, that is full at the start and never overflows.
            let burst = (per_second * BURST_SECONDS).max(1.0);
            let (mut left, mut before) = (burst, start);
            for at in starts {
                left = (left + (at - before).as_secs_f64() * per_second).min(burst) - 1.0;
                before = at;
                prop_assert!(left >= -0.001, "{left} left at {at:?}");
            }
        }
    }
}
