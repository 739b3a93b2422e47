//! Payloads in the stores of the crate `object_store`.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error as Foreign, GetOptions, GetRange, GetResult,
    MultipartUpload, ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::multipart::{MAX_PARTS, Part, Source};
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
        Box::pin(async move { write(self.store(at.bucket())?, at, upload).await })
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
pub(crate) fn failed(what: &str, error: Foreign) -> Error {
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
pub(crate) fn folder(prefix: &str) -> Result<Option<Path>, Error> {
    let Some((folder, _)) = prefix.rsplit_once('/') else { return Ok(None) };
    // Not `Path::from`, which encodes characters: keys have them as they are.
    Path::parse(folder).map(Some).map_err(|error| {
        let text = format!("prefix {prefix:?} is not a valid path: {error}");
        Error::new(ErrorKind::Rejected, text).caused_by(error)
    })
}

/// The location and the description of a new object.
pub(crate) struct Target {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) at: Pointer,
    pub(crate) path: Path,
    pub(crate) content_type: Option<String>,
}

/// Why a write failed.
pub(crate) enum Unwritten {
    /// There is no object.
    Certainly(Error),
    /// The store may have written the object, which has this length.
    Possibly(Error, u64),
}

impl Target {
    /// The action, for error texts.
    pub(crate) fn what(&self) -> String {
        format!("writing {}", self.at)
    }

    /// Writes the object in one request.
    pub(crate) async fn put(&self, part: &Part) -> Result<(), Unwritten> {
        let put = async |attributes| {
            let options = PutOptions { attributes, ..PutOptions::default() };
            self.store.put_opts(&self.path, payload(part), options).await.map(drop)
        };
        let written = match put(self.attributes()).await {
            Err(error) if keeps_none(&error) => put(Attributes::default()).await,
            result => result,
        };
        written.map_err(|error| {
            // There is no bucket, or no request was made.
            let is_certain =
                keeps_none(&error) || matches!(error, Foreign::NotFound { .. } | Foreign::InvalidPath { .. });
            let error = failed(&self.what(), error);
            // Stores retry requests themselves, so an earlier attempt may have been executed.
            if is_certain {
                Unwritten::Certainly(error)
            } else {
                Unwritten::Possibly(error, part.length() as u64)
            }
        })
    }

    /// Begins a multipart upload.
    pub(crate) async fn begin(&self) -> Result<Box<dyn MultipartUpload>, Foreign> {
        let begin = async |attributes| {
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            self.store.put_multipart_opts(&self.path, options).await
        };
        match begin(self.attributes()).await {
            Err(error) if keeps_none(&error) => begin(Attributes::default()).await,
            result => result,
        }
    }

    /// The outcome of a write that the store may have executed: looks for an object of this length. A missing one proves
    /// nothing, because the store may still execute the write.
    pub(crate) async fn settle(&self, error: Error, length: u64) -> Result<(), Error> {
        match self.store.head(&self.path).await {
            Ok(found) if found.size == length => Ok(()),
            _ => Err(maybe_written(error)),
        }
    }

    fn attributes(&self) -> Attributes {
        let content_type = self.content_type.iter().cloned();
        content_type.map(|value| (Attribute::ContentType, AttributeValue::from(value))).collect()
    }
}

/// Whether the store supports no attributes.
fn keeps_none(error: &Foreign) -> bool {
    matches!(error, Foreign::NotImplemented { .. } | Foreign::NotSupported { .. })
}

pub(crate) fn payload(part: &Part) -> PutPayload {
    part.pieces().iter().cloned().collect()
}

const PART: usize = 8 << 20;

/// Parts that are uploaded at a time.
const IN_FLIGHT: usize = 4;

pub(crate) async fn write(store: &Arc<dyn ObjectStore>, at: &Pointer, upload: Upload) -> Result<(), Error> {
    let Upload { body, length, content_type } = upload;
    let (store, path, at) = (Arc::clone(store), path(at)?, at.clone());
    let target = Arc::new(Target { store, at, path, content_type });
    let mut source = Source::new(body, length, PART);
    let first = source.part().await?.unwrap_or_default();
    let written = if source.is_done() {
        target.put(&first).await
    } else {
        Parts::begin(&target).await?.send(first, source).await
    };
    match written {
        Ok(()) => Ok(()),
        Err(Unwritten::Certainly(error)) => Err(error),
        Err(Unwritten::Possibly(error, length)) => target.settle(error, length).await,
    }
}

/// A multipart upload. It is aborted on drop.
struct Parts {
    /// `None` after it was completed or aborted.
    upload: Option<Box<dyn MultipartUpload>>,
    target: Arc<Target>,
    runtime: Handle,
}

impl Parts {
    /// Runs in a separate task: if the caller is dropped, the task drops the new upload, which aborts it.
    async fn begin(target: &Arc<Target>) -> Result<Self, Error> {
        let (target, runtime) = (Arc::clone(target), Handle::current());
        let what = target.what();
        let task = runtime.clone().spawn(async move {
            let upload = target.begin().await.map_err(|error| failed(&target.what(), error))?;
            Ok(Self { upload: Some(upload), target, runtime })
        });
        task.await.map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("{what}: a task of the upload ended: {error}"))
        })?
    }

    /// Writes all parts and completes the upload. After a failure, it is aborted. The outcome is unknown if completing
    /// it failed.
    async fn send(mut self, first: Part, source: Source) -> Result<(), Unwritten> {
        let sent = match self.send_parts(first, source).await {
            Ok(length) => self.complete().await.map_err(|error| Unwritten::Possibly(error, length)),
            Err(error) => Err(Unwritten::Certainly(error)),
        };
        if let Some(task) = self.abort_in_background() {
            // The task fails only if the runtime ends.
            let _ = task.await;
        }
        sent
    }

    /// Returns the length of the object.
    async fn send_parts(&mut self, first: Part, source: Source) -> Result<u64, Error> {
        let Some(upload) = &mut self.upload else { return Ok(0) };
        let what = &self.target.what();
        let rest = stream::try_unfold(source, |mut source| async {
            Ok::<_, Error>(source.part().await?.map(|part| (part, source)))
        });
        let sending = stream::iter([Ok(first)]).chain(rest).enumerate().map(|(number, part)| {
            let part = part?;
            if number as u64 >= u64::from(MAX_PARTS) {
                let text = format!("{what}: more than {MAX_PARTS} parts: set the length of the payload");
                return Err(Error::new(ErrorKind::Rejected, text));
            }
            let (sent, length) = (upload.put_part(payload(&part)), part.length() as u64);
            Ok(async move { sent.await.map(|()| length).map_err(|error| failed(what, error)) })
        });
        sending.try_buffer_unordered(IN_FLIGHT).try_fold(0, async |sum, length| Ok(sum + length)).await
    }

    async fn complete(&mut self) -> Result<(), Error> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        upload.complete().await.map_err(|error| failed(&self.target.what(), error))?;
        self.upload = None;
        Ok(())
    }

    fn abort_in_background(&mut self) -> Option<JoinHandle<()>> {
        let (mut upload, target) = (self.upload.take()?, Arc::clone(&self.target));
        Some(self.runtime.spawn(async move {
            match upload.abort().await {
                // The upload was completed before.
                Ok(()) | Err(Foreign::NotFound { .. }) => {}
                Err(error) => {
                    let (bucket, key) = (target.at.bucket(), target.at.key());
                    tracing::warn!(bucket, key, %error, "an upload could not be aborted");
                }
            }
        }))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.abort_in_background();
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
