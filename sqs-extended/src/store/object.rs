//! What goes into a store and comes out of it.

use std::collections::HashMap;
use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

use super::ByteStream;

/// The body of an object that is to be written.
pub enum UploadBody {
    /// All of it.
    Bytes(Bytes),
    /// Piece by piece; the length is not known before the end, unless [`Upload::length`] says it.
    Stream(ByteStream),
}

/// An object that is to be written.
#[non_exhaustive]
pub struct Upload {
    /// What it holds.
    pub body: UploadBody,
    /// Its length in bytes, where it is known.
    pub length: Option<u64>,
    /// Its type, such as `text/plain; charset=utf-8`.
    pub content_type: Option<String>,
    /// How it is encoded: `zstd` or `gzip`.
    pub content_encoding: Option<String>,
    /// More about it: ASCII names and values, 2 KB in all at most.
    pub metadata: HashMap<String, String>,
}

impl Upload {
    /// An object with this body, and nothing more said about it.
    pub fn new(body: UploadBody) -> Self {
        let length = match &body {
            UploadBody::Bytes(bytes) => u64::try_from(bytes.len()).ok(),
            UploadBody::Stream(_) => None,
        };
        Self { body, length, content_type: None, content_encoding: None, metadata: HashMap::new() }
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("length", &self.length)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}

/// An object that is read.
#[non_exhaustive]
pub struct Object {
    /// Its whole length in bytes, wherever reading begins.
    pub length: u64,
    /// What tells this version of the object from others (the `ETag` in S3), when the store has such.
    pub tag: Option<String>,
    /// How it is encoded.
    pub content_encoding: Option<String>,
    /// What was said about it when it was written.
    pub metadata: HashMap<String, String>,
    /// Its bytes from where reading begins. It may end early without an error: count.
    pub body: ByteStream,
}

impl Object {
    /// An object of that length, and nothing more known of it.
    pub fn new(length: u64, body: ByteStream) -> Self {
        Self { length, tag: None, content_encoding: None, metadata: HashMap::new(), body }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("length", &self.length).field("tag", &self.tag).finish_non_exhaustive()
    }
}

/// The first `length` bytes of a body.
pub(super) fn cut(body: ByteStream, length: u64) -> ByteStream {
    stream::unfold((body, length), |(mut body, left)| async move {
        if left == 0 {
            return None;
        }
        let piece = body.next().await?.map(|mut piece| {
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            piece
        });
        let taken = piece.as_ref().map_or(left, |piece| u64::try_from(piece.len()).unwrap_or(left));
        Some((piece, (body, left - taken)))
    })
    .boxed()
}

/// An object in a listing.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// Its length in bytes.
    pub length: u64,
    /// When it was written, by the clock of the store.
    pub modified: SystemTime,
}

impl Listed {
    /// An object with this key.
    pub fn new(key: impl Into<String>, length: u64, modified: SystemTime) -> Self {
        Self { key: key.into(), length, modified }
    }
}

/// A part of a listing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ObjectPage {
    /// Objects, by key.
    pub objects: Vec<Listed>,
    /// What to ask for the next page with; `None` after the last.
    pub next: Option<String>,
}

impl ObjectPage {
    /// A page.
    pub fn new(objects: Vec<Listed>, next: Option<String>) -> Self {
        Self { objects, next }
    }
}
