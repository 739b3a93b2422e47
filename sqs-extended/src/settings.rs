//! Settings of a client.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::{Execute, Unopened};
use sqs_client::wire::limits::MAX_MESSAGE_BYTES;

use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::format::message::PointerRules;
use crate::format::pointer::ExtendedHandle;
use crate::format::pointer::{Compat, MAX_PAYLOAD_BYTES, Pointer};
use crate::observe::{Event, EventListener};
use crate::store::PayloadStore;

/// The largest payload that is loaded by default.
const DEFAULT_MAX_LOADED_BYTES: u64 = 256 << 20;

/// Payloads that are loaded at a time by default.
const DEFAULT_MEMORY_BUDGET: u64 = 512 << 20;

/// How long a store may take by default.
pub(crate) const DEFAULT_STORE_TIMEOUT: Duration = Duration::from_mins(2);

/// Allowed timeouts of a store, in seconds.
pub(crate) const STORE_TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=3_600;

/// All settings, with their defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) threshold: Threshold,
    pub(crate) stores_all: bool,
    pub(crate) compat: Compat,
    pub(crate) key_prefix: String,
    pub(crate) pointers: PointerRules,
    pub(crate) missing_object: Unopened,
    pub(crate) fails_receives: bool,
    /// `None`: half of the visibility timeout.
    pub(crate) open_timeout: Option<Duration>,
    /// Whether the object of a deleted message is deleted.
    pub(crate) clean_up: bool,
    /// Objects with this prefix are deleted whatever their key.
    pub(crate) delete_prefix: Option<String>,
    /// Uploads of one batch at a time.
    pub(crate) concurrency: usize,
    pub(crate) max_payload_bytes: u64,
    pub(crate) memory_budget: u64,
    pub(crate) store_timeout: Duration,
    pub(crate) listener: Option<EventListener>,
}

impl Settings {
    pub(crate) fn new(own_bucket: &str) -> Self {
        Self {
            threshold: Threshold::default(),
            stores_all: false,
            compat: Compat::default(),
            key_prefix: String::new(),
            pointers: PointerRules {
                allowed_buckets: BTreeSet::from([own_bucket.to_owned()]),
                notifications: false,
            },
            missing_object: Unopened::Release,
            fails_receives: false,
            open_timeout: None,
            clean_up: true,
            delete_prefix: None,
            concurrency: 4,
            max_payload_bytes: DEFAULT_MAX_LOADED_BYTES,
            memory_budget: DEFAULT_MEMORY_BUDGET,
            store_timeout: DEFAULT_STORE_TIMEOUT,
            listener: None,
        }
    }
}

/// The size above which a payload is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Threshold {
    /// A number of bytes, counted like SQS: the body, and name, type and value of each attribute. A message of exactly this size is
    /// sent as it is.
    Bytes(usize),
    /// The `MaximumMessageSize` of the queue, read every five minutes. If access is denied, the default.
    Queue,
}

impl Threshold {
    /// 262,144 bytes, the default of the libraries.
    pub(crate) const DEFAULT_BYTES: usize = 262_144;
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Bytes(Self::DEFAULT_BYTES)
    }
}

/// The maximum key length of S3 minus the length of a UUID.
const MAX_CHARS: usize = 1_024 - 36;

