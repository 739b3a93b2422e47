//! Uploads that were begun and never ended.

use std::time::SystemTime;

/// An upload that was begun, and neither completed nor aborted: its process was killed, or the store could not be reached.
/// What it has stored so far takes room, and no listing of objects shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Unfinished {
    /// The key of the object that it was to become.
    pub key: String,
    /// What the store calls it.
    pub id: String,
    /// When it was begun, by the clock of the store.
    pub initiated: SystemTime,
}

impl Unfinished {
    /// An upload to this key.
    pub fn new(key: impl Into<String>, id: impl Into<String>, initiated: SystemTime) -> Self {
        Self { key: key.into(), id: id.into(), initiated }
    }
}

/// A part of a listing of uploads.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct UnfinishedPage {
    /// Uploads, by key.
    pub uploads: Vec<Unfinished>,
    /// What to ask for the next page with; `None` after the last.
    pub next: Option<String>,
}

impl UnfinishedPage {
    /// A page.
    pub fn new(uploads: Vec<Unfinished>, next: Option<String>) -> Self {
        Self { uploads, next }
    }
}
