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

mod timestamp;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::Instant;

pub use timestamp::Timestamp;
use timestamp::millis;

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
    /// The start of `Mode::Running`.
    origin: Instant,
    /// The system time at the origin, in milliseconds since the epoch.
    system_origin: i64,
    mode: AtomicI64,
    /// Wakes all sleepers when the clock is changed.
    moved: Notify,
}

/// How a clock is set. Unlike its time, this changes only if somebody sets the clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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

/// The state of the clock. It fits in one atomic word, so that reading the time takes no lock.
#[derive(Clone, Copy)]
enum Mode {
    /// The offset in milliseconds that is added to the time since the origin.
    Running(i64),
    /// Milliseconds since the epoch.
    Frozen(i64),
}

impl Mode {
    const fn pack(self) -> i64 {
        match self {
            Self::Running(offset) => offset << 1,
            Self::Frozen(at) => (at << 1) | 1,
        }
    }

    const fn unpack(word: i64) -> Self {
        if word & 1 == 0 { Self::Running(word >> 1) } else { Self::Frozen(word >> 1) }
    }

    /// The time of the clock, `passed` milliseconds after the origin.
    fn shown_after(self, passed: i64) -> Timestamp {
        let millis = match self {
            Self::Running(offset) => offset.saturating_add(passed),
            Self::Frozen(at) => at,
        };
        Timestamp(u64::try_from(millis).unwrap_or(0))
    }

    fn moved_by(self, millis: i64) -> Self {
        match self {
            Self::Running(offset) => Self::Running(capped(offset.saturating_add(millis))),
            Self::Frozen(at) => Self::Frozen(capped(at.saturating_add(millis))),
        }
    }
}

/// One bit of the word stores the state; the rest still holds 146 million years of milliseconds.
fn capped(millis: i64) -> i64 {
    millis.min(i64::MAX >> 1)
}

fn signed(millis: u64) -> i64 {
    capped(i64::try_from(millis).unwrap_or(i64::MAX))
}

impl Clock {
    /// A clock that starts at the system time.
    pub fn real() -> Self {
        Self::starting_at(system_time().into())
    }

    /// A clock that starts at `start`.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            shared: Arc::new(Shared {
                origin: Instant::now(),
                system_origin: signed(Timestamp::from(system_time()).0),
                mode: AtomicI64::new(Mode::Running(signed(start.0)).pack()),
                moved: Notify::new(),
            }),
        }
    }

    /// The current time of this clock.
    pub fn now(&self) -> Timestamp {
        self.show(self.mode())
    }

    /// The time of this clock at an instant in the recent past. Saves callers that already have an `Instant` a second
    /// read.
    pub(crate) fn at(&self, instant: Instant) -> Timestamp {
        let passed = signed(millis(instant.saturating_duration_since(self.shared.origin)));
        self.mode().shown_after(passed)
    }

    /// Whether the clock is frozen.
    pub fn is_frozen(&self) -> bool {
        matches!(self.mode(), Mode::Frozen(_))
    }

    /// Advances the clock by `duration` and wakes sleepers that are due.
    pub fn advance(&self, duration: Duration) {
        let millis = signed(millis(duration));
        self.update(|mode| mode.moved_by(millis));
    }

    /// Advances the clock to `moment` and wakes sleepers that are due. Does nothing if `moment` is in the past.
    pub fn advance_to(&self, moment: Timestamp) {
        let moment = signed(moment.0);
        self.update(|mode| mode.moved_by(moment.saturating_sub(signed(self.show(mode).0)).max(0)));
    }

    /// The difference to the system time in milliseconds; negative if this clock is behind.
    pub fn offset_millis(&self) -> i64 {
        match self.setting() {
            ClockSetting::Running(offset) => offset,
            ClockSetting::Frozen(at) => signed(at.0).saturating_sub(signed(Timestamp::from(system_time()).0)),
        }
    }

    /// How the clock is set.
    pub(crate) fn setting(&self) -> ClockSetting {
        match self.mode() {
            Mode::Running(offset) => ClockSetting::Running(offset.saturating_sub(self.shared.system_origin)),
            frozen @ Mode::Frozen(_) => ClockSetting::Frozen(frozen.shown_after(0)),
        }
    }

    /// Sets the clock as one of an earlier process was. Only valid before anything depends on its time.
    #[cfg(feature = "durable")]
    pub(crate) fn restore(&self, setting: ClockSetting) {
        self.update(|_| match setting {
            ClockSetting::Running(offset) => {
                Mode::Running(capped(offset.saturating_add(self.shared.system_origin)))
            }
            ClockSetting::Frozen(at) => Mode::Frozen(signed(at.0)),
        });
    }

    /// Sets the clock, also back in time. Only valid if all state that depends on earlier times is discarded.
    pub(crate) fn restart(&self, start: Option<Timestamp>, frozen: bool) {
        let start = signed(start.unwrap_or_else(|| system_time().into()).0);
        self.update(|_| if frozen { Mode::Frozen(start) } else { Mode::Running(start - self.passed()) });
    }

    /// Stops the clock. Until [`resume`](Self::resume), only [`advance`](Self::advance) and
    /// [`advance_to`](Self::advance_to) change it.
    pub fn freeze(&self) {
        self.update(|mode| Mode::Frozen(signed(self.show(mode).0)));
    }

    /// Resumes a frozen clock from its current time.
    pub fn resume(&self) {
        self.update(|mode| match mode {
            Mode::Frozen(at) => Mode::Running(at.saturating_sub(self.passed())),
            running @ Mode::Running(_) => running,
        });
    }

    /// Waits until the clock reaches `moment`.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn sleep_until(&self, moment: Timestamp) {
        loop {
            let mut moved = std::pin::pin!(self.shared.moved.notified());
            // Subscribe before reading the clock, so that no change in between is missed.
            moved.as_mut().enable();
            let mode = self.mode();
            let left = moment.saturating_since(self.show(mode));
            if left.is_zero() {
                return;
            }
            match mode {
                Mode::Frozen(_) => moved.await,
                Mode::Running(_) => tokio::select! {
                    () = moved => {}
                    () = tokio::time::sleep(left) => {}
                },
            }
        }
    }

    fn mode(&self) -> Mode {
        Mode::unpack(self.shared.mode.load(Ordering::Acquire))
    }

    fn show(&self, mode: Mode) -> Timestamp {
        match mode {
            Mode::Running(_) => mode.shown_after(self.passed()),
            Mode::Frozen(_) => mode.shown_after(0),
        }
    }

    /// Milliseconds since the origin.
    fn passed(&self) -> i64 {
        signed(millis(self.shared.origin.elapsed()))
    }

    fn update(&self, change: impl Fn(Mode) -> Mode) {
        let mode = &self.shared.mode;
        let mut seen = mode.load(Ordering::Acquire);
        while let Err(now) = mode.compare_exchange_weak(
            seen,
            change(Mode::unpack(seen)).pack(),
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            seen = now;
        }
        self.shared.moved.notify_waiters();
    }
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
