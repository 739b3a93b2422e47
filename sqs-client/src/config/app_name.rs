//! The application name in the user agent.

use std::borrow::Cow;
use std::fmt;

/// The application name in the user agent of every request. Allowed are letters, digits and ``!#$%&'*+-.^_`|~``.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AppName(Cow<'static, str>);

impl AppName {
    /// Validates an application name.
    ///
    /// # Errors
    /// The name is empty or contains other characters.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Result<Self, InvalidAppName> {
        let name = name.into();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(allowed) {
            return Err(InvalidAppName(name.into_owned()));
        }
        Ok(Self(name))
    }
}

impl AsRef<str> for AppName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The text is not a valid [`AppName`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidAppName(String);

impl fmt::Display for InvalidAppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "application name {:?} is invalid; allowed are letters, digits and !#$%&'*+-.^_`|~", self.0)
    }
}

impl std::error::Error for InvalidAppName {}
