//! The error for invalid settings.

use std::fmt;
use std::sync::Arc;

/// An environment variable or profile file is invalid. The text names the variable, or the file and line, and what is
/// allowed. It contains no secret. Cloning is cheap.
#[derive(Clone, Eq, PartialEq)]
pub struct ConfigError(Arc<str>);

impl ConfigError {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text of `Display`, because `main` prints `Debug` when it returns an error.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}
