//! Payloads in the stores of the crate `object_store`.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error as Foreign, GetOptions, GetRange, GetResult,
    MultipartUpload, ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload,
};
use tokio::sync::Mutex;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::multipart::{MultipartStore, Part, Parts};
use crate::store::{Object, PayloadStore, StoreFuture, Upload, maybe_written};

/// Payloads in a store of the crate [`object_store`]: Google Cloud Storage, Azure Blob Storage, Amazon S3, local files, memory.
///
/// The bucket of pointers is a name that senders and receivers agree on, usually that of the bucket or container. Objects over 8 MiB
/// are uploaded in parts, four at a time.
///
/// A missing folder or container looks like an empty one. So a missing object is [`ErrorKind::NotFound`] only if there is another
/// object with the same prefix up to the last `/`, and [`ErrorKind::Unavailable`] otherwise. To be sure, keep an object
/// there, such as `orders/keep`.
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
        let stores = HashMap::from([(Arc::clone(&bucket), store)]);
        Self { bucket, stores }
    }

    /// Sets the store of another bucket that received pointers may name (see
    /// [`allow_bucket`](crate::settings::ExtendedClientBuilder::allow_bucket)). A later call for the same bucket replaces its
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
        Box::pin(self.write(at, upload))
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

    fn held_bytes(&self) -> u64 {
        ((IN_FLIGHT + 1) * PART) as u64
    }
}

/// The path of a key.
fn path(at: &Pointer) -> Result<Path, Error> {
    Path::parse(at.key()).map_err(|error| {
        Error::new(ErrorKind::Rejected, format!("key {:?} is not a valid path: {error}", at.key()))
            .caused_by(error)
    })
}