/// Checks a prefix by the rules of the Java library, so that its users can read and name the same keys.
fn check_prefix(prefix: &str) -> Result<(), Error> {
    let refuse = |why: &str| {
        let rule = format!(
            "key prefix {prefix:?} {why}; allowed are at most {MAX_CHARS} characters of A-Z a-z 0-9 . / _ -, not starting with . \
             or /, and without .."
        );
        Err(Error::new(ErrorKind::Config, rule))
    };
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-');
    if prefix.len() > MAX_CHARS {
        return refuse("is too long");
    }
    if !prefix.bytes().all(is_legal) {
        return refuse("contains another character");
    }
    if prefix.starts_with(['.', '/']) {
        return refuse("starts with . or /");
    }
    if prefix.contains("..") {
        return refuse("contains ..");
    }
    Ok(())
}

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

    /// Sets what a consumer does with messages whose object does not exist (404 with an error code of S3): [`Unopened::Release`] by
    /// default, so that the redrive policy of the queue decides. An object that cannot be accessed (403) is not missing: a consumer keeps its message
    /// and tries again, as if the store were down.
    ///
    /// Plain receives follow [`Unopened::Delete`]: they delete the message, as the library for Java does with
    /// `ignorePayloadNotFound`. With any other policy, or if the delete fails or does not end in the time of the receive
    /// ([`open_timeout`](Self::open_timeout), at least 5 s), the message is among the
    /// [`unopened_messages`](sqs_client::operation::receive_message::ReceiveMessageOutput::unopened_messages).
    pub fn missing_object(mut self, policy: Unopened) -> Self {
        self.settings.missing_object = policy;
        self
    }

    /// Makes a plain receive fail if the payload of one of its messages cannot be loaded, as the libraries for other languages do. Its
    /// messages stay hidden until their visibility timeout is over. Off by default: the others are returned.
    pub fn fail_receives(mut self, fail: bool) -> Self {
        self.settings.fails_receives = fail;
        self
    }

    /// Sets how long a plain receive may load payloads: half of the visibility timeout by default, at least 1 ms. The payloads that did
    /// not load by then fail with [`ErrorKind::Unavailable`]. A consumer loads each payload for as long as its lease is renewed.
    pub fn open_timeout(mut self, timeout: Duration) -> Self {
        self.settings.open_timeout = Some(timeout);
        self
    }

    /// Also deletes objects whose key does not end in a UUID, if it starts with this prefix. Other libraries let senders choose keys, and
    /// delete them with their messages. **Anyone who can send to the queue can delete any object with this prefix.** Off by default;
    /// the prefix must not be empty.
    pub fn delete_keys_with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.delete_prefix = Some(prefix.into());
        self
    }

    /// Keeps the objects of deleted messages: for fan-out, where several queues have the same pointer. Let a lifecycle rule of the
    /// bucket expire them.
    pub fn retain(mut self) -> Self {
        self.settings.clean_up = false;
        self
    }

    /// Sets how many payloads of one `send_message_batch` are uploaded at a time: 4 by default, 1 to 10. Receives load all their
    /// payloads at once, and consumers about as many as they have handlers, within the [`memory_budget`](Self::memory_budget).
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

    /// Sets how many bytes of payloads are loaded at a time over all receives and consumers of the client and its clones: 536,870,912
    /// (512 MiB) by default, at least 1. Payloads wait for each other, first come, first served. A payload over the budget loads
    /// without other large ones.
    /// The payload of an SNS notification counts twice, because the notification is written anew.
    ///
    /// From 8 MiB on, an eighth of the budget is reserved for payloads of at most 1 MiB: they do not wait for large ones that load slowly. So a
    /// single payload over seven eighths and small ones may exceed the budget together, by an eighth.
    ///
    /// A payload that has room must load within one [`store_timeout`](Self::store_timeout) and a second for each MiB. Otherwise
    /// it fails with [`ErrorKind::Unavailable`], and others load.
    ///
    /// The budget counts neither payloads that were returned, such as those that handlers work on, nor streams and sends. Nor does it
    /// limit connections: a payload waits after the store has responded, so each keeps its response open. If that breaks meanwhile, the
    /// payload is requested again, provided that the store has tags of versions (`ETag` in S3).
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.settings.memory_budget = bytes;
        self
    }

    /// Sets how long a call of the store may take, including its retries: 2 minutes by default, 1 second to 1 hour. For
    /// reads, it limits the wait for each piece; a payload that loads into memory also has a limit as a whole, this timeout and a second
    /// for each MiB. An upload may go without progress for one timeout for each
    /// 8 MiB that the store holds (five by default for a stream), or that a payload in memory has.
    ///
    /// A call that takes longer fails with [`ErrorKind::Unavailable`]. An upload may then have succeeded; its object is deleted.
    pub fn store_timeout(mut self, timeout: Duration) -> Self {
        self.settings.store_timeout = timeout;
        self
    }

    /// Sets a function that is called for background failures. It must not block.
    pub fn on_event(mut self, listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.settings.listener = Some(EventListener::new(listener));
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
    if settings.memory_budget == 0 {
        return refuse("memory_budget is 0 bytes; allowed is at least 1".to_owned());
    }
    let (least, most) = (*STORE_TIMEOUT_SECONDS.start(), *STORE_TIMEOUT_SECONDS.end());
    if !(Duration::from_secs(least)..=Duration::from_secs(most)).contains(&settings.store_timeout) {
        let timeout = settings.store_timeout;
        return refuse(format!("store_timeout is {timeout:?}; allowed are {least} to {most} s"));
    }
    if settings.open_timeout.is_some_and(|timeout| timeout < Duration::from_millis(1)) {
        return refuse(format!("open_timeout is {:?}; allowed is at least 1 ms", settings.open_timeout));
    }
    if settings.delete_prefix.as_deref() == Some("") {
        return refuse("delete_keys_with_prefix is empty: any sender could delete any object".to_owned());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_follows_the_rules_of_the_java_library() {
        for good in ["", "orders/", "a.b_c-d/E/9", &"x".repeat(MAX_CHARS)] {
            assert!(check_prefix(good).is_ok(), "{good:?}");
        }
        for bad in [".hidden", "/root", "a..b", "with space", "ümlaut", "a\\b", &"x".repeat(MAX_CHARS + 1)] {
            let error = check_prefix(bad).expect_err(bad);
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("at most 988 characters"), "{error}");
        }
    }
}
