//! The application's name in the user agent.

use std::borrow::Cow;
use std::fmt;

/// Names the application in the user agent of every request: letters, digits and ``!#$%&'*+-.^_`|~``.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AppName(Cow<'static, str>);

impl AppName {
    /// A name.
    ///
    /// # Errors
    /// It is empty or has other characters than those above.
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

/// A text cannot be an [`AppName`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidAppName(String);

impl fmt::Display for InvalidAppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an application name: letters, digits and !#$%&'*+-.^_`|~ are allowed", self.0)
    }
}

impl std::error::Error for InvalidAppName {}
