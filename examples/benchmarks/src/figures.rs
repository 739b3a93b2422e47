//! What is made of measurements: medians, and ratios that readers can rely on.

use std::cmp::Ordering;

/// The middle one, or the higher one of two; nothing of nothing.
pub fn median<T>(values: impl IntoIterator<Item = T>, compare: impl FnMut(&T, &T) -> Ordering) -> Option<T> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable_by(compare);
    let middle = values.len() / 2;
    values.into_iter().nth(middle)
}

/// How many times the base a value is; nothing where one of the two was too short to be measured.
pub fn ratio(value: f64, base: f64) -> Option<f64> {
    Some(value / base).filter(|ratio| ratio.is_finite() && value > 0.0)
}

/// A cell of a table with so many digits behind the point, and `-` for what nobody knows.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.filter(|value| value.is_finite()).map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median([3, 1, 2], Ord::cmp), Some(2));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0], f64::total_cmp), Some(3.0));
        assert_eq!(median(Vec::<u8>::new(), Ord::cmp), None);
    }

    #[test]
    fn ratios_of_what_was_not_measured_are_unknown() {
        let shown = |value, base| cell(ratio(value, base), 2);
        assert_eq!(shown(3.0, 2.0), "1.50");
        assert_eq!([shown(1.0, 0.0), shown(0.0, 0.0), shown(0.0, 1.0), shown(f64::NAN, 1.0)], ["-"; 4]);
    }
}
