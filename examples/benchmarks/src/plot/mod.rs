//! Bar charts and line charts as SVG.
//!
//! The background is white, so that dark pages show them too. The colours are safe for colour-blind readers. Each bar has
//! its value and each line its name.

mod axis;
mod bars;
mod lines;
mod svg;

pub use axis::Scale;
pub use bars::{Bar, Bars, Group};
pub use lines::{Line, Lines};
pub use svg::Canvas;

/// Formats a number for a reader: `1,000,000`, `99.5` and `0.25`.
pub fn format_number(number: f64) -> String {
    let digits = if number >= 100.0 || number == 0.0 { 0 } else { usize::from(number < 1.0) + 1 };
    if digits == 0 { thousands(number) } else { format!("{number:.digits$}") }
}

/// Formats a number with thousands separators and without decimals: `1,000,000`.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_fewer_decimals() {
        let numbers = [0.0, 0.25, 3.0, 18.46, 100.4, 1_234_567.0].map(format_number);
        assert_eq!(numbers, ["0", "0.25", "3.0", "18.5", "100", "1,234,567"]);
    }
}
