//! Payloads in the stores of the crate `object_store`.

mod error;
mod write;

use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{
    Attribute, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt as _,
};

use super::{Listed, Object, ObjectPage, PayloadStore, StoreFuture, Upload};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use error::failed;

/// Objects on a page of a listing.
const PAGE: usize = 10_000;

/// Payloads in a store of the crate [`object_store`]: Google Cloud Storage, Azure Blob Storage, Amazon S3, local files, memory.
///
/// The bucket of pointers is a name that senders and receivers agree on, usually that of the bucket or container. Objects over 8 MiB
/// are uploaded in parts, four at a time. Metadata has underscores for hyphens, since Azure allows no hyphens. Stores without
/// metadata, such as local files, keep no hash and no mark: payloads that are not streamed are verified by their length only, and a sweep
/// needs [`unmarked`](crate::Sweep::unmarked).
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
}

impl ObjectStoreAdapter {
    /// An adapter for a store. Pointers have this bucket.
    pub fn new(store: Arc<dyn ObjectStore>, bucket: impl Into<Arc<str>>) -> Self {
        let bucket = bucket.into();
        Self { stores: HashMap::from([(Arc::clone(&bucket), store)]), bucket }
    }

    /// Sets the store of another bucket, to which received pointers may lead (see
    /// [`allow_bucket`](crate::ExtendedClientBuilder::allow_bucket)).
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

    async fn read(&self, at: &Pointer, range: Range<u64>, tag: Option<&str>) -> Result<Object, Error> {
        let what = || format!("reading {at}");
        let range = match (range.start, range.end) {
            // An empty object has no byte for a range.
            (0, u64::MAX) => None,
            (from, u64::MAX) => Some(GetRange::Offset(from)),
            (from, end) => Some(GetRange::Bounded(from..end)),
        };
        let options = GetOptions { range, if_match: tag.map(str::to_owned), ..GetOptions::default() };
        let read = self.store(at.bucket())?.get_opts(&path(at)?, options).await;
        Ok(object(read.map_err(|error| failed(&what(), error))?, what()))
    }

    /// The first keys of a listing after `page`. Stores list in any order, so all keys are looked at.
    async fn page(&self, bucket: &str, prefix: &str, page: Option<&str>) -> Result<ObjectPage, Error> {
        let what = || format!("listing {bucket:?}");
        // Prefixes of stores are whole segments of a path.
        let folder = prefix.rsplit_once('/').map(|(folder, _)| Path::from(folder));
        let store = self.store(bucket)?;
        let mut listing = match page {
            Some(page) => store.list_with_offset(folder.as_ref(), &Path::from(page)),
            None => store.list(folder.as_ref()),
        };
        let mut first = BinaryHeap::new();
        while let Some(found) = listing.try_next().await.map_err(|error| failed(&what(), error))? {
            let key = found.location.as_ref();
            if !key.starts_with(prefix) || page.is_some_and(|page| key <= page) {
                continue;
            }
            first.push(ByKey(found));
            if first.len() > PAGE + 1 {
                first.pop();
            }
        }
        let mut objects: Vec<_> =
            first.into_sorted_vec().into_iter().map(|ByKey(found)| listed(&found)).collect();
        let has_more = objects.len() > PAGE;
        objects.truncate(PAGE);
        let next = objects.last().filter(|_| has_more).map(|last| last.key.clone());
        Ok(ObjectPage::new(objects, next))
    }
}

impl PayloadStore for ObjectStoreAdapter {
    fn bucket(&self) -> &str {
        &self.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move { write::write(self.store(at.bucket())?, at, &path(at)?, upload).await })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Range<u64>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(self.read(at, range, tag))
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            match self.store(at.bucket())?.delete(&path(at)?).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
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
        Box::pin(self.page(bucket, prefix, page))
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

fn object(read: GetResult, what: String) -> Object {
    let (length, tag) = (read.meta.size, read.meta.e_tag.clone());
    let mut metadata = HashMap::new();
    for (attribute, value) in &read.attributes {
        if let Attribute::Metadata(name) = attribute {
            metadata.insert(name.replace('_', "-"), value.to_string());
        }
    }
    let mut object =
        Object::new(length, read.into_stream().map_err(move |error| failed(&what, error)).boxed());
    (object.tag, object.metadata) = (tag, metadata);
    object
}

fn listed(found: &ObjectMeta) -> Listed {
    Listed::new(found.location.as_ref(), found.size, found.last_modified.into())
}

/// Ordered by key.
struct ByKey(ObjectMeta);

impl Ord for ByKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.location.as_ref().cmp(other.0.location.as_ref())
    }
}

impl PartialOrd for ByKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByKey {}

impl fmt::Debug for ObjectStoreAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStoreAdapter")
            .field("bucket", &self.bucket)
            .field("stores", &self.stores)
            .finish()
    }
}
