//! The positions of values in a config file, for errors.

use std::collections::HashMap;
use std::ops::Range;
use std::{fmt, io};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::rules::Problem;

/// The text of a config file, and its values by path.
#[derive(Default)]
pub(crate) struct Source {
    name: String,
    text: String,
    nodes: HashMap<String, Node>,
}

struct Node {
    key: Range<usize>,
    value: Range<usize>,
    kind: &'static str,
}

/// Hides the text, which may contain secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Source {
    pub(super) fn new(name: &str, text: &str, root: &DeTable<'_>) -> Self {
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

    /// Lists in the place of tables. Serde would deserialize their elements as the fields of a struct.
    pub(super) fn misplaced_lists(&self) -> Vec<Problem> {
        let is_table = |path: &str| ["limits", "s3"].contains(&path) || path.ends_with(']');
        let lists = self.nodes.iter().filter(|(path, node)| node.kind == "array" && is_table(path));
        lists.map(|(path, _)| Problem::new(path, "type array is not allowed; allowed is a table")).collect()
    }

    /// File, line and column of a value.
    pub(crate) fn line(&self, path: &str) -> String {
        self.place(self.start(path))
    }

    fn start(&self, path: &str) -> usize {
        self.nodes.get(path).map_or(0, |node| node.value.start)
    }

    /// File, line and column. Both count from 1, and columns count characters, as editors do.
    fn place(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// All problems in the order of the file, each with its position.
    pub(crate) fn refuse(&self, mut problems: Vec<Problem>) -> io::Error {
        problems.sort_by_key(|problem| self.start(&problem.path));
        let line = |Problem { path, text }: &Problem| format!("{}: {path}: {text}", self.line(path));
        invalid(problems.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    /// Rewords an error of toml or serde. The error's own `Display` quotes the line, which may contain a secret.
    pub(super) fn explain(&self, error: &toml::de::Error) -> io::Error {
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
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// Names the setting with a similar name, or else lists all settings.
fn unknown_key(name: &str, expected: &str) -> String {
    let mut known: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
    known.sort_unstable();
    let hint = match known.iter().find(|known| bare(known) == bare(name)) {
        Some(known) => format!("did you mean {known}?"),
        None => format!("known are {}", known.join(", ")),
    };
    format!("unknown setting; {hint}")
}

/// Normalizes names: users may write `DelaySeconds` or `delay_seconds`, as AWS does, for `delay`.
fn bare(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "").trim_end_matches("seconds").to_owned()
}
