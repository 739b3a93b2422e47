//! Objects of a store.

use std::collections::HashMap;
use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;

use super::ByteStream;
use crate::random;

/// The metadata with the id of an upload.
pub(crate) const TOKEN_METADATA: &str = "sqs-extended-upload";

/// The body of a new object.
pub enum UploadBody {
    /// The complete body.
    Bytes(Bytes),
    /// Pieces of any length.
    Stream(ByteStream),
}

/// A new object.
#[non_exhaustive]
pub struct Upload {
    /// The body.
    pub body: UploadBody,
    /// The length in bytes, if it is known.
    pub length: Option<u64>,
    /// The media type, such as `text/plain; charset=utf-8`.
    pub content_type: Option<String>,
    /// ASCII names and values, at most 2 KB in all. [`new`](Self::new) adds a random id as `sqs-extended-upload`, which
    /// marks the objects of this crate.
    pub metadata: HashMap<String, String>,
}

impl Upload {
    /// An upload of this body, with a random id.
    pub fn new(body: UploadBody) -> Self {
        let length = match &body {
            UploadBody::Bytes(bytes) => u64::try_from(bytes.len()).ok(),
            UploadBody::Stream(_) => None,
        };
        let metadata = HashMap::from([(TOKEN_METADATA.to_owned(), random::uuid())]);
        Self { body, length, content_type: None, metadata }
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

/// An object that is opened for reading.
#[non_exhaustive]
pub struct Object {
    /// The length of the whole object in bytes.
    pub length: u64,
    /// Identifies this version of the object, if the store can (`ETag` in S3).
    pub tag: Option<String>,
    /// The [`Upload::metadata`]; empty if the store keeps none.
    pub metadata: HashMap<String, String>,
    /// The bytes of the requested range. The stream may end early without an error, so count the bytes.
    pub body: ByteStream,
}

impl Object {
    /// An object of this length.
    pub fn new(length: u64, body: ByteStream) -> Self {
        Self { length, tag: None, metadata: HashMap::new(), body }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("length", &self.length).field("tag", &self.tag).finish_non_exhaustive()
    }
}

/// An object in a listing.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Listed {
    /// The key.
    pub key: String,
    /// The length in bytes.
    pub length: u64,
    /// The time of the write, by the clock of the store.
    pub modified: SystemTime,
}

impl Listed {
    /// An object with this key.
    pub fn new(key: impl Into<String>, length: u64, modified: SystemTime) -> Self {
        Self { key: key.into(), length, modified }
    }
}

/// A page of a listing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ObjectPage {
    /// The objects. S3 and `MemoryStore` order them by key.
    pub objects: Vec<Listed>,
    /// The token for the next page; `None` after the last.
    pub next: Option<String>,
}

impl ObjectPage {
    /// A page with these objects.
    pub fn new(objects: Vec<Listed>, next: Option<String>) -> Self {
        Self { objects, next }
    }
}
