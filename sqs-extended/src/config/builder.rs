//! Settings of a client that is to be made.

use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::time::{SharedTimeSource, TimeSource};
use sqs_client::wire::limits::MAX_MESSAGE_BYTES;

use super::{
    Compat, MAX_PAYLOAD_BYTES, MissingObject, STORE_TIMEOUT_SECONDS, Settings, Threshold, check_prefix,
};
use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, Listener};
use crate::handle::ExtendedHandle;
use crate::pointer::Pointer;
use crate::store::PayloadStore;

/// Settings of an [`ExtendedClient`] that is to be made.
///
/// ```
/// # let server = sqs_mock_server::MockSqs::in_process();
/// use std::time::Duration;
///
/// use sqs_extended::{ExtendedClient, MemoryStore, Threshold};
///
/// let client = ExtendedClient::builder(server.client(), MemoryStore::new("payloads"))
///     .threshold(Threshold::Queue)
///     .key_prefix("orders/")
///     .store_timeout(Duration::from_secs(30))
///     .on_event(|event| eprintln!("{event:?}"))
///     .build()?;
/// # drop(client);
/// # Ok::<(), sqs_extended::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ExtendedClientBuilder<S, H> {
    inner: H,
    store: S,
    settings: Settings,
}

impl<S: PayloadStore, H: Execute> ExtendedClientBuilder<S, H> {
    pub(crate) fn new(inner: H, store: S) -> Self {
        let settings = Settings::new(store.bucket());
        Self { inner, store, settings }
    }

    /// The size above which a message goes through the store; 262,144 bytes by default. 0 to 1,048,576.
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.settings.threshold = threshold;
        self
    }

    /// Sends every message through the store, whatever its size. Off by default. Empty bodies, which the service
    /// refuses, are left for it to refuse.
    pub fn always_through_s3(mut self, always: bool) -> Self {
        self.settings.always_through_store = always;
        self
    }

    /// How pointers are written; [`Compat::Modern`] by default. Read are all forms.
    pub fn compat(mut self, compat: Compat) -> Self {
        self.settings.compat = compat;
        self
    }

    /// What the keys of new objects begin with, before a random UUID; nothing by default. At most 988 characters of
    /// `A-Z a-z 0-9 . / _ -`, not beginning with `.` or `/`, and without `..`.
    pub fn key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.key_prefix = prefix.into();
        self
    }

    /// One more bucket that pointers of received messages may lead to, for reading and for deleting; by default only that of
    /// the store. Who can send to the queue chooses which objects of these buckets its readers read, and which of those whose
    /// keys end in a UUID they delete: buckets should hold payloads and nothing else.
    pub fn allow_bucket(mut self, bucket: impl Into<String>) -> Self {
        self.settings.allowed_buckets.insert(bucket.into());
        self
    }

    /// What becomes of received messages whose object is not there; [`MissingObject::Surface`] by default.
    pub fn missing_object(mut self, policy: MissingObject) -> Self {
        self.settings.missing_object = policy;
        self
    }

    /// Keeps the objects of deleted messages: for fan-out, where several queues carry the same pointer. A rule of the bucket
    /// should let them expire.
    pub fn retain(mut self) -> Self {
        self.settings.clean_up = false;
        self
    }

    /// How many payloads are loaded at a time over all receives of the client and its clones, and stored at a time for one
    /// batch. 1 to 10; 4 by default.
    pub fn concurrency(mut self, objects: usize) -> Self {
        self.settings.concurrency = objects;
        self
    }

    /// The largest payload that is loaded into memory; 268,435,456 bytes (256 MiB) by default. 1 to 2,147,483,647. Larger ones
    /// are [`ErrorKind::TooLarge`]; [`body_stream`](ExtendedClient::body_stream) reads them piece by piece, and has a limit of
    /// its own.
    ///
    /// One receive has up to ten messages, and gives them out together: it holds up to ten times as much.
    pub fn max_payload_bytes(mut self, bytes: u64) -> Self {
        self.settings.max_payload_bytes = bytes;
        self
    }

    /// How long a call to the store may take, with all that the store tries in it; 2 minutes by default, 1 second to 1 hour. It
    /// bounds opening an object, deleting it and a page of a listing; a body that is read as long as the next piece is waited
    /// for; and an upload, since its last piece was taken, five times as long, or once for each 8 MiB of a payload that is in
    /// memory, if that is more: so much may be on its way.
    ///
    /// What takes longer fails with [`StoreErrorKind::Unavailable`](crate::StoreErrorKind::Unavailable), and may be tried again.
    /// An upload may then have been stored: its object is deleted.
    pub fn store_timeout(mut self, timeout: Duration) -> Self {
        self.settings.store_timeout = timeout;
        self
    }

    /// The clock that tells the age of objects; the system's by default.
    pub fn time_source(mut self, clock: impl TimeSource + 'static) -> Self {
        self.settings.time_source = SharedTimeSource::new(clock);
        self
    }

    /// Is told what goes wrong without anybody asking. It runs on the task where that happens, so it must not block.
    pub fn on_event(mut self, listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.settings.listener = Some(Listener::new(listener));
        self
    }

    /// Makes the client. No request is made before the first call.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: a setting is out of its range; the text says which, and what is allowed.
    pub fn build(self) -> Result<ExtendedClient<S, H>, Error> {
        let Self { inner, store, settings } = self;
        check(&settings)?;
        Ok(ExtendedClient::assemble(inner, store, settings))
    }
}

fn check(settings: &Settings) -> Result<(), Error> {
    let refuse = |text: String| Err(Error::new(ErrorKind::Config, text));
    if let Threshold::Bytes(bytes) = settings.threshold
        && bytes > MAX_MESSAGE_BYTES
    {
        return refuse(format!("the threshold must be 0 to {MAX_MESSAGE_BYTES} bytes, not {bytes}"));
    }
    if !(1..=10).contains(&settings.concurrency) {
        return refuse(format!("the concurrency must be 1 to 10, not {}", settings.concurrency));
    }
    if !(1..=MAX_PAYLOAD_BYTES).contains(&settings.max_payload_bytes) {
        let bytes = settings.max_payload_bytes;
        return refuse(format!("the largest payload must be 1 to {MAX_PAYLOAD_BYTES} bytes, not {bytes}"));
    }
    let (least, most) = (*STORE_TIMEOUT_SECONDS.start(), *STORE_TIMEOUT_SECONDS.end());
    if !(Duration::from_secs(least)..=Duration::from_secs(most)).contains(&settings.store_timeout) {
        let timeout = settings.store_timeout;
        return refuse(format!("the timeout of the store must be {least} to {most} s, not {timeout:?}"));
    }
    check_prefix(&settings.key_prefix)?;
    let unusable = settings.allowed_buckets.iter().find(|bucket| !is_bucket(bucket));
    unusable.map_or(Ok(()), |bucket| refuse(format!("{bucket:?} is no name of a bucket")))
}

/// Names and ARNs of buckets and access points are not looked into; what cannot be in a receipt handle is refused.
fn is_bucket(bucket: &str) -> bool {
    let is_plain = !bucket.is_empty() && bucket.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain && ExtendedHandle::new(Pointer::new(bucket, "k"), "r").is_readable()
}
