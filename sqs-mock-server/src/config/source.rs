//! Problems of settings, with their positions in the config file.

use std::collections::HashMap;
use std::ops::Range;
use std::{fmt, io};

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
    pub(super) name: String,
    pub(super) text: String,
    pub(super) nodes: HashMap<String, Node>,
}

/// A value of the file.
pub(super) struct Node {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
    pub(super) kind: &'static str,
}

/// Hides the text, which may contain secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Source {
    /// File, line and column of a value.
    pub(crate) fn line(&self, path: &str) -> String {
        self.place(self.start(path))
    }

    fn start(&self, path: &str) -> usize {
        self.nodes.get(path).map_or(0, |node| node.value.start)
    }

    /// File, line and column. Both count from 1, and columns count characters, as editors do.
    pub(super) fn place(&self, at: usize) -> String {
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

pub(super) fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
