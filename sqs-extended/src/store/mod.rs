//! The interface to stores of payloads, and the stores.

mod bounded;
#[cfg(any(feature = "s3", feature = "object_store"))]
mod mark;
pub(crate) mod memory;
pub(crate) mod object;
#[cfg(feature = "object_store")]
mod object_store;
mod pace;
#[cfg(any(feature = "s3", feature = "object_store"))]
mod parts;
#[cfg(feature = "s3")]
mod s3;

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::error::Error;
use crate::pointer::Pointer;

pub(crate) use bounded::Bounded;
pub(crate) use object::TOKEN_METADATA;
pub use object::{Listed, Object, ObjectPage, Upload, UploadBody};
#[cfg(feature = "object_store")]
pub use object_store::ObjectStoreAdapter;
#[cfg(feature = "s3")]
pub use s3::{Checksum, Encryption, S3Access, S3Store, S3StoreBuilder};

/// The bytes of an object in pieces. The stream ends after an error.
pub type ByteStream = BoxStream<'static, Result<Bytes, Error>>;

/// The result of a call of a store.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Stores payloads as objects in buckets.
///
/// `S3Store` is for Amazon S3 and compatible services, `ObjectStoreAdapter` for the stores of the crate `object_store`,
/// [`MemoryStore`](crate::MemoryStore) for tests. An `Arc` of a store is a store, also `Arc<dyn PayloadStore>`. Calls
/// must retry transient failures themselves, because their callers do not.
pub trait PayloadStore: Send + Sync + 'static {
    /// The bucket of new payloads.
    fn bucket(&self) -> &str;

    /// Writes an object that does not exist yet.
    ///
    /// # Errors
    /// [`Exists`](crate::ErrorKind::Exists) if the key is taken by another upload, the error of the body, and those of the store.
    /// After an error there is no object of this upload, unless [`Error::is_outcome_unknown`].
    ///
    /// # Cancel safety
    /// If the future is dropped, there is no object, unless the last request was in flight. Uploaded parts are removed in the
    /// background.
    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()>;

    /// Opens an object for reading, or a range of its bytes. The range is not empty and begins inside the object, but
    /// may end behind it. With a tag, only that version of the object is read.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound) only if the bucket certainly has no such object, because the message of
    /// a missing object may be deleted. [`Damaged`](crate::ErrorKind::Damaged) if the object has another version.
    /// [`Forbidden`](crate::ErrorKind::Forbidden), and other errors of the store. The body can fail later.
    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object>;

    /// Deletes an object. Succeeds if there is none.
    ///
    /// # Errors
    /// The store failed or rejected the call.
    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()>;

    /// Lists the objects of a bucket by key prefix, at most 1,000 per page. `page` is the [`next`](ObjectPage::next) of
    /// the previous page; `None` for the first.
    ///
    /// # Errors
    /// The store failed or rejected the call.
    fn list<'a>(
        &'a self,
        bucket: &'a str,
        prefix: &'a str,
        page: Option<&'a str>,
    ) -> StoreFuture<'a, ObjectPage>;
}

impl<T: PayloadStore + ?Sized> PayloadStore for std::sync::Arc<T> {
    fn bucket(&self) -> &str {
        (**self).bucket()
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        (**self).put(at, upload)
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        (**self).get(at, range, tag)
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        (**self).delete(at)
    }

    fn list<'a>(
        &'a self,
        bucket: &'a str,
        prefix: &'a str,
        page: Option<&'a str>,
    ) -> StoreFuture<'a, ObjectPage> {
        (**self).list(bucket, prefix, page)
    }
}
