//! The access keys that a server accepts, with their secrets.

use std::collections::BTreeMap;
use std::fmt;

use http::request::Parts;
use serde::Deserialize;
use sqs_client::wire::sign::{KeyLookup, Verifiable};

/// Pairs of access key and secret.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(pub(crate) BTreeMap<String, Secret>);

/// A secret, such as that of an access key. `Debug` does not show it.
#[derive(Clone, Deserialize, Eq, PartialEq)]
pub struct Secret(String);

impl Keys {
    /// The key that the server's own client uses.
    pub(crate) fn first(&self) -> Option<(&str, &str)> {
        self.0.first_key_value().map(|(id, secret)| (id.as_str(), secret.as_str()))
    }
}

/// The parts of a request that a signature covers.
pub(crate) fn verifiable<'a>(head: &'a Parts, body: &'a [u8]) -> Verifiable<'a> {
    Verifiable {
        method: head.method.as_str(),
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body,
    }
}

impl KeyLookup for Keys {
    fn secret(&self, access_key_id: &str) -> Option<&str> {
        self.0.get(access_key_id).map(Secret::as_str)
    }
}

impl Secret {
    /// The secret itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(secret: T) -> Self {
        Self(secret.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
