//! Places in a config file, and what is wrong there.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The text of a config file, and the faults found in it so far.
#[derive(Debug)]
pub(super) struct Source<'t> {
    name: Arc<str>,
    text: &'t str,
    faults: RefCell<Vec<(usize, String)>>,
}

/// A place of the file: `sqs.toml:12:22: queues[2].visibility_timeout`.
#[derive(Clone, Debug)]
pub(crate) struct Spot(Arc<str>);

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Spotted<T> {
    pub(crate) value: T,
    pub(crate) spot: Spot,
}

impl Spot {
    /// What is wrong here, as the text of an error.
    pub(crate) fn fault(&self, text: impl std::fmt::Display) -> String {
        format!("{}: {text}", self.0)
    }

    /// What is wrong here.
    pub(crate) fn error(&self, text: impl std::fmt::Display) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, self.fault(text))
    }

    /// File, line and column.
    pub(crate) fn line(&self) -> &str {
        self.0.split_once(": ").map_or(&self.0, |(line, _)| line)
    }
}

impl<'t> Source<'t> {
    pub(super) fn new(name: &str, text: &'t str) -> Self {
        Self { name: name.into(), text, faults: RefCell::default() }
    }

    pub(super) fn spot(&self, span: &Range<usize>, path: &str) -> Spot {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        // Both count from 1, in characters, as editors do.
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let path = if path.is_empty() { String::new() } else { format!(": {path}") };
        Spot(format!("{}:{line}:{column}{path}", self.name).into())
    }

    /// Notes that something is wrong. Reading goes on, so that all faults show at once.
    pub(super) fn fault(&self, span: &Range<usize>, path: &str, text: impl std::fmt::Display) {
        let fault = self.spot(span, path).fault(text);
        self.faults.borrow_mut().push((span.start, fault));
    }

    /// All faults in the order of the file.
    pub(super) fn finish(self) -> io::Result<()> {
        let mut faults = self.faults.into_inner();
        faults.sort();
        if faults.is_empty() {
            return Ok(());
        }
        let lines: Vec<_> = faults.into_iter().map(|(_, fault)| fault).collect();
        Err(io::Error::new(io::ErrorKind::InvalidInput, lines.join("\n")))
    }
}
