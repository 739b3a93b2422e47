//! From which age on things may be taken: pure.

use std::time::Duration;

use crate::error::{Error, ErrorKind};

/// How much older than the longest retention period an object has to be before a sweep may delete it: one day.
///
/// An object is older than its message, for three reasons. S3 dates what was uploaded in parts from the
/// [beginning of its upload](https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html), which takes as long
/// as a stream takes; a message is sent after its object is there, perhaps after pauses and repetitions; and the clocks of
/// the sweep and of the store differ. Uploads that take longer than this need a larger `older_than`.
pub const SWEEP_MARGIN: Duration = Duration::from_secs(86_400);

/// The least age of an upload that never ended before a sweep may end it, and what is taken unless a larger one is asked for:
/// seven days.
///
/// The retention of queues says nothing about uploads, whose messages are not sent yet: one that is younger may be under
/// way. AWS takes [as many days](https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpu-abort-incomplete-mpu-lifecycle-config.html)
/// for its lifecycle rules.
pub const SWEEP_UNFINISHED_AGE: Duration = Duration::from_secs(7 * 86_400);

/// Refuses an age at which an object may still have a message.
pub(super) fn check_objects(older_than: Duration, retention: Duration) -> Result<(), Error> {
    let least = retention.saturating_add(SWEEP_MARGIN);
    if older_than >= least {
        return Ok(());
    }
    let [least, wanted, retention, margin] =
        [least, older_than, retention, SWEEP_MARGIN].map(|age| age.as_secs());
    let text = format!(
        "a sweep for objects older than {wanted} s could delete payloads that messages still need: queues keep messages for \
         up to {retention} s, and objects are older than their messages, so {least} s is the least, which is {margin} s more \
         (queues(..) asks the queues that use the bucket)"
    );
    Err(Error::new(ErrorKind::Config, text))
}

/// From which age on uploads are ended: what was asked for, or else that of objects, if that is old enough.
pub(super) fn unfinished_age(asked: Option<Duration>, older_than: Duration) -> Result<Duration, Error> {
    let Some(asked) = asked else { return Ok(older_than.max(SWEEP_UNFINISHED_AGE)) };
    if asked >= SWEEP_UNFINISHED_AGE {
        return Ok(asked);
    }
    let [least, wanted] = [SWEEP_UNFINISHED_AGE, asked].map(|age| age.as_secs());
    let text = format!(
        "a sweep for uploads older than {wanted} s could end some that are still under way: {least} s is the least"
    );
    Err(Error::new(ErrorKind::Config, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn objects_have_to_be_a_day_older_than_any_message() {
        assert!(check_objects(15 * DAY, 14 * DAY).is_ok());
        for (older_than, retention) in
            [(14 * DAY + Duration::from_secs(86_399), 14 * DAY), (14 * DAY, 14 * DAY)]
        {
            let error = check_objects(older_than, retention).expect_err("too young");
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("1296000 s is the least"), "{error}");
        }
        assert!(check_objects(Duration::MAX, Duration::MAX).is_ok());
    }

    #[test]
    fn uploads_have_a_week_whatever_the_retention_of_the_queues_is() {
        assert_eq!(unfinished_age(None, 2 * DAY).expect("a default"), 7 * DAY);
        assert_eq!(unfinished_age(None, 15 * DAY).expect("a default"), 15 * DAY);
        assert_eq!(unfinished_age(Some(8 * DAY), 15 * DAY).expect("more than a week"), 8 * DAY);
        let error = unfinished_age(Some(6 * DAY), 15 * DAY).expect_err("less than a week");
        assert!(
            error.kind() == ErrorKind::Config && error.to_string().contains("604800 s is the least"),
            "{error}"
        );
    }
}
