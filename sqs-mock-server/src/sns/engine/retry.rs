//! When SNS tries again to deliver to a queue of an unavailable SQS.
//!
//! Source: "Delivery policy for AWS managed endpoints" of the SNS developer guide: 100,015 retries over 23 days.

use std::time::Duration;

/// Retries without a pause.
const IMMEDIATE: u32 = 3;
/// Retries after one second each.
const PRE_BACKOFF: u32 = 2;
/// Retries after pauses that grow from one second to the last.
const BACKOFF: u32 = 10;
/// Retries after the last pause.
const POST_BACKOFF: u32 = 100_000;
const FIRST: Duration = Duration::from_secs(1);
const LAST: Duration = Duration::from_secs(20);

/// The pause before the next retry, after `failed` retries; `None` if that was the last.
pub(crate) fn pause(failed: u32) -> Option<Duration> {
    let in_backoff = |step: u32| FIRST.mul_f64(20_f64.powf(f64::from(step) / f64::from(BACKOFF - 1)));
    let Some(slow) = failed.checked_sub(IMMEDIATE) else { return Some(Duration::ZERO) };
    let Some(step) = slow.checked_sub(PRE_BACKOFF) else { return Some(FIRST) };
    let Some(late) = step.checked_sub(BACKOFF) else { return Some(in_backoff(step)) };
    (late < POST_BACKOFF).then_some(LAST)
}

/// How many of the retries with the last pause fit into a time, and how long they take. None before them.
pub(crate) fn skipped(failed: u32, time: Duration) -> (u32, Duration) {
    let Some(late) = failed.checked_sub(IMMEDIATE + PRE_BACKOFF + BACKOFF) else {
        return (0, Duration::ZERO);
    };
    let fitting = u32::try_from(time.as_secs() / LAST.as_secs()).unwrap_or(u32::MAX);
    let retries = fitting.min(POST_BACKOFF.saturating_sub(late));
    (retries, LAST.saturating_mul(retries))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 3.7.
    #[test]
    fn retries_are_those_of_aws() {
        let pauses: Vec<_> = (0..).map_while(pause).collect();
        assert_eq!(pauses.len(), 100_015);
        assert_eq!(pauses[..5], [Duration::ZERO, Duration::ZERO, Duration::ZERO, FIRST, FIRST]);
        let backoff = &pauses[5..15];
        assert!(backoff.is_sorted() && backoff[0] == FIRST && backoff[9] == LAST, "{backoff:?}");
        assert!(pauses[15..].iter().all(|pause| *pause == LAST));
        let days = pauses.iter().sum::<Duration>().as_secs() / 86_400;
        assert_eq!(days, 23);
    }

    #[test]
    fn skipped_retries_are_those_with_the_last_pause() {
        assert_eq!(skipped(14, LAST * 9), (0, Duration::ZERO));
        assert_eq!(skipped(15, LAST * 9 + FIRST), (9, LAST * 9));
        let all = Duration::from_secs(u64::MAX);
        assert_eq!(skipped(100_010, all), (5, LAST * 5));
        assert_eq!(skipped(100_015, all), (0, Duration::ZERO));
        assert_eq!(pause(100_015), None);
    }
}
