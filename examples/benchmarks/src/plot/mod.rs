//! Bars and lines as SVG, for readers of all sorts: on a white ground of their own, so that dark pages show them too, in
//! colours that people tell apart who see red and green alike, every bar with its figure and every line with its name.

mod axis;
mod bars;
mod lines;
mod svg;

pub use axis::Scale;
pub use bars::{Bar, Bars, Group};
pub use lines::{Line, Lines};
pub use svg::Canvas;

/// 1000000 is 1,000,000; what is less than 100 has a digit behind the point, and less than 1 has two.
pub fn shown(number: f64) -> String {
    let digits = if number >= 100.0 || number == 0.0 { 0 } else { usize::from(number < 1.0) + 1 };
    if digits == 0 { thousands(number) } else { format!("{number:.digits$}") }
}

/// 1000000 is 1,000,000; without a fraction.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_readers_need() {
        let numbers = [0.0, 0.25, 3.0, 18.46, 100.4, 1_234_567.0].map(shown);
        assert_eq!(numbers, ["0", "0.25", "3.0", "18.5", "100", "1,234,567"]);
    }
}
