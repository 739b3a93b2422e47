//! The clock of a server: it can be advanced, frozen and resumed.
//!
//! Visibility timeouts, delays, retention and deduplication windows follow this clock, so that tests need not wait for
//! them.
//! [`MockSqs::clock`](crate::MockSqs::clock) returns the [`Clock`] of a server. Times are [`Timestamp`]s, in
//! milliseconds.
//!
//! ```text
//! advance(d), advance_to(t) --> clock --> wakes long polls, delays and move tasks that are due
//! freeze(), resume() ---------^   ^------ tokio's time, real or paused
//! ```
//!
//! The system time is read once, at the start. From then on the clock follows `tokio::time::Instant`, so tokio's paused
//! time also works.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::control::text::serialize_as_text;

/// The clock of one server. Clones share their state. It never goes backwards.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// # let server = MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use std::time::Duration;
///
/// client.send_message().queue_url(&url).message_body("tea").delay_seconds(900).send().await?;
/// assert_eq!(server.queue("orders").counts().unwrap().available, 0);
///
/// let before = server.clock().now();
/// server.clock().advance(Duration::from_secs(900));
/// assert!(server.clock().now().saturating_since(before) >= Duration::from_secs(900));
/// assert_eq!(server.queue("orders").counts().unwrap().available, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    origin: Instant,
    /// The system time at the origin, in milliseconds since the epoch. It grows if the system was suspended since.
    system_origin: AtomicI64,
    /// The setting in one word, so that reading the time takes no lock.
    setting: AtomicI64,
    /// Wakes all sleepers when the clock is changed.
    moved: Notify,
}

/// How a clock is set. Unlike its time, this changes only if somebody sets the clock.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum ClockSetting {
    /// It runs, this many milliseconds ahead of the system time.
    Running(i64),
    /// It is frozen at this time.
    Frozen(Timestamp),
}

/// The system time.
#[expect(clippy::disallowed_methods, reason = "the one place where the time of the system comes in")]
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}

impl ClockSetting {
    /// One bit of the word stores the kind; the rest still holds 146 million years of milliseconds.
    fn pack(self) -> i64 {
        let (millis, frozen) = match self {
            Self::Running(offset) => (offset, 0),
            Self::Frozen(at) => (signed(at.0), 1),
        };
        (millis.clamp(i64::MIN >> 1, i64::MAX >> 1) << 1) | frozen
    }

    fn unpack(word: i64) -> Self {
        if word & 1 == 0 { Self::Running(word >> 1) } else { Self::Frozen(timestamp(word >> 1)) }
    }

    /// The time of the clock at a system time.
    fn time(self, system: i64) -> Timestamp {
        match self {
            Self::Running(offset) => timestamp(offset.saturating_add(system)),
            Self::Frozen(at) => at,
        }
    }

    fn advanced(self, duration: Duration) -> Self {
        match self {
            Self::Running(offset) => Self::Running(offset.saturating_add(signed(millis(duration)))),
            Self::Frozen(at) => Self::Frozen(at + duration),
        }
    }
}

fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp(u64::try_from(millis).unwrap_or(0))
}

impl Clock {
    /// A clock that starts at the system time.
    pub(crate) fn real() -> Self {
        Self::starting_at(system_time().into())
    }

    /// A clock that starts at `start`.
    pub(crate) fn starting_at(start: Timestamp) -> Self {
        let system_origin = signed(Timestamp::from(system_time()).0);
        let setting = ClockSetting::Running(signed(start.0).saturating_sub(system_origin));
        Self {
            shared: Arc::new(Shared {
                origin: Instant::now(),
                system_origin: AtomicI64::new(system_origin),
                setting: AtomicI64::new(setting.pack()),
                moved: Notify::new(),
            }),
        }
    }

    /// The current time of this clock.
    pub fn now(&self) -> Timestamp {
        self.at(Instant::now())
    }

    /// The time of this clock at an instant in the recent past. Saves callers that already have an `Instant` a second
    /// read.
    pub(crate) fn at(&self, instant: Instant) -> Timestamp {
        self.setting().time(self.system_at(instant))
    }

    /// Whether the clock is frozen.
    pub fn is_frozen(&self) -> bool {
        matches!(self.setting(), ClockSetting::Frozen(_))
    }

    /// Advances the clock by `duration` and wakes sleepers that are due.
    pub fn advance(&self, duration: Duration) {
        self.update(|setting| setting.advanced(duration));
    }

    /// Advances the clock to `moment` and wakes sleepers that are due. Does nothing if `moment` is in the past.
    pub fn advance_to(&self, moment: Timestamp) {
        self.update(|setting| setting.advanced(moment.saturating_since(setting.time(self.system()))));
    }

    /// The difference to the system time in milliseconds; negative if this clock is behind.
    pub(crate) fn offset_millis(&self) -> i64 {
        match self.setting() {
            ClockSetting::Running(offset) => offset,
            ClockSetting::Frozen(at) => signed(at.0).saturating_sub(signed(Timestamp::from(system_time()).0)),
        }
    }

