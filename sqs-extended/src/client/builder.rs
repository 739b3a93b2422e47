//! The builder of a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::time::{SharedTimeSource, TimeSource};
use sqs_client::wire::limits::MAX_MESSAGE_BYTES;

use super::ExtendedClient;
use crate::config::{MissingObject, STORE_TIMEOUT_SECONDS, Settings, Threshold, check_prefix};
use crate::error::{Error, ErrorKind};
use crate::event::{Event, Listener};
use crate::format::{Compat, ExtendedHandle, MAX_PAYLOAD_BYTES};
use crate::pointer::Pointer;
use crate::store::PayloadStore;

/// Builds an [`ExtendedClient`].
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
#[derive(Clone)]
#[must_use]
pub struct ExtendedClientBuilder<H> {
    inner: H,
    store: Arc<dyn PayloadStore>,
    settings: Settings,
}

impl<H: Execute> ExtendedClientBuilder<H> {
    pub(crate) fn new(inner: H, store: Arc<dyn PayloadStore>) -> Self {
        let settings = Settings::new(store.bucket());
        Self { inner, store, settings }
    }

    /// Sets the size above which a message is stored: 262,144 bytes by default, 0 to 1,048,576.
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.settings.threshold = threshold;
        self
    }

    /// Stores the payload of every message, whatever its size. Messages without a body are sent as they are, and SQS rejects them.
    pub fn store_all(mut self, all: bool) -> Self {
        self.settings.stores_all = all;
        self
    }

    /// Sets how pointers are written: [`Compat::Modern`] by default. All forms are read.
    pub fn compat(mut self, compat: Compat) -> Self {
        self.settings.compat = compat;
        self
    }

    /// Sets the prefix of the keys of new objects, before a random UUID: none by default. At most 988 characters of
    /// `A-Z a-z 0-9 . / _ -`, not starting with `.` or `/`, and without `..`.
    pub fn key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.key_prefix = prefix.into();
        self
    }

    /// Allows received pointers to name another bucket; by default, they may only name the bucket of the store. Anyone
    /// who can send to the queue chooses which objects of these buckets are read, and which objects with a key that
    /// ends in a UUID are deleted: use the buckets for payloads only.
    pub fn allow_bucket(mut self, bucket: impl Into<String>) -> Self {
        self.settings.pointers.allowed_buckets.insert(bucket.into());
        self
    }

    /// Follows pointers in SNS notifications, for queues without raw message delivery. Off by default. The payload
    /// becomes the `Message` of the notification. The object is never deleted, because other queues may have the same
    /// pointer: let a lifecycle rule expire it. With this setting, the body of a message alone decides which object is
    /// read: use it only for queues to which only SNS can send.
    pub fn sns_notifications(mut self, follow: bool) -> Self {
        self.settings.pointers.notifications = follow;
        self
    }

    /// Sets what happens to received messages whose object does not exist: [`MissingObject::Surface`] by default.
    pub fn missing_object(mut self, policy: MissingObject) -> Self {
        self.settings.missing_object = policy;
        self
    }

    /// Keeps the objects of deleted messages: for fan-out, where several queues have the same pointer. Let a lifecycle rule of the
    /// bucket expire them.
    pub fn retain(mut self) -> Self {
        self.settings.clean_up = false;
        self
    }

    /// Sets how many payloads load at a time, over all receives of the client and its clones: 4 by default, 1 to 10. It
    /// also limits the concurrent uploads of a batch.
    pub fn concurrency(mut self, objects: usize) -> Self {
        self.settings.concurrency = objects;
        self
    }

    /// Sets the largest payload that is loaded into memory: 268,435,456 bytes (256 MiB) by default, 1 to 2,147,483,647. Larger
    /// ones fail with [`ErrorKind::TooLarge`]; [`body_stream`](ExtendedClient::body_stream) reads them.
    pub fn max_payload_bytes(mut self, bytes: u64) -> Self {
        self.settings.max_payload_bytes = bytes;
        self
    }

    /// Sets how many bytes of payloads are loaded at a time over all receives of the client and its clones: 536,870,912 (512 MiB) by
    /// default, at least [`max_payload_bytes`](Self::max_payload_bytes). Receives wait for each other. If the payloads of one receive
    /// exceed it, the last ones fail with [`ErrorKind::Unavailable`]: they are loaded when they are received again, and
    /// [`body_stream`](ExtendedClient::body_stream) reads them at once. The budget does not count payloads that were returned.
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.settings.memory_budget = bytes;
        self
    }

    /// Sets how long a call of the store may take, including its retries: 2 minutes by default, 1 second to 1 hour. For
    /// reads, it limits the wait for each piece. An upload may go without progress for five times as long, or once for
    /// each 8 MiB of a payload in memory if that is longer.
    ///
    /// A call that takes longer fails with [`ErrorKind::Unavailable`]. An upload may then have succeeded; its object is deleted.
    pub fn store_timeout(mut self, timeout: Duration) -> Self {
        self.settings.store_timeout = timeout;
        self
    }

    /// Sets the clock for the age of objects: the system clock by default.
    pub fn time_source(mut self, clock: impl TimeSource + 'static) -> Self {
        self.settings.time_source = SharedTimeSource::new(clock);
        self
    }

    /// Sets a function that is called for background failures. It must not block.
    pub fn on_event(mut self, listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.settings.listener = Some(Listener::new(listener));
        self
    }

    /// Builds the client. It makes no request.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if a setting is out of range.
    pub fn build(self) -> Result<ExtendedClient<H>, Error> {
        let Self { inner, store, settings } = self;
        check(&settings)?;
        Ok(ExtendedClient::assemble(inner, store, settings))
    }
}

