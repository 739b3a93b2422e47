//! Payloads in the stores of the crate `object_store`.

mod error;
mod listing;
mod target;
mod write;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error as Foreign, GetOptions, GetRange, GetResult, ObjectStore,
    ObjectStoreExt as _,
};

use super::{Object, ObjectPage, PayloadStore, StoreFuture, Upload, mark};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use error::failed;
use listing::{Listings, folder};

/// Payloads in a store of the crate [`object_store`]: Google Cloud Storage, Azure Blob Storage, Amazon S3, local files, memory.
///
/// The bucket of pointers is a name that senders and receivers agree on, usually that of the bucket or container. Objects over 8 MiB
/// are uploaded in parts, four at a time. Metadata has underscores for hyphens, since Azure allows no hyphens. Stores without
/// metadata, such as local files, keep no mark: a write whose response is lost fails, and a sweep
/// needs [`unmarked`](crate::Sweep::unmarked).
///
/// A missing folder or container looks like an empty one. So a missing object is [`ErrorKind::NotFound`] only if there is another
/// object with the same prefix up to the last `/`, and [`ErrorKind::Unavailable`] otherwise. To be sure, keep an object
/// there, such as `orders/keep`.
///
/// Pages of a listing are read once, in order; 16 listings can be open at a time.
///
/// ```
/// # fn main() -> Result<(), object_store::Error> {
/// use std::sync::Arc;
///
/// use object_store::local::LocalFileSystem;
/// use sqs_extended::{ExtendedClient, ObjectStoreAdapter};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path();
/// # let server = sqs_mock_server::MockSqs::in_process();
/// let files = LocalFileSystem::new_with_prefix(path)?;
/// let client = ExtendedClient::new(server.client(), ObjectStoreAdapter::new(Arc::new(files), "payloads"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ObjectStoreAdapter {
    bucket: Arc<str>,
    stores: HashMap<Arc<str>, Arc<dyn ObjectStore>>,
    listings: Arc<Listings>,
}

impl ObjectStoreAdapter {
    /// An adapter for a store. Pointers have this bucket.
    pub fn new(store: Arc<dyn ObjectStore>, bucket: impl Into<Arc<str>>) -> Self {
        let bucket = bucket.into();
        let stores = HashMap::from([(Arc::clone(&bucket), store)]);
        Self { bucket, stores, listings: Arc::default() }
    }

    /// Sets the store of another bucket that received pointers may name (see
    /// [`allow_bucket`](crate::ExtendedClientBuilder::allow_bucket)). A later call for the same bucket replaces its
    /// store, even for the adapter's own bucket.
    pub fn other_bucket(mut self, bucket: impl Into<Arc<str>>, store: Arc<dyn ObjectStore>) -> Self {
        self.stores.insert(bucket.into(), store);
        self
    }

    fn store(&self, bucket: &str) -> Result<&Arc<dyn ObjectStore>, Error> {
        self.stores.get(bucket).ok_or_else(|| {
            let known: Vec<_> = self.stores.keys().collect();
            Error::new(ErrorKind::Rejected, format!("bucket {bucket:?} has no store; known are {known:?}"))
        })
    }

    async fn read(
        &self,
        at: &Pointer,
        range: Option<Range<u64>>,
        tag: Option<&str>,
    ) -> Result<Object, Error> {
        let (store, range) = (self.store(at.bucket())?, range.map(GetRange::Bounded));
        let options = GetOptions { range, if_match: tag.map(str::to_owned), ..GetOptions::default() };
        match store.get_opts(&path(at)?, options).await {
            Ok(read) => Ok(object(read, format!("reading {at}"))),
            Err(error @ Foreign::NotFound { .. }) => Err(missing(store, at, error).await),
            Err(error) => Err(failed(&format!("reading {at}"), error)),
        }
    }
}

/// The error for an object that was not found. Another object with the same prefix proves that the bucket exists.
/// Without one, the store could be a folder that is not mounted.
async fn missing(store: &Arc<dyn ObjectStore>, at: &Pointer, error: Foreign) -> Error {
    let folder = match folder(at.key()) {
        Ok(folder) => folder,
        Err(error) => return error,
    };
    let (kind, text) = match store.list(folder.as_ref()).next().await {
        Some(Ok(_)) => (ErrorKind::NotFound, "the object does not exist"),
        Some(Err(error)) => return failed(&format!("reading {at}: its bucket cannot be listed"), error),
        None => (
            ErrorKind::Unavailable,
            "there is no object with its prefix: the bucket may be missing or not mounted",
        ),
    };
    Error::new(kind, format!("reading {at}: {text}")).caused_by(error)
}

impl PayloadStore for ObjectStoreAdapter {
    fn bucket(&self) -> &str {
        &self.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move { write::write(self.store(at.bucket())?, at, upload).await })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(self.read(at, range, tag))
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            match self.store(at.bucket())?.delete(&path(at)?).await {
                Ok(()) | Err(Foreign::NotFound { .. }) => Ok(()),
                Err(error) => Err(failed(&format!("deleting {at}"), error)),
            }
        })
    }

    fn list<'a>(
        &'a self,
        bucket: &'a str,
        prefix: &'a str,
        page: Option<&'a str>,
    ) -> StoreFuture<'a, ObjectPage> {
        Box::pin(async move { self.listings.page(self.store(bucket)?, prefix, page).await })
    }
}

/// The path of a key.
fn path(at: &Pointer) -> Result<Path, Error> {
    Path::parse(at.key()).map_err(|error| {
        Error::new(ErrorKind::Rejected, format!("key {:?} is not a valid path: {error}", at.key()))
            .caused_by(error)
    })
}

/// Names of metadata without hyphens, which Azure does not allow.
fn with_underscores(name: &str) -> String {
    name.replace('-', "_")
}

fn metadata(attributes: &Attributes) -> HashMap<String, String> {
    mark::with_hyphens(attributes.iter().filter_map(|(attribute, value)| match attribute {
        Attribute::Metadata(name) => Some((name.to_string(), value.to_string())),
        _ => None,
    }))
}

fn object(read: GetResult, what: String) -> Object {
    let (length, tag, metadata) = (read.meta.size, read.meta.e_tag.clone(), metadata(&read.attributes));
    let body = read.into_stream().map_err(move |error| failed(&what, error));
    let mut object = Object::new(length, body.boxed());
    (object.tag, object.metadata) = (tag, metadata);
    object
}

impl fmt::Debug for ObjectStoreAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStoreAdapter")
            .field("bucket", &self.bucket)
            .field("stores", &self.stores)
            .finish_non_exhaustive()
    }
}
