//! Settings that are no plain texts or numbers.

use std::fmt;

/// How callers prove who they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Auth {
    /// Not at all.
    None,
    /// By a signature (version 4) with one of the keys.
    Sigv4,
}

/// How a log looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LogFormat {
    /// For people: a line of text for each event.
    Text,
    /// For machines: a line with a JSON object for each event.
    Json,
}

/// The secret of an access key. It does not show in `Debug`.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(String);

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl From<Secret> for String {
    fn from(secret: Secret) -> Self {
        secret.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
