//! The access keys that a server accepts.

use std::collections::BTreeMap;
use std::fmt;

use sqs_client::wire::sign::KeyLookup;

/// Pairs of access key and secret.
#[derive(Clone, Default, Eq, PartialEq)]
pub(crate) struct Keys(BTreeMap<String, String>);

impl Keys {
    /// The pair that the server's own client signs with.
    pub(crate) fn first(&self) -> Option<(&str, &str)> {
        self.0.first_key_value().map(|(id, secret)| (id.as_str(), secret.as_str()))
    }
}

impl<I: Into<String>, S: Into<String>> FromIterator<(I, S)> for Keys {
    fn from_iter<T: IntoIterator<Item = (I, S)>>(pairs: T) -> Self {
        Self(pairs.into_iter().map(|(id, secret)| (id.into(), secret.into())).collect())
    }
}

/// The secrets do not show.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl KeyLookup for Keys {
    fn secret(&self, access_key_id: &str) -> Option<&str> {
        self.0.get(access_key_id).map(String::as_str)
    }
}
