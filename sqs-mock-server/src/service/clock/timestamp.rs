//! Timestamps of the mock clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
pub struct Timestamp(pub(super) u64);

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
    pub fn saturating_before(self, duration: Duration) -> Self {
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

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