impl<H: fmt::Debug> fmt::Debug for ExtendedClientBuilder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtendedClientBuilder")
            .field("inner", &self.inner)
            .field("bucket", &self.store.bucket())
            .field("settings", &self.settings)
            .finish()
    }
}

fn check(settings: &Settings) -> Result<(), Error> {
    let refuse = |text: String| Err(Error::new(ErrorKind::Config, text));
    if let Threshold::Bytes(bytes) = settings.threshold
        && bytes > MAX_MESSAGE_BYTES
    {
        return refuse(format!("threshold is {bytes} bytes; allowed are 0 to {MAX_MESSAGE_BYTES}"));
    }
    if !(1..=10).contains(&settings.concurrency) {
        return refuse(format!("concurrency is {}; allowed are 1 to 10", settings.concurrency));
    }
    if !(1..=MAX_PAYLOAD_BYTES).contains(&settings.max_payload_bytes) {
        let bytes = settings.max_payload_bytes;
        return refuse(format!("max_payload_bytes is {bytes}; allowed are 1 to {MAX_PAYLOAD_BYTES}"));
    }
    if settings.memory_budget < settings.max_payload_bytes {
        let (budget, payload) = (settings.memory_budget, settings.max_payload_bytes);
        return refuse(format!(
            "memory_budget is {budget} bytes; it must be at least max_payload_bytes, {payload}"
        ));
    }
    let (least, most) = (*STORE_TIMEOUT_SECONDS.start(), *STORE_TIMEOUT_SECONDS.end());
    if !(Duration::from_secs(least)..=Duration::from_secs(most)).contains(&settings.store_timeout) {
        let timeout = settings.store_timeout;
        return refuse(format!("store_timeout is {timeout:?}; allowed are {least} to {most} s"));
    }
    check_prefix(&settings.key_prefix)?;
    let unusable = settings.pointers.allowed_buckets.iter().find(|bucket| !is_bucket(bucket));
    unusable.map_or(Ok(()), |bucket| refuse(format!("{bucket:?} is not a valid bucket name")))
}

/// Names and ARNs of buckets and access points are not parsed, but they must fit into a receipt handle.
fn is_bucket(bucket: &str) -> bool {
    let is_plain = !bucket.is_empty() && bucket.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain && ExtendedHandle::new(Pointer::new(bucket, "k"), "r").is_readable()
}
