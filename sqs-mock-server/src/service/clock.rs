//! The clock that queues live by: it can be advanced, frozen and resumed.
//!
//! Tests turn it where waiting would take too long: visibility timeouts, delays, retention, deduplication windows.
//! [`MockSqs::clock`](crate::MockSqs::clock) gives the [`Clock`] of a server; moments are [`Timestamp`]s, in milliseconds.
//!
//! ```text
//! advance(d), advance_to(t) --> clock --> all who sleep until a moment that has come: long polls, delays, move tasks
//! freeze(), resume() ---------^   ^------ tokio's time, real or paused
//! ```
//!
//! Time passes as `tokio::time::Instant` says, so that the clock follows tokio's paused clock too, from a start
//! that is read once from the system.

mod timestamp;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::Instant;

pub use timestamp::Timestamp;
use timestamp::millis;

/// The clock of one server. Clones show the same time. It goes forward only.
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
    /// Where `Hand::Running` counts from.
    origin: Instant,
    hand: AtomicI64,
    /// Sleepers wait here for the hand to be moved; whoever moves it wakes them all.
    moved: Notify,
}

/// What the system's clock shows.
#[expect(clippy::disallowed_methods, reason = "the one place where the time of the system comes in")]
pub(crate) fn time_of_the_system() -> SystemTime {
    SystemTime::now()
}

/// How to tell the time. It is kept in one word, so that telling the time takes no lock.
#[derive(Clone, Copy)]
enum Hand {
    /// This many milliseconds more than have passed since the origin.
    Running(i64),
    /// This many milliseconds after the epoch.
    Frozen(i64),
}

impl Hand {
    const fn pack(self) -> i64 {
        match self {
            Self::Running(offset) => offset << 1,
            Self::Frozen(at) => (at << 1) | 1,
        }
    }

    const fn unpack(word: i64) -> Self {
        if word & 1 == 0 { Self::Running(word >> 1) } else { Self::Frozen(word >> 1) }
    }

    /// What it shows so many milliseconds after the origin.
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

/// One bit of the word is the state of the clock; 292 million years less a half remain.
fn capped(millis: i64) -> i64 {
    millis.min(i64::MAX >> 1)
}

fn signed(millis: u64) -> i64 {
    capped(i64::try_from(millis).unwrap_or(i64::MAX))
}

impl Clock {
    /// A clock that shows the time of the system.
    pub fn real() -> Self {
        Self::starting_at(time_of_the_system().into())
    }

    /// A clock that shows `start` now.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            shared: Arc::new(Shared {
                origin: Instant::now(),
                hand: AtomicI64::new(Hand::Running(signed(start.0)).pack()),
                moved: Notify::new(),
            }),
        }
    }

    /// What the clock shows.
    pub fn now(&self) -> Timestamp {
        self.show(self.hand())
    }

    /// What the clock shows at an instant that is just past, for those who read the instant anyway.
    pub(crate) fn at(&self, instant: Instant) -> Timestamp {
        let passed = signed(millis(instant.saturating_duration_since(self.shared.origin)));
        self.hand().shown_after(passed)
    }

    /// Whether the clock stands still.
    pub fn is_frozen(&self) -> bool {
        matches!(self.hand(), Hand::Frozen(_))
    }

    /// Moves the clock on. Sleepers whose moment has come wake.
    pub fn advance(&self, duration: Duration) {
        let millis = signed(millis(duration));
        self.turn(|hand| hand.moved_by(millis));
    }

    /// Moves the clock on to `moment`, unless that is past. Sleepers whose moment has come wake.
    pub fn advance_to(&self, moment: Timestamp) {
        let moment = signed(moment.0);
        self.turn(|hand| hand.moved_by(moment.saturating_sub(signed(self.show(hand).0)).max(0)));
    }

    /// How many milliseconds the clock is ahead of that of the system; negative when it is behind.
    pub fn offset_millis(&self) -> i64 {
        signed(self.now().0).saturating_sub(signed(Timestamp::from(time_of_the_system()).0))
    }

    /// Puts the clock to a moment, earlier ones too: nothing that it was asked before may matter any more.
    pub(crate) fn restart(&self, start: Option<Timestamp>, frozen: bool) {
        let start = signed(start.unwrap_or_else(|| time_of_the_system().into()).0);
        self.turn(|_| if frozen { Hand::Frozen(start) } else { Hand::Running(start - self.passed()) });
    }

    /// Stops the clock; from now on it moves only by [`advance`](Self::advance).
    pub fn freeze(&self) {
        self.turn(|hand| Hand::Frozen(signed(self.show(hand).0)));
    }

    /// Lets a frozen clock run on from where it stands.
    pub fn resume(&self) {
        self.turn(|hand| match hand {
            Hand::Frozen(at) => Hand::Running(at.saturating_sub(self.passed())),
            running @ Hand::Running(_) => running,
        });
    }

    /// Waits until the clock shows `moment` or later.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn sleep_until(&self, moment: Timestamp) {
        loop {
            let mut moved = std::pin::pin!(self.shared.moved.notified());
            // Listening starts before the clock is read, so that no movement in between is missed.
            moved.as_mut().enable();
            let hand = self.hand();
            let left = moment.saturating_since(self.show(hand));
            if left.is_zero() {
                return;
            }
            match hand {
                Hand::Frozen(_) => moved.await,
                Hand::Running(_) => tokio::select! {
                    () = moved => {}
                    () = tokio::time::sleep(left) => {}
                },
            }
        }
    }

    fn hand(&self) -> Hand {
        Hand::unpack(self.shared.hand.load(Ordering::Acquire))
    }

    fn show(&self, hand: Hand) -> Timestamp {
        match hand {
            Hand::Running(_) => hand.shown_after(self.passed()),
            Hand::Frozen(_) => hand.shown_after(0),
        }
    }

    /// Milliseconds since the origin.
    fn passed(&self) -> i64 {
        signed(millis(self.shared.origin.elapsed()))
    }

    fn turn(&self, change: impl Fn(Hand) -> Hand) {
        let hand = &self.shared.hand;
        let mut seen = hand.load(Ordering::Acquire);
        while let Err(now) = hand.compare_exchange_weak(
            seen,
            change(Hand::unpack(seen)).pack(),
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
