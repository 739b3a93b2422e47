//! A store in memory, for tests.

mod fault;
mod inspect;
mod objects;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use parking_lot::Mutex;
use sqs_client::time::{SharedTimeSource, SystemClock, TimeSource};

use super::{ByteStream, Object, ObjectPage, PayloadStore, StoreFuture, Upload, UploadBody};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

use fault::Faults;
pub use fault::{StoreCall, StoreFault};
pub use inspect::StoreCalls;
use objects::Objects;

/// Bytes per piece of a body.
const CHUNK: usize = 64 << 10;

/// A store in memory, for tests: it shows its objects and fails on demand. Clones share the objects.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_extended::{ErrorKind, ExtendedClient, MemoryStore, StoreCall, StoreFault};
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("q").send().await?.queue_url.unwrap();
///
/// let store = MemoryStore::new("payloads");
/// let client = ExtendedClient::new(server.client(), store.clone());
///
/// store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Unavailable));
/// let send = || client.send_message().queue_url(&url).message_body("x".repeat(300_000)).send();
/// assert!(send().await.is_err());
/// assert!(send().await.is_ok());
/// assert_eq!(store.objects().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    bucket: Arc<str>,
    shared: Arc<Shared>,
}

struct Shared {
    clock: SharedTimeSource,
    /// Locked for a few instructions; never held across an await.
    objects: Mutex<Objects>,
    /// Locked like `objects`.
    faults: Mutex<Faults>,
}

impl MemoryStore {
    /// An empty store whose own bucket has this name. All other buckets exist too, and are empty.
    pub fn new(bucket: impl Into<Arc<str>>) -> Self {
        Self::with_clock(bucket, SystemClock)
    }

    /// Like [`new`](Self::new), with a clock for the write times of objects.
    pub fn with_clock(bucket: impl Into<Arc<str>>, clock: impl TimeSource + 'static) -> Self {
        let clock = SharedTimeSource::new(clock);
        let shared = Shared { clock, objects: Mutex::default(), faults: Mutex::default() };
        Self { bucket: bucket.into(), shared: Arc::new(shared) }
    }

    /// A handle of the same store with another own bucket.
    pub fn with_bucket(&self, bucket: impl Into<Arc<str>>) -> Self {
        Self { bucket: bucket.into(), shared: Arc::clone(&self.shared) }
    }

    /// Counts a call and returns its fault.
    fn next_fault(&self, call: StoreCall, at: &Pointer) -> Option<StoreFault> {
        self.shared.objects.lock().count(call);
        let next = self.shared.faults.lock().next(call);
        next.unwrap_or_else(|condition| condition?(call, at))
    }

    /// Executes a call with its fault.
    async fn apply<T>(
        &self,
        call: StoreCall,
        at: &Pointer,
        fault: Option<StoreFault>,
        act: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match fault {
            Some(StoreFault::Fail(kind)) => Err(StoreFault::error(kind, call, at)),
            Some(StoreFault::Hang) => std::future::pending().await,
            Some(StoreFault::LoseResponse) => {
                act.await?;
                Err(StoreFault::error(ErrorKind::Unavailable, call, at).outcome_unknown())
            }
            Some(StoreFault::Truncate(_) | StoreFault::Interrupt(_)) | None => act.await,
        }
    }
}

impl PayloadStore for MemoryStore {
    fn bucket(&self) -> &str {
        &self.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Put, at);
            let put = async {
                let Upload { body, length, content_type, metadata } = upload;
                let bytes = collect(body, length).await?;
                let now = self.shared.clock.now();
                self.shared.objects.lock().put(at, bytes, content_type, metadata, now)
            };
            self.apply(StoreCall::Put, at, fault, put).await
        })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Get, at);
            let get = async { self.shared.objects.lock().get(at, range, tag) };
            let (stored, bytes) = self.apply(StoreCall::Get, at, fault.clone(), get).await?;
            let mut object = Object::new(stored.length(), pieces(&bytes, fault.as_ref()));
            object.tag = Some(stored.tag);
            object.metadata = stored.metadata;
            Ok(object)
        })
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Delete, at);
            let delete = async {
                self.shared.objects.lock().remove(at);
                Ok(())
            };
            self.apply(StoreCall::Delete, at, fault, delete).await
        })
    }

    fn list<'a>(
        &'a self,
        bucket: &'a str,
        prefix: &'a str,
        page: Option<&'a str>,
    ) -> StoreFuture<'a, ObjectPage> {
        Box::pin(async move {
            let at = Pointer::new(bucket, prefix);
            let fault = self.next_fault(StoreCall::List, &at);
            let list = async { Ok(self.shared.objects.lock().list(bucket, prefix, page)) };
            self.apply(StoreCall::List, &at, fault, list).await
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

/// The bytes in pieces, until the fault.
fn pieces(bytes: &Bytes, fault: Option<&StoreFault>) -> ByteStream {
    let (come, error) = match fault {
        Some(StoreFault::Truncate(come)) => (*come, None),
        Some(StoreFault::Interrupt(come)) => {
            (*come, Some(Error::new(ErrorKind::Unavailable, "injected interruption")))
        }
        _ => (bytes.len(), None),
    };
    let bytes = bytes.slice(..come.min(bytes.len()));
    let starts = (0..bytes.len()).step_by(CHUNK);
    let pieces: Vec<_> =
        starts.map(|start| bytes.slice(start..bytes.len().min(start.saturating_add(CHUNK)))).collect();
    stream::iter(pieces.into_iter().map(Ok).chain(error.map(Err))).boxed()
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("bucket", &self.bucket)
            .field("objects", &self.objects().len())
            .finish_non_exhaustive()
    }
}
