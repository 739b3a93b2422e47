//! Opens a payload for reading.

use std::fmt;

use sha2::Sha256;

use super::body::Body;
use super::checks::{Checks, Listener, Progress, checked};
use super::encoding::Encoding;
use super::ranges::{self, Plan};
use super::utf8::Utf8;
use super::{DEFAULT_MAX_LENGTH, PayloadError, PayloadErrorKind, sha256};
use crate::pointer::Pointer;
use crate::store::{Object, PayloadStore};

/// What is reserved of a compressed payload before it has come: its message alone says how much that will be.
const SURE: u64 = 1 << 20;
/// What is compressed may have so many bytes, and an eighth of its length, more than it had.
const COMPRESSED_MORE: u64 = 64 << 10;

/// How a payload is to be read.
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

/// A payload that is to be read.
pub struct Download<S> {
    store: S,
    at: Pointer,
    length: u64,
    options: Options,
}

impl<S: PayloadStore> Download<S> {
    /// The payload at `at`, which has to have `length` bytes, before compression.
    pub fn new(store: &S, at: Pointer, length: u64) -> Self {
        Self { store: store.clone(), at, length, options: Options::default() }
    }

    pub(crate) fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// It may be other than UTF-8.
    pub fn binary(mut self) -> Self {
        self.options.is_binary = true;
        self
    }

    /// The most bytes that are accepted, 2,147,483,647 by default, whatever the message says that there are.
    pub fn max_length(mut self, bytes: u64) -> Self {
        self.options.limit = bytes;
        self
    }

    /// How long the ranges are in which it is read, 4 MiB by default.
    pub fn range_size(mut self, bytes: u64) -> Self {
        self.options.plan.range = bytes.max(1);
        self
    }

    /// How many ranges are read at once, 4 by default. All but the first are in memory until it is their turn. With 1 it is
    /// read in one go.
    pub fn ranges_at_once(mut self, ranges: usize) -> Self {
        self.options.plan.at_once = ranges;
        self
    }

    /// Is told of every piece that is given out.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.options.listener = Some(Box::new(listener));
        self
    }

    /// Asks the store for it.
    ///
    /// # Errors
    /// [`PayloadErrorKind::Store`] when the store does not give it, [`TooLarge`](PayloadErrorKind::TooLarge), in which case the
    /// store is not asked, [`Damaged`](PayloadErrorKind::Damaged) when the object has another length,
    /// [`Encoding`](PayloadErrorKind::Encoding) when it is compressed in a way that is not known.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn open(self) -> Result<Body, PayloadError> {
        let Self { store, at, length, options: Options { is_binary, limit, plan, listener } } = self;
        let utf8 = (!is_binary).then(Utf8::default);
        let mut checks = Checks::new(Some(length), limit, utf8, listener);
        checks.begin()?;
        let mut object = ranges::open(&store, &at, length == 0, plan).await?;
        let encoding = Encoding::of(object.content_encoding.as_deref())?;
        let sure = if encoding.is_plain() {
            right_length(&at, &object, length)?;
            length
        } else {
            not_too_long(&at, &object, length)?;
            SURE.min(length)
        };
        checks.sha256 =
            object.metadata.remove(sha256::METADATA).map(|expected| (Sha256::default(), expected));
        let pieces = encoding.decode(ranges::pieces(store, at, object, plan));
        Ok(Body::new(length, sure, checked(pieces, checks, |_| {})))
    }
}

fn right_length(at: &Pointer, object: &Object, length: u64) -> Result<(), PayloadError> {
    if object.length == length {
        return Ok(());
    }
    let says = format!("{at} has {} bytes, and its message says {length}", object.length);
    Err(PayloadError::new(PayloadErrorKind::Damaged, says))
}

/// No compression makes a payload much longer; what is, would only be read to be found out.
fn not_too_long(at: &Pointer, object: &Object, length: u64) -> Result<(), PayloadError> {
    let most = length.saturating_add(length / 8).saturating_add(COMPRESSED_MORE);
    if object.length <= most {
        return Ok(());
    }
    let is = object.length;
    let says = format!(
        "{at} has {is} bytes, compressed; a payload of {length} bytes, as its message says, has at most {most}"
    );
    Err(PayloadError::new(PayloadErrorKind::Damaged, says))
}

impl<S> fmt::Debug for Download<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").field("at", &self.at).field("length", &self.length).finish_non_exhaustive()
    }
}
