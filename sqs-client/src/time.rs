//! The wall clock, for signatures and for the expiry of credentials.
//!
//! To use another clock, set [`Builder::time_source`](crate::config::Builder::time_source). By default a client corrects clock
//! skew by the `Date` of the service's responses. Pauses and timeouts use tokio's clock.

use std::ops::Range;
use std::time::{Duration, SystemTime};

pub use aws_smithy_async::time::{SharedTimeSource, TimeSource};

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl TimeSource for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock module")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Seconds since 1970 that a service can have: from 2015 to 2125. A date outside comes from a proxy or a broken service. The local
/// clock may be anywhere: a device without a battery starts in 1970.
const PLAUSIBLE: Range<u64> = 1_420_070_400..4_891_363_200;

/// Difference between the server's clock and the local one, in whole seconds. Negative if the server's is behind. `None` if
/// the server's is not plausible.
///
/// The result is accurate to a few seconds: `Date` has a resolution of one second and does not include network latency.
/// Signatures tolerate five minutes.
pub(crate) fn skew(server: SystemTime, local: SystemTime) -> Option<i64> {
    let since_1970 = server.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    if !PLAUSIBLE.contains(&since_1970.as_secs()) {
        return None;
    }
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).ok();
    match server.duration_since(local) {
        Ok(ahead) => seconds(ahead),
        Err(behind) => seconds(behind.duration()).map(|behind| -behind),
    }
}

/// The server's time, computed from the local time and the skew.
pub(crate) fn corrected(local: SystemTime, skew: i64) -> SystemTime {
    let distance = Duration::from_secs(skew.unsigned_abs());
    let moved = if skew < 0 { local.checked_sub(distance) } else { local.checked_add(distance) };
    moved.unwrap_or(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_plus_skew_is_the_server_time() {
        let local = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for ahead in [-3_600_i64, -1, 0, 1, 900] {
            let server = corrected(local, ahead);
            assert_eq!(skew(server, local), Some(ahead));
        }
        assert_eq!(corrected(local, i64::MAX), local);
        for implausible in [0, 946_684_800, 253_402_300_799] {
            let server = SystemTime::UNIX_EPOCH + Duration::from_secs(implausible);
            assert_eq!(skew(server, local), None);
        }
        assert_eq!(skew(local, SystemTime::UNIX_EPOCH), Some(1_800_000_000));
    }
}
