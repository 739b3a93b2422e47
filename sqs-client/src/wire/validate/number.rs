//! Syntax and range of `Number` attributes.

use crate::wire::limits::{MAX_NUMBER_DIGITS, NUMBER_EXPONENTS};

/// Whether a text is a decimal number: an optional sign, digits with at most one point, an optional exponent.
///
/// It has at most 38 significant digits, without leading and trailing zeros. Its magnitude is zero or from 1e-128 to 1e+126.
pub(super) fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let Ok(exponent) = exponent.parse::<i64>() else {
        return false;
    };
    match Digits::of(mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa)) {
        None => false,
        Some(Digits::Zero) => true,
        Some(Digits::From { first, count }) => {
            count <= MAX_NUMBER_DIGITS && NUMBER_EXPONENTS.contains(&first.saturating_add(exponent))
        }
    }
}

/// The significant digits of a number, without leading and trailing zeros.
#[derive(Debug, PartialEq)]
enum Digits {
    Zero,
    /// The power of ten of the first digit, and the number of digits.
    From {
        first: i64,
        count: usize,
    },
}

impl Digits {
    fn of(unsigned: &str) -> Option<Self> {
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if whole.len() + fraction.len() == 0 || !digits().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let mut significant =
            digits().enumerate().filter(|(_, digit)| *digit != b'0').map(|(position, _)| position);
        let Some(first) = significant.next() else {
            return Some(Self::Zero);
        };
        let last = significant.last().unwrap_or(first);
        let before_point = i64::try_from(whole.len()).ok()?;
        Some(Self::From { first: before_point - 1 - i64::try_from(first).ok()?, count: last - first + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_with_or_without_exponent_are_valid() {
        for good in
            ["0", "-0", "3", "+3", "-3.25", ".5", "5.", "1e5", "1E-5", "1.5e+10", "007", "0.000", "0e999"]
        {
            assert!(is_number(good), "{good}");
        }
        for bad in [
            "", " 1", "1 ", "x", ".", "-", "+-1", "1e", "e5", "1e5.0", "1e+-5", "1.2.3", "0x10", "1_000",
            "NaN", "Infinity", "１",
        ] {
            assert!(!is_number(bad), "{bad:?}");
        }
    }

    #[test]
    fn precision_is_38_digits_without_leading_and_trailing_zeros() {
        let digits = "1".repeat(38);
        assert!(is_number(&digits));
        assert!(is_number(&format!("000{digits}000")));
        assert!(is_number(&format!("0.000{digits}000")));
        assert!(!is_number(&format!("{digits}1")));
        assert!(!is_number(&format!("1{}1", "0".repeat(37))));
    }

    #[test]
    fn magnitude_is_1e_minus_128_to_1e_126() {
        assert!(is_number("1e126"));
        assert!(is_number("-1e-128"));
        assert!(is_number(&format!("1{}", "0".repeat(126))));
        assert!(is_number("0.1e127"));
        for bad in
            ["1e127", "1e-129", "10e126", "0.1e-128", "1e99999999999999999999", "1e9223372036854775807"]
        {
            assert!(!is_number(bad), "{bad}");
        }
        assert!(!is_number(&format!("1{}", "0".repeat(127))));
    }
}
