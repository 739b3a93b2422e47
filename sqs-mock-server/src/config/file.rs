//! Reads config files.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, fs, io};

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::config::Config;
use crate::control::text::typos;

/// Settings that need a feature: whether this build has it, and what it lacks otherwise.
const FEATURES: [(&str, bool, &str); 3] = [
    ("s3", cfg!(feature = "s3"), "S3; enable the cargo feature s3"),
    ("buckets", cfg!(feature = "s3"), "S3; enable the cargo feature s3"),
    ("data", cfg!(feature = "durable"), "data directories; enable the cargo feature durable"),
];

impl Config {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// The file cannot be read; otherwise as [`parse`](Self::parse).
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let name = path.as_ref().display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read the config file {name}: {error}"))
        })?;
        Self::parse(&text, &name)
    }

    /// Parses the text of a TOML file. Errors call the file `name`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`], with file, line, column, path and allowed values: the first unknown setting or
    /// wrong type, or else a line for each invalid value. Conflicts between queues, topics and subscriptions are
    /// reported when the server starts.
    pub fn parse(text: &str, name: &str) -> io::Result<Self> {
        let (root, errors) = DeTable::parse_recoverable(text);
        let source = Source::new(name, text, root.get_ref());
        if let Some(error) = errors.first() {
            return Err(source.explain(error));
        }
        source.check(source.misplaced())?;
        let mut config =
            Self::deserialize(Deserializer::from(root)).map_err(|error| source.explain(&error))?;
        source.check(config.problems())?;
        config.source = Arc::new(source);
        Ok(config)
    }
}

impl Source {
    fn new(name: &str, text: &str, root: &DeTable<'_>) -> Self {
        let mut source = Self { name: name.to_owned(), text: text.to_owned(), nodes: HashMap::new() };
        source.add_table("", root);
        source
    }

    fn add_table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            self.add(format!("{prefix}{}", key.get_ref()), key.span(), value);
        }
    }

    fn add(&mut self, path: String, key: Range<usize>, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.add_table(&format!("{path}."), table),
            DeValue::Array(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    self.add(format!("{path}[{at}]"), element.span(), element);
                }
            }
            _ => {}
        }
        self.nodes.insert(path, Node { key, value: value.span(), kind: value.get_ref().type_str() });
    }

    /// Settings that serde would not notice, or explain: lists in the place of tables, whose elements it would deserialize
    /// as the fields of a struct, and settings of features that this build lacks.
    fn misplaced(&self) -> Vec<Problem> {
        let is_table = |path: &str| ["limits", "s3"].contains(&path) || path.ends_with(']');
        let lists = self.nodes.iter().filter(|(path, node)| node.kind == "array" && is_table(path));
        let lists =
            lists.map(|(path, _)| Problem::new(path, "type array is not allowed; allowed is a table"));
        let absent = FEATURES.into_iter().filter(|(path, is_on, _)| !is_on && self.nodes.contains_key(*path));
        let absent = absent.map(|(path, _, what)| Problem::new(path, format!("this build has no {what}")));
        lists.chain(absent).collect()
    }

    /// Rewords an error of toml or serde. The error's own `Display` quotes the line, which may contain a secret.
    fn explain(&self, error: &toml::de::Error) -> io::Error {
        let (span, message) = (error.span().unwrap_or_default(), error.message());
        let place = self.place(span.start);
        // A table that the file names only in paths of its children has the position of its first child.
        let at_span = self.nodes.iter().filter(|(_, node)| node.key == span || node.value == span);
        invalid(match at_span.max_by_key(|(path, _)| path.len()) {
            Some((path, node)) => format!("{place}: {path}: {}", self.plain(path, node, message)),
            None => format!("{place}: {message}"),
        })
    }

    /// Rewords a message of serde in terms of TOML. Leaves out values of wrong types, which could be secrets.
    fn plain(&self, path: &str, node: &Node, message: &str) -> String {
        let Some((what, expected)) = message.rsplit_once(", expected ") else {
            return message
                .strip_prefix("missing field ")
                .map_or(message.to_owned(), |key| format!("{key} is missing"));
        };
        let allowed = match expected {
            "u16" => "a whole number from 0 to 65535",
            "i64" | "u64" | "usize" => "a whole number",
            "a boolean" => "true or false",
            "a sequence" if node.kind == "table" => {
                return format!(
                    "type table is not allowed; a list of tables has two brackets, as in [[{path}]]"
                );
            }
            "a sequence" => "a list",
            "a map" => "a table",
            "path string" => "a string",
            other if other.contains("struct ") || other.contains("enum ") => "a table",
            other => other,
        };
        // Faults are deserialized as a whole: an error in a fault has the position of its table.
        let is_within = node.kind == "table" && !what.starts_with("invalid type: map");
        match what.split_once([':', '`']) {
            Some(("unknown field ", name)) => unknown_key(name.trim_end_matches('`'), expected),
            Some(("invalid type", _)) if !is_within => {
                format!("type {} is not allowed; allowed is {allowed}", node.kind)
            }
            Some(("invalid value" | "unknown variant ", _)) if !is_within => {
                let given = self.text.get(node.value.clone()).unwrap_or_default();
                format!("{given} is not allowed; allowed is {allowed}")
            }
            _ => message.to_owned(),
        }
    }

    /// File, line and column of a value.
    pub(crate) fn line(&self, path: &str) -> String {
        self.place(self.start(path))
    }

    fn start(&self, path: &str) -> usize {
        self.nodes.get(path).map_or(0, |node| node.value.start)
    }

    /// File, line and column. Both count from 1, and columns count characters, as editors do.
    pub(crate) fn place(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// Fails if there are problems.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`], with a line for each problem in the order of the file, and its position.
    pub(crate) fn check(&self, mut problems: Vec<Problem>) -> io::Result<()> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| self.start(&problem.path));
        let line = |Problem { path, text }: &Problem| format!("{}: {path}: {text}", self.line(path));
        Err(invalid(problems.iter().map(line).collect::<Vec<_>>().join("\n")))
    }
}

/// Names the setting with a similar name, or else lists all settings.
fn unknown_key(name: &str, expected: &str) -> String {
    let mut known: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
    known.sort_unstable();
    let distance = |known: &str| if bare(known) == bare(name) { Some(0) } else { typos(name, known) };
    let similar = known.iter().filter_map(|known| Some((distance(known)?, known)));
    let hint = match similar.min() {
        Some((_, known)) => format!("did you mean {known}?"),
        None => format!("known are {}", known.join(", ")),
    };
    format!("unknown setting; {hint}")
}

/// Normalizes names: users may write `DelaySeconds` or `delay_seconds`, as AWS does, for `delay`.
fn bare(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "").trim_end_matches("seconds").to_owned()
}

/// An invalid setting.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Such as `queues[2].visibility_timeout`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// The text of a config file, and its values by path. It is empty without a file.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) nodes: HashMap<String, Node>,
}

/// A value of the file.
pub(crate) struct Node {
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
    pub(crate) kind: &'static str,
}

/// Hides the text, which may contain secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

pub(crate) fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

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
#[path = "file_tests.rs"]
mod file_tests;

#[cfg(test)]
mod table_tests {
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
