//! Which objects a sweep may delete. Pure.

use std::time::{Duration, SystemTime};

use crate::error::{Error, ErrorKind};
use crate::format::ends_with_uuid;

/// How much older than any message an object must be: one day.
///
/// An object is older than its message. S3 dates an object that was uploaded in parts from the [start of its
/// upload](https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html). Its message is sent after the
/// upload, perhaps after retries, and clocks differ. If uploads take longer than a day, use a larger age.
pub const SWEEP_MARGIN: Duration = Duration::from_secs(86_400);

/// The classification of an object by key and age.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// Its key does not end in a UUID.
    Foreign,
    /// A message may need it.
    Young,
    /// No message can need it.
    Old,
}

/// An object that is exactly as old as `older_than` is young.
pub(super) fn judge(key: &str, written: SystemTime, now: SystemTime, older_than: Duration) -> Verdict {
    if !ends_with_uuid(key) {
        return Verdict::Foreign;
    }
    // An object from the future is new.
    let age = now.duration_since(written).unwrap_or_default();
    if age > older_than { Verdict::Old } else { Verdict::Young }
}

/// Rejects an age at which a message may need the object. `lifetime` is that of a message.
pub(super) fn check_age(older_than: Duration, lifetime: Duration) -> Result<(), Error> {
    let least = lifetime.saturating_add(SWEEP_MARGIN);
    if older_than >= least {
        return Ok(());
    }
    let text = format!(
        "a sweep of objects older than {} s could delete payloads of live messages: at least {} s are needed, the time that \
         a message may live ({} s) and a day (queues(..) reads the retention periods of your queues)",
        older_than.as_secs(),
        least.as_secs(),
        lifetime.as_secs()
    );
    Err(Error::new(ErrorKind::Config, text))
}

/// Rejects an empty prefix: other programs may use the bucket.
pub(super) fn check_prefix(prefix: &str) -> Result<(), Error> {
    if prefix.is_empty() {
        let text = "a sweep needs a key prefix, since other programs may use the bucket; \"\" is not allowed";
        return Err(Error::new(ErrorKind::Config, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "01234567-89ab-4cde-8f01-23456789ABCD";
    const DAY: Duration = Duration::from_secs(86_400);

    fn verdict(key: &str, age: u64) -> Verdict {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        judge(key, now - Duration::from_secs(age), now, Duration::from_secs(100))
    }

    #[test]
    fn only_old_objects_with_a_uuid_are_orphans() {
        assert_eq!(verdict(UUID, 101), Verdict::Old);
        assert_eq!(verdict(&format!("orders/{UUID}"), 101), Verdict::Old);
        assert_eq!(verdict(UUID, 100), Verdict::Young);
        assert_eq!(verdict("orders/readme.txt", 101), Verdict::Foreign);
        assert_eq!(verdict(&UUID[1..], 101), Verdict::Foreign);
        let soon = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
        assert_eq!(judge(UUID, soon, SystemTime::UNIX_EPOCH, Duration::ZERO), Verdict::Young);
    }

    #[test]
    fn objects_must_be_a_day_older_than_any_message() {
        assert!(check_age(15 * DAY, 14 * DAY).is_ok());
        for older_than in [14 * DAY + Duration::from_secs(86_399), 14 * DAY] {
            let error = check_age(older_than, 14 * DAY).expect_err("too young");
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("at least 1296000 s"), "{error}");
        }
        assert!(check_age(Duration::MAX, Duration::MAX).is_ok());
    }

    #[test]
    fn empty_prefix_is_rejected() {
        assert!(check_prefix("orders/").is_ok());
        assert_eq!(check_prefix("").expect_err("empty").kind(), ErrorKind::Config);
    }
}