fn object(read: GetResult, what: String) -> Object {
    let (length, tag) = (read.meta.size, read.meta.e_tag.clone());
    let body = read.into_stream().map_err(move |error| failed(&what, error));
    let mut object = Object::new(length, body.boxed());
    object.tag = tag;
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

/// A failed call. "Not found" is rejected: a missing bucket or folder is not a missing object.
fn failed(what: &str, error: Foreign) -> Error {
    let kind = match &error {
        Foreign::PermissionDenied { .. } | Foreign::Unauthenticated { .. } => ErrorKind::Forbidden,
        Foreign::Precondition { .. } | Foreign::NotModified { .. } => ErrorKind::Damaged,
        // `Generic` stands for failures of the network, of the service and of the request alike, so they count as
        // transient.
        Foreign::Generic { .. } | Foreign::JoinError { .. } => ErrorKind::Unavailable,
        _ => ErrorKind::Rejected,
    };
    Error::new(kind, format!("{what}: {error}")).caused_by(error)
}

/// The folder that the keys of a prefix are in. Prefixes of stores are whole segments of a path.
fn folder(prefix: &str) -> Result<Option<Path>, Error> {
    let Some((folder, _)) = prefix.rsplit_once('/') else { return Ok(None) };
    // Not `Path::from`, which encodes characters: keys have them as they are.
    Path::parse(folder).map(Some).map_err(|error| {
        let text = format!("prefix {prefix:?} is not a valid path: {error}");
        Error::new(ErrorKind::Rejected, text).caused_by(error)
    })
}

/// Whether the store supports no attributes.
fn keeps_none(error: &Foreign) -> bool {
    matches!(error, Foreign::NotImplemented { .. } | Foreign::NotSupported { .. })
}

fn attributes(content_type: Option<String>) -> Attributes {
    content_type.into_iter().map(|value| (Attribute::ContentType, AttributeValue::from(value))).collect()
}

fn payload(part: &Part) -> PutPayload {
    part.pieces().iter().cloned().collect()
}

/// Bytes of a part.
const PART: usize = 8 << 20;

/// Parts that are uploaded at a time.
const IN_FLIGHT: usize = 4;

impl ObjectStoreAdapter {
    async fn write(&self, at: &Pointer, upload: Upload) -> Result<(), Error> {
        let mut parts = Parts::new(upload, PART);
        match parts.whole().await? {
            Some(part) => self.put_whole(at, parts.content_type().map(str::to_owned), &part).await,
            None => parts.upload(self, at, IN_FLIGHT).await,
        }
    }

    /// Writes an object in one request.
    async fn put_whole(&self, at: &Pointer, content_type: Option<String>, part: &Part) -> Result<(), Error> {
        let (store, path) = (self.store(at.bucket())?, path(at)?);
        let put = async |attributes| {
            let options = PutOptions { attributes, ..PutOptions::default() };
            store.put_opts(&path, payload(part), options).await.map(drop)
        };
        let written = match put(attributes(content_type)).await {
            Err(error) if keeps_none(&error) => put(Attributes::default()).await,
            result => result,
        };
        let Err(error) = written else { return Ok(()) };
        // There is no bucket, or no request was made.
        let is_certain =
            keeps_none(&error) || matches!(error, Foreign::NotFound { .. } | Foreign::InvalidPath { .. });
        let error = failed(&format!("writing {at}"), error);
        // Stores retry requests themselves, so an earlier attempt may have been executed.
        if is_certain { Err(error) } else { settle(store, &path, error, part.length() as u64).await }
    }
}

/// The outcome of a write that the store may have executed: looks for an object of this length. A missing one proves nothing, because
/// the store may still execute the write.
async fn settle(store: &Arc<dyn ObjectStore>, path: &Path, error: Error, length: u64) -> Result<(), Error> {
    match store.head(path).await {
        Ok(found) if found.size == length => Ok(()),
        // A repetition would be denied, too.
        _ if error.kind() == ErrorKind::Forbidden => Err(error.outcome_unknown()),
        _ => Err(maybe_written(error)),
    }
}

/// An upload in parts.
pub struct AdapterUpload {
    at: Pointer,
    path: Path,
    store: Arc<dyn ObjectStore>,
    /// `None` after it was completed or aborted.
    upload: Mutex<Option<Box<dyn MultipartUpload>>>,
}

impl MultipartStore for ObjectStoreAdapter {
    type Upload = AdapterUpload;
    type Part = ();

    fn begin<'a>(&'a self, at: &'a Pointer, content_type: Option<String>) -> StoreFuture<'a, AdapterUpload> {
        Box::pin(async move {
            let (store, path) = (self.store(at.bucket())?, path(at)?);
            let begin = async |attributes| {
                let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
                store.put_multipart_opts(&path, options).await
            };
            let begun = match begin(attributes(content_type)).await {
                Err(error) if keeps_none(&error) => begin(Attributes::default()).await,
                result => result,
            };
            let upload = begun.map_err(|error| failed(&format!("writing {at}"), error))?;
            let (at, store) = (at.clone(), Arc::clone(store));
            Ok(AdapterUpload { at, path, store, upload: Mutex::new(Some(upload)) })
        })
    }

    fn part(&self, upload: &Arc<AdapterUpload>, _: u32, part: Part) -> StoreFuture<'static, ()> {
        let what = format!("writing {}", upload.at);
        // Nobody else holds the lock before all parts are sent.
        let mut open = upload.upload.try_lock().ok();
        let sending = open.as_mut().and_then(|open| Some(open.as_mut()?.put_part(payload(&part))));
        Box::pin(async move {
            match sending {
                Some(sending) => sending.await.map_err(|error| failed(&what, error)),
                None => Err(Error::new(ErrorKind::Rejected, format!("{what}: the upload has ended"))),
            }
        })
    }

    fn complete<'a>(
        &'a self,
        upload: &'a Arc<AdapterUpload>,
        _: Vec<()>,
        length: u64,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let what = format!("writing {}", upload.at);
            // Locked meanwhile: if this is dropped, the upload can be aborted.
            let mut open = upload.upload.lock().await;
            let Some(parts) = open.as_mut() else {
                return Err(Error::new(ErrorKind::Rejected, format!("{what}: the upload has ended")));
            };
            let Err(error) = parts.complete().await else {
                *open = None;
                return Ok(());
            };
            let error = failed(&what, error);
            settle(&upload.store, &upload.path, error, length).await
        })
    }

    fn abort<'a>(&'a self, upload: &'a Arc<AdapterUpload>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let Some(mut parts) = upload.upload.lock().await.take() else { return Ok(()) };
            match parts.abort().await {
                // The upload was completed before.
                Ok(()) | Err(Foreign::NotFound { .. }) => Ok(()),
                Err(error) => Err(failed(&format!("aborting the upload of {}", upload.at), error)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_a_prefix_are_not_encoded() {
        for (prefix, expected) in
            [("", None), ("orders", None), ("a~b/c", Some("a~b")), ("a/b%/", Some("a/b%"))]
        {
            assert_eq!(folder(prefix).unwrap().as_ref().map(AsRef::as_ref), expected, "{prefix}");
        }
        assert_eq!(folder("a//b/").unwrap_err().kind(), ErrorKind::Rejected);
    }
}
