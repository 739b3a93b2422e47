//! How long to wait after a receive that failed.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// The pause after that many failures in a row: at least 100 ms, and up to a bound that doubles from 200 ms to 30 s.
/// `chance` is from 0 to 1.
pub(crate) fn pause(failures: u32, chance: f64) -> Duration {
    let bound = SHORTEST.saturating_mul(1 << failures.clamp(1, 20)).min(LONGEST);
    SHORTEST + bound.saturating_sub(SHORTEST).mul_f64(chance.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let longest: Vec<_> = (1..=10).map(|failures| pause(failures, 1.0).as_millis()).collect();
        assert_eq!(longest, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    }

    proptest! {
        #[test]
        fn pauses_are_between_a_tenth_of_a_second_and_half_a_minute(failures: u32, chance in 0.0_f64..=1.0) {
            prop_assert!((SHORTEST..=LONGEST).contains(&pause(failures, chance)));
        }
    }
}
