//! Opens a payload in a store for reading.

use sha2::{Digest as _, Sha256};

use super::DEFAULT_MAX_LENGTH;
use super::body::Body;
use super::checks::{Checks, Hash, Listener, checked};
use super::ranges::{self, Plan};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::Bounded;

/// How a payload is read.
pub(crate) struct Options {
    pub(crate) is_binary: bool,
    pub(crate) limit: u64,
    pub(crate) plan: Plan,
    pub(crate) listener: Option<Listener>,
}

impl Default for Options {
    fn default() -> Self {
        Self { is_binary: false, limit: DEFAULT_MAX_LENGTH, plan: Plan::default(), listener: None }
    }
}

/// A payload in a store.
pub(crate) struct Download {
    pub(crate) store: Bounded,
    pub(crate) at: Pointer,
    /// The length according to the message.
    pub(crate) length: u64,
    /// The hash according to the message, in hex.
    pub(crate) sha256: Option<String>,
}

impl Download {
    /// Opens the object.
    ///
    /// # Errors
    /// Those of the store; [`ErrorKind::TooLarge`] without a request; [`ErrorKind::Damaged`] if the object has a
    /// different length.
    pub(crate) async fn open(self, options: Options) -> Result<Body, Error> {
        let Self { store, at, length, sha256 } = self;
        let mut checks = Checks::new(Some(length), options.limit, options.is_binary);
        checks.listener = options.listener;
        checks.begin()?;
        let object = ranges::open(&store, &at, length == 0, options.plan).await?;
        if object.length != length {
            let text = format!("{at} has {} bytes; its message says {length}", object.length);
            return Err(Error::new(ErrorKind::Damaged, text));
        }
        if let Some(expected) = sha256 {
            checks.hash = Hash::Verified(Sha256::new(), expected);
        }
        let pieces = ranges::pieces(store, at, object, options.plan);
        Ok(Body::new(length, checked(pieces, checks, |_, _| {})))
    }
}
