//! The one place where this crate asks the system for the time of day: for signatures, and for the expiry of credentials.
//!
//! Programs with a clock of their own give it to [`Builder::time_source`](crate::config::Builder::time_source). A client whose
//! clock is off learns that from the service, unless that is switched off. Pauses and timeouts are tokio's.

use std::time::{Duration, SystemTime};

pub use aws_smithy_async::time::{SharedTimeSource, TimeSource};

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl TimeSource for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock module")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// How far a server's clock is ahead of ours, in whole seconds; negative when it is behind.
///
/// The `Date` of an answer has a resolution of one second and is as old as the way back took, so that the result
/// is good to a few seconds. Signatures tolerate minutes.
pub(crate) fn skew(server: SystemTime, local: SystemTime) -> i64 {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match server.duration_since(local) {
        Ok(ahead) => seconds(ahead),
        Err(behind) => -seconds(behind.duration()),
    }
}

/// The server's time, from ours and the skew.
pub(crate) fn corrected(local: SystemTime, skew: i64) -> SystemTime {
    let distance = Duration::from_secs(skew.unsigned_abs());
    let moved = if skew < 0 { local.checked_sub(distance) } else { local.checked_add(distance) };
    moved.unwrap_or(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correcting_by_the_skew_gives_the_servers_time() {
        let local = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for ahead in [-3_600_i64, -1, 0, 1, 900] {
            let server = corrected(local, ahead);
            assert_eq!(skew(server, local), ahead);
        }
        assert_eq!(corrected(local, i64::MAX), local);
    }
}
