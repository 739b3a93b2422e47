//! Where payloads lie: what the rest of the crate asks of a store, and nothing of what a store is made of.
//!
//! ```text
//! upload:   source -> (counted, validated, hashed) -> PayloadStore::put    one object or nothing
//! download: PayloadStore::get -> (resumed, verified) -> reader             from any byte on, of one version
//! ```

mod bounded;
mod error;
pub(crate) mod memory;
mod object;
mod pace;
#[cfg(feature = "s3")]
mod s3;
mod unfinished;

use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::pointer::Pointer;

pub(crate) use bounded::Bounded;
pub use error::{StoreError, StoreErrorKind};
pub use object::{Listed, Object, ObjectPage, Upload, UploadBody};
#[cfg(feature = "s3")]
pub use s3::{Encryption, S3Store, S3StoreBuilder};
pub use unfinished::{Unfinished, UnfinishedPage};

/// Bytes in pieces, in order. After an error nothing comes any more.
pub type ByteStream = BoxStream<'static, Result<Bytes, StoreError>>;

/// Holds payloads as objects in buckets. Clones are handles of the same store.
///
/// `S3Store` is the one for Amazon S3 and what speaks its protocol, `MemoryStore`
/// the one for tests. Implementations try again by themselves what may help within one call; callers do not.
pub trait PayloadStore: Clone + Send + Sync + 'static {
    /// The own bucket, where new payloads go.
    fn bucket(&self) -> &str;

    /// Writes an object that does not exist yet.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`] when there is one of this name, [`StoreErrorKind::Source`] when the body gives an error;
    /// otherwise what the store says. After an error no object is there, unless
    /// [`is_outcome_unknown`](StoreError::is_outcome_unknown).
    ///
    /// # Cancel safety
    /// Dropped before its end, it leaves nothing that a listing shows, but for an object whose last request was under
    /// way; parts that were uploaded are removed in the background.
    fn put(&self, at: &Pointer, upload: Upload) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Opens an object for reading from byte `from` on; of the version with this tag only, when one is given.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`], [`StoreErrorKind::Forbidden`], [`StoreErrorKind::Changed`] when the object is of
    /// another version, and what else the store says. The body can fail later.
    fn get(
        &self,
        at: &Pointer,
        from: u64,
        tag: Option<&str>,
    ) -> impl Future<Output = Result<Object, StoreError>> + Send;

    /// As [`get`](Self::get), but only the bytes of a range, which is not empty and may reach beyond the end.
    ///
    /// # Errors
    /// As of [`get`](Self::get).
    fn get_range(
        &self,
        at: &Pointer,
        range: Range<u64>,
        tag: Option<&str>,
    ) -> impl Future<Output = Result<Object, StoreError>> + Send {
        async move {
            let mut object = self.get(at, range.start, tag).await?;
            object.body = object::cut(object.body, range.end.saturating_sub(range.start));
            Ok(object)
        }
    }

    /// Deletes an object. One that does not exist is deleted already.
    ///
    /// # Errors
    /// What the store says.
    fn delete(&self, at: &Pointer) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The objects of a bucket whose keys begin with `prefix`, a page of at most 1,000 at a time; `page` is what the page
    /// before said, `None` for the first.
    ///
    /// # Errors
    /// What the store says.
    fn list(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> impl Future<Output = Result<ObjectPage, StoreError>> + Send;

    /// The uploads to a bucket that were begun and never ended, whose keys begin with `prefix`; in pages, as of
    /// [`list`](Self::list). Stores that write an object at once or not at all have none, and need not implement it.
    ///
    /// # Errors
    /// What the store says.
    fn list_unfinished(
        &self,
        bucket: &str,
        prefix: &str,
        page: Option<&str>,
    ) -> impl Future<Output = Result<UnfinishedPage, StoreError>> + Send {
        let _ = (bucket, prefix, page);
        std::future::ready(Ok(UnfinishedPage::default()))
    }

    /// Ends an upload that was never ended, and removes what it has stored. One that does not exist is ended already.
    ///
    /// # Errors
    /// What the store says.
    fn abort_unfinished(
        &self,
        at: &Pointer,
        id: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (at, id);
        std::future::ready(Ok(()))
    }
}
