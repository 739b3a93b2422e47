//! A store in memory, for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use parking_lot::Mutex;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::{ByteStream, Object, PayloadStore, StoreFuture, Upload, UploadBody};

/// Bytes per piece of a body.
const CHUNK: usize = 64 << 10;

/// A store in memory, for tests: it shows its objects and changes them. All buckets exist. Clones share the objects.
///
/// To test failures, wrap it in a [`PayloadStore`] of your own.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_extended::{ExtendedClient, MemoryStore};
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("q").send().await?.queue_url.unwrap();
///
/// let store = MemoryStore::new("payloads");
/// let client = ExtendedClient::new(server.client(), store.clone());
/// client.send_message().queue_url(&url).message_body("x".repeat(300_000)).send().await?;
///
/// let object = store.objects().remove(0);
/// assert_eq!(store.bytes(&object).unwrap().len(), 300_000);
/// store.remove(&object); // now the payload is missing
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    bucket: Arc<str>,
    /// Locked for a few instructions; never held across an await.
    objects: Arc<Mutex<Objects>>,
}

#[derive(Default)]
struct Objects {
    /// By bucket and key.
    by_place: BTreeMap<(String, String), StoredObject>,
    versions: u64,
}

#[derive(Clone)]
struct StoredObject {
    bytes: Bytes,
    tag: String,
}

impl MemoryStore {
    /// An empty store with this bucket for new payloads.
    pub fn new(bucket: impl Into<Arc<str>>) -> Self {
        Self { bucket: bucket.into(), objects: Arc::default() }
    }

    /// All objects, by bucket and key.
    pub fn objects(&self) -> Vec<Pointer> {
        self.objects.lock().by_place.keys().map(|(bucket, key)| Pointer::new(bucket, key)).collect()
    }

    /// The bytes of an object.
    pub fn bytes(&self, at: &Pointer) -> Option<Bytes> {
        self.find(at).map(|stored| stored.bytes)
    }

    /// Writes an object without the client, as another program might.
    pub fn overwrite(&self, at: &Pointer, bytes: impl Into<Bytes>) {
        let mut objects = self.objects.lock();
        objects.versions += 1;
        let stored = StoredObject { bytes: bytes.into(), tag: format!("\"{}\"", objects.versions) };
        objects.by_place.insert(place(at), stored);
    }

    /// Removes an object without the client, as another program might.
    pub fn remove(&self, at: &Pointer) {
        self.objects.lock().by_place.remove(&place(at));
    }

    fn find(&self, at: &Pointer) -> Option<StoredObject> {
        self.objects.lock().by_place.get(&place(at)).cloned()
    }

    fn read(&self, at: &Pointer, range: Option<Range<u64>>, tag: Option<&str>) -> Result<Object, Error> {
        let error = |kind, text: &str| Error::new(kind, format!("{at}: {text}"));
        let StoredObject { bytes, tag: current } =
            self.find(at).ok_or_else(|| error(ErrorKind::NotFound, "the object does not exist"))?;
        if tag.is_some_and(|tag| tag != current) {
            return Err(error(ErrorKind::Damaged, "the object has another version"));
        }
        let length = bytes.len() as u64;
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let range = range.unwrap_or(0..length);
        if range.start > length {
            return Err(error(ErrorKind::Rejected, "the range begins after the end of the object"));
        }
        let mut object = Object::new(length, pieces(&bytes.slice(place(range.start)..place(range.end))));
        object.tag = Some(current);
        Ok(object)
    }
}

fn place(at: &Pointer) -> (String, String) {
    (at.bucket().to_owned(), at.key().to_owned())
}

impl PayloadStore for MemoryStore {
    fn bucket(&self) -> &str {
        &self.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let bytes = collect(upload.body, upload.length).await?;
            self.overwrite(at, bytes);
            Ok(())
        })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(async move { self.read(at, range, tag) })
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.remove(at);
            Ok(())
        })
    }
}

async fn collect(body: UploadBody, length: Option<u64>) -> Result<Bytes, Error> {
    let bytes = match body {
        UploadBody::Bytes(bytes) => bytes,
        UploadBody::Stream(stream) => stream
            .try_fold(BytesMut::new(), async |mut all, chunk| {
                all.extend_from_slice(&chunk);
                Ok(all)
            })
            .await?
            .freeze(),
    };
    let came = bytes.len() as u64;
    match length {
        Some(length) if length != came => {
            let text = format!("the body has {came} bytes; {length} were expected");
            Err(Error::new(ErrorKind::Source, text))
        }
        _ => Ok(bytes),
    }
}

fn pieces(bytes: &Bytes) -> ByteStream {
    let pieces: Vec<_> = bytes.chunks(CHUNK).map(|piece| Ok(bytes.slice_ref(piece))).collect();
    stream::iter(pieces).boxed()
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("bucket", &self.bucket)
            .field("objects", &self.objects().len())
            .finish_non_exhaustive()
    }
}
