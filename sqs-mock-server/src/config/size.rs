//! Sizes as people write them.

use std::fmt;
use std::str::FromStr;

const UNITS: [(&str, usize); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A number of bytes, read from and shown as `512MiB`, `2GiB`, `64KiB` or a plain number.
///
/// ```
/// use sqs_mock_server::ByteSize;
///
/// assert_eq!("512MiB".parse(), Ok(ByteSize(512 * 1024 * 1024)));
/// assert_eq!("1000".parse(), Ok(ByteSize(1000)));
/// assert_eq!(ByteSize(2 << 30).to_string(), "2GiB");
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ByteSize(pub usize);

/// A text is not a size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct NotASize;

impl fmt::Display for NotASize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a size is a whole number of bytes, or one with the unit B, KiB, MiB or GiB, such as 512MiB",
        )
    }
}

impl std::error::Error for NotASize {}

impl FromStr for ByteSize {
    type Err = NotASize;

    fn from_str(text: &str) -> Result<Self, NotASize> {
        let stripped = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
        let (number, factor) = stripped.unwrap_or((text, 1));
        let number: usize = number.trim_end_matches(' ').parse().map_err(|_| NotASize)?;
        number.checked_mul(factor).map(Self).ok_or(NotASize)
    }
}

impl fmt::Display for ByteSize {
    /// With the largest unit that leaves a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |factor: usize| self.0 > 0 && self.0.is_multiple_of(factor);
        let (unit, factor) = UNITS.into_iter().find(|(_, factor)| fits(*factor)).unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_survives_a_round_trip() {
        for bytes in [0, 1, 1023, 1024, 1 << 20, 3 << 30, (3 << 30) + 1] {
            assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }
    }

    #[test]
    fn other_texts_are_no_sizes() {
        for text in ["", "MiB", "-1", "1.5GiB", "1 giraffe", "1MB", "99999999999GiB", "1KiB "] {
            assert_eq!(text.parse::<ByteSize>(), Err(NotASize), "{text}");
        }
    }
}
