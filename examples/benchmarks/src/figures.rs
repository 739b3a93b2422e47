//! Medians and ratios of measurements.

use std::cmp::Ordering;

/// The median; with an even number of values the higher one of the middle two. `None` without values.
pub fn median<T>(values: impl IntoIterator<Item = T>, compare: impl FnMut(&T, &T) -> Ordering) -> Option<T> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable_by(compare);
    let middle = values.len() / 2;
    values.into_iter().nth(middle)
}

/// The ratio of a value to a base. `None` if one of them is zero, which is too short to measure.
pub fn ratio(value: f64, base: f64) -> Option<f64> {
    Some(value / base).filter(|ratio| ratio.is_finite() && value > 0.0)
}

/// A table cell with `digits` decimals, or `-` for an unknown value.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.filter(|value| value.is_finite()).map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(median([3, 1, 2], Ord::cmp), Some(2));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0], f64::total_cmp), Some(3.0));
        assert_eq!(median(Vec::<u8>::new(), Ord::cmp), None);
    }

    #[test]
    fn ratio_of_unmeasured_values_is_unknown() {
        let text = |value, base| cell(ratio(value, base), 2);
        assert_eq!(text(3.0, 2.0), "1.50");
        assert_eq!([text(1.0, 0.0), text(0.0, 0.0), text(0.0, 1.0), text(f64::NAN, 1.0)], ["-"; 4]);
    }
}