    /// How the clock is set.
    pub(crate) fn setting(&self) -> ClockSetting {
        ClockSetting::unpack(self.shared.setting.load(Ordering::Acquire))
    }

    /// Sets the clock as one of an earlier process was. Only valid before anything depends on its time.
    #[cfg(feature = "durable")]
    pub(crate) fn restore(&self, setting: ClockSetting) {
        self.update(|_| setting);
    }

    /// Sets the clock, also back in time. Only valid if all state that depends on earlier times is discarded.
    pub(crate) fn restart(&self, start: Option<Timestamp>, frozen: bool) {
        let start = start.unwrap_or_else(|| system_time().into());
        self.update(|_| if frozen { ClockSetting::Frozen(start) } else { self.running_from(start) });
    }

    /// Stops the clock. Until [`resume`](Self::resume), only [`advance`](Self::advance) and
    /// [`advance_to`](Self::advance_to) change it.
    pub fn freeze(&self) {
        self.update(|setting| ClockSetting::Frozen(setting.time(self.system())));
    }

    /// Resumes a frozen clock from its current time.
    pub fn resume(&self) {
        self.update(|setting| match setting {
            ClockSetting::Frozen(at) => self.running_from(at),
            running @ ClockSetting::Running(_) => running,
        });
    }

    /// Waits until the clock reaches `moment`.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn sleep_until(&self, moment: Timestamp) {
        loop {
            let mut moved = std::pin::pin!(self.shared.moved.notified());
            // Subscribe before reading the clock, so that no change in between is missed.
            moved.as_mut().enable();
            let setting = self.setting();
            let left = moment.saturating_since(setting.time(self.system()));
            if left.is_zero() {
                return;
            }
            match setting {
                ClockSetting::Frozen(_) => moved.await,
                ClockSetting::Running(_) => tokio::select! {
                    biased;
                    () = moved => {}
                    () = tokio::time::sleep(left) => {}
                },
            }
        }
    }

    /// A clock that shows `now` at present.
    fn running_from(&self, now: Timestamp) -> ClockSetting {
        ClockSetting::Running(signed(now.0).saturating_sub(self.system()))
    }

    fn system(&self) -> i64 {
        self.system_at(Instant::now())
    }

    /// The system time in milliseconds since the epoch, by tokio's time since the origin.
    fn system_at(&self, instant: Instant) -> i64 {
        self.shared.system_origin.load(Ordering::Relaxed).saturating_add(self.passed_at(instant))
    }

    /// The milliseconds since the origin, by tokio's time.
    fn passed_at(&self, instant: Instant) -> i64 {
        signed(millis(instant.saturating_duration_since(self.shared.origin)))
    }

    /// Makes up for time in which the system was suspended, or its time was set forward: timers of tokio stand still then. Does
    /// nothing for less than a second, and never sets the clock back. A frozen clock stays as it is.
    ///
    /// Programs that run for days call this every few seconds; the binary does. Tests with the paused time of tokio must not.
    pub fn catch_up(&self) {
        self.catch_up_with(system_time());
    }

    fn catch_up_with(&self, system: SystemTime) {
        let origin = &self.shared.system_origin;
        let seen = origin.load(Ordering::Relaxed);
        let right = signed(Timestamp::from(system).0).saturating_sub(self.passed_at(Instant::now()));
        // Of two callers at the same time, only one makes up for it.
        if right.saturating_sub(seen) >= 1_000
            && origin.compare_exchange(seen, right, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.shared.moved.notify_waiters();
        }
    }

    fn update(&self, change: impl Fn(ClockSetting) -> ClockSetting) {
        let setting = &self.shared.setting;
        let mut seen = setting.load(Ordering::Acquire);
        while let Err(now) = setting.compare_exchange_weak(
            seen,
            change(ClockSetting::unpack(seen)).pack(),
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            seen = now;
        }
        self.shared.moved.notify_waiters();
    }
}

/// A point in time, in milliseconds since the Unix epoch. Arithmetic saturates at the largest value and at zero.
///
/// ```
/// use std::time::Duration;
///
/// use sqs_mock_server::clock::Timestamp;
///
/// let moment = Timestamp::from_millis(1_795_235_138_120) + Duration::from_secs(1);
/// assert_eq!(moment.to_string(), "2026-11-21T04:25:39.120Z");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub(crate) u64);

impl Timestamp {
    /// The last timestamp that RFC 3339 can express.
    pub(crate) const END_OF_9999: Self = Self(253_402_300_799_999);

    /// The timestamp `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the Unix epoch.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// The time from `earlier` to this timestamp; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The timestamp `duration` earlier; the epoch if that is before the epoch.
    pub(crate) fn saturating_before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }
}

impl From<SystemTime> for Timestamp {
    /// Times before the epoch become the epoch.
    fn from(time: SystemTime) -> Self {
        Self(millis(time.duration_since(UNIX_EPOCH).unwrap_or_default()))
    }
}

