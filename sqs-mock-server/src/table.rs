//! Text tables for reports.

use std::fmt;

/// Rows under a head. Columns are as wide as their widest cell.
#[derive(Clone, Debug)]
pub(crate) struct Table<const COLUMNS: usize> {
    head: [&'static str; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
    left_out: usize,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// Shows at most `at_most` rows, and the number of further ones.
    pub(crate) fn new(
        head: [&'static str; COLUMNS],
        rows: impl ExactSizeIterator<Item = [String; COLUMNS]>,
        at_most: usize,
    ) -> Self {
        let left_out = rows.len().saturating_sub(at_most);
        Self { head, rows: rows.take(at_most).collect(), left_out }
    }

    fn widths(&self) -> [usize; COLUMNS] {
        let mut widths = self.head.map(|cell| cell.chars().count());
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }
}

impl<const COLUMNS: usize> fmt::Display for Table<COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let mut line = |cells: [&str; COLUMNS]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:width$}"));
            writeln!(f, "{}", padded.collect::<String>().trim_end())
        };
        line(self.head)?;
        for row in &self.rows {
            line(row.each_ref().map(String::as_str))?;
        }
        match self.left_out {
            0 => Ok(()),
            left_out => writeln!(f, "  .. and {left_out} more"),
        }
    }
}

/// The start of a text, quoted and on one line.
pub(crate) fn excerpt(text: &str, at_most: usize) -> String {
    match text.char_indices().nth(at_most) {
        Some((end, _)) => format!("{:?}..", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_rows_bounded() {
        let rows = [["tea", "1"], ["coffee", "22"], ["water", "3"]].map(|row| row.map(str::to_owned));
        let table = Table::new(["drink", "cups"], rows.into_iter(), 2);
        assert_eq!(table.to_string(), "  drink   cups\n  tea     1\n  coffee  22\n  .. and 1 more\n");
    }

    #[test]
    fn excerpt_cuts_between_characters() {
        assert_eq!(excerpt("a\nb", 3), r#""a\nb""#);
        assert_eq!(excerpt("äöü", 2), "\"äö\"..");
    }
}
