//! The texts of panics.

use std::any::Any;
use std::error::Error;
use std::fmt;

/// A panic of the client below.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl Panicked {
    pub(crate) fn of(panic: &(dyn Any + Send)) -> Self {
        Self(text(panic))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request panicked: {}", self.0)
    }
}

impl Error for Panicked {}

/// The text of a panic.
pub(crate) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