/// RFC 3339 in UTC with milliseconds, such as `2026-11-21T04:25:38.120Z`. Timestamps after the year 9999, which RFC
/// 3339 cannot express, show as the end of 9999.
impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = Duration::from_millis(self.0.min(Self::END_OF_9999.0));
        write!(f, "{}", humantime::format_rfc3339_millis(UNIX_EPOCH + shown))
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

serialize_as_text!(Timestamp);

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock() -> Clock {
        Clock::starting_at(Timestamp::from_millis(1_000_000))
    }

    /// Lets woken tasks run without advancing tokio's paused clock.
    async fn let_others_run() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn clock_follows_tokio_time() {
        let clock = clock();
        assert_eq!(clock.now().as_millis(), 1_000_000);
        tokio::time::advance(SECOND).await;
        assert_eq!(clock.now().as_millis(), 1_001_000);
    }

    #[tokio::test(start_paused = true)]
    async fn clock_makes_up_for_a_suspended_system_and_wakes_those_who_wait() {
        let clock = clock();
        let system = |clock: &Clock, ahead: i64| {
            let millis = u64::try_from(clock.system() + ahead).unwrap();
            SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
        };
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(Timestamp::from_millis(1_000_000) + 60 * SECOND).await }
        });
        let_others_run().await;
        for ahead in [-60_000, 0, 999] {
            clock.catch_up_with(system(&clock, ahead));
            assert_eq!(clock.now().as_millis(), 1_000_000);
        }
        clock.catch_up_with(system(&clock, 60_000));
        assert_eq!(clock.now().as_millis(), 1_060_000);
        let_others_run().await;
        assert!(sleeper.is_finished());
        clock.freeze();
        clock.catch_up_with(system(&clock, 60_000));
        clock.resume();
        assert_eq!(clock.now().as_millis(), 1_060_000);
    }

    #[tokio::test(start_paused = true)]
    async fn frozen_clock_changes_only_by_advance() {
        let clock = clock();
        clock.freeze();
        tokio::time::advance(SECOND).await;
        assert_eq!(clock.now().as_millis(), 1_000_000);
        clock.advance(Duration::from_millis(5));
        assert_eq!(clock.now().as_millis(), 1_000_005);
        assert!(clock.is_frozen());
        clock.resume();
        assert_eq!(clock.now().as_millis(), 1_000_005);
        tokio::time::advance(SECOND).await;
        assert_eq!(clock.now().as_millis(), 1_001_005);
    }

    #[tokio::test(start_paused = true)]
    async fn clock_near_the_epoch_survives_a_long_freeze() {
        let clock = Clock::starting_at(Timestamp::from_millis(5));
        clock.freeze();
        tokio::time::advance(SECOND).await;
        clock.resume();
        assert_eq!(clock.now().as_millis(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn sleeper_wakes_when_time_passes() {
        let clock = clock();
        let before = Instant::now();
        clock.sleep_until(clock.now() + SECOND).await;
        assert_eq!(before.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn sleeper_wakes_when_the_clock_is_advanced() {
        let clock = clock();
        let before = Instant::now();
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(clock.now() + 3600 * SECOND).await }
        });
        let_others_run().await;
        clock.advance(3599 * SECOND);
        let_others_run().await;
        assert!(!sleeper.is_finished());
        clock.advance(SECOND);
        sleeper.await.unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn sleeper_does_not_wake_while_the_clock_is_frozen() {
        let clock = clock();
        clock.freeze();
        let sleep = clock.sleep_until(clock.now() + SECOND);
        assert!(tokio::time::timeout(3600 * SECOND, sleep).await.is_err());
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(clock.now() + SECOND).await }
        });
        let_others_run().await;
        clock.resume();
        sleeper.await.unwrap();
        assert_eq!(clock.now().as_millis(), 1_001_000);
    }

    #[test]
    fn advance_by_the_maximum_does_not_overflow() {
        let clock = clock();
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert!(clock.now() + Duration::MAX > Timestamp::from_millis(1));
        clock.freeze();
        clock.advance(Duration::MAX);
        assert!(clock.now().as_millis() > 1_000_000);
    }

    #[cfg(feature = "durable")]
    #[tokio::test(start_paused = true)]
    async fn restored_clock_has_the_setting_of_the_earlier_one() {
        let (earlier, later) = (clock(), clock());
        tokio::time::advance(SECOND).await;
        earlier.advance(3600 * SECOND);
        later.restore(earlier.setting());
        assert_eq!((later.setting(), later.offset_millis()), (earlier.setting(), earlier.offset_millis()));
        let system = later.now().as_millis().cast_signed() - later.offset_millis();
        tokio::time::advance(SECOND).await;
        assert_eq!(later.now().as_millis().cast_signed(), system + 1_000 + earlier.offset_millis());
        earlier.freeze();
        later.restore(earlier.setting());
        assert_eq!((later.now(), later.is_frozen()), (earlier.now(), true));
        for extreme in
            [ClockSetting::Running(i64::MIN), ClockSetting::Frozen(Timestamp::from_millis(u64::MAX))]
        {
            later.restore(extreme);
            assert_eq!(later.is_frozen(), later.now() > Timestamp::from_millis(0), "{extreme:?}");
        }
    }
}
