//! Failures in the background, for an event hook.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::format::pointer::Pointer;

/// An event for the hook of [`on_event`](crate::settings::ExtendedClientBuilder::on_event): a failure in the background, or one
/// that the caller may not see. [`Stats`](Stats) counts them, too.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A payload could not be stored, so its message or batch entry was not sent.
    UploadFailed {
        /// The error.
        error: &'a Error,
    },
    /// The payload of a received message could not be loaded.
    PayloadFailed {
        /// The id of the message.
        message_id: &'a str,
        /// The error.
        error: &'a Error,
    },
    /// An object without a message could not be deleted. The client retries.
    CleanupFailed {
        /// The object.
        pointer: &'a Pointer,
        /// The error.
        error: &'a Error,
        /// The number of attempts.
        attempts: u32,
    },
    /// The client gave up deleting an object without a message. The object stays until a lifecycle rule deletes it.
    CleanupGivenUp {
        /// The object.
        pointer: &'a Pointer,
        /// The error of the last attempt, that there was no time for one, or why the object must not be deleted: its bucket
        /// is not allowed, or its key does not end in a UUID. `None` if too many objects wait, or if there is no tokio runtime or it has ended.
        error: Option<&'a Error>,
    },
    /// It is unknown whether SQS has a message, so its object is kept: the send or the delete failed without a response, or was
    /// dropped. If there is no message, the object stays until a lifecycle rule deletes it.
    OutcomeUnknown {
        /// The object.
        pointer: &'a Pointer,
    },
    /// A message with a missing object could not be deleted (see
    /// [`missing_object`](crate::settings::ExtendedClientBuilder::missing_object)), so it was returned.
    PolicyFailed {
        /// The id of the message.
        message_id: &'a str,
        /// The error.
        error: &'a Error,
    },
    /// Messages of a receive that was dropped while it loaded payloads could not be made visible again. They become visible when
    /// their visibility timeout is over.
    ReleaseFailed {
        /// The error.
        error: &'a Error,
    },
}

/// An event hook.
#[derive(Clone)]
pub(crate) struct EventListener(Arc<dyn Fn(&Event<'_>) + Send + Sync>);

impl EventListener {
    pub(crate) fn new(listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }
}

impl fmt::Debug for EventListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventListener(..)")
    }
}

/// Sends events to the log and to the hook.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventSink(Option<EventListener>);

impl EventSink {
    pub(crate) fn new(listener: Option<EventListener>) -> Self {
        Self(listener)
    }

    pub(crate) fn send(&self, event: &Event<'_>) {
        tracing::warn!(?event, "sqs_extended");
        if let Some(EventListener(listener)) = &self.0 {
            listener(event);
        }
    }
}

/// Statistics of a client and its clones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Stored payloads.
    pub uploads: u64,
    /// Bytes of stored payloads.
    pub uploaded_bytes: u64,
    /// Payloads that could not be stored.
    pub uploads_failed: u64,
    /// Loaded payloads.
    pub downloads: u64,
    /// Bytes of loaded payloads.
    pub downloaded_bytes: u64,
    /// Received messages whose payload could not be loaded.
    pub payloads_failed: u64,
    /// Deleted objects: of deleted messages, and of messages that were not sent.
    pub objects_deleted: u64,
    /// Failed attempts to delete an object.
    pub cleanup_failed: u64,
    /// Objects that the client gave up deleting. A lifecycle rule deletes them.
    pub cleanup_given_up: u64,
    /// Objects that wait to be deleted in the background.
    pub cleanup_pending: usize,
    /// Objects that were kept because it is unknown whether SQS has their message.
    pub outcomes_unknown: u64,
}

/// A monotonic counter.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) uploads: Counter,
    pub(crate) uploaded_bytes: Counter,
    pub(crate) uploads_failed: Counter,
    pub(crate) downloads: Counter,
    pub(crate) downloaded_bytes: Counter,
    pub(crate) payloads_failed: Counter,
    pub(crate) objects_deleted: Counter,
    pub(crate) cleanup_failed: Counter,
    pub(crate) cleanup_given_up: Counter,
    pub(crate) outcomes_unknown: Counter,
}

impl Tally {
    pub(crate) fn snapshot(&self, cleanup_pending: usize) -> Stats {
        Stats {
            uploads: self.uploads.get(),
            uploaded_bytes: self.uploaded_bytes.get(),
            uploads_failed: self.uploads_failed.get(),
            downloads: self.downloads.get(),
            downloaded_bytes: self.downloaded_bytes.get(),
            payloads_failed: self.payloads_failed.get(),
            objects_deleted: self.objects_deleted.get(),
            cleanup_failed: self.cleanup_failed.get(),
            cleanup_given_up: self.cleanup_given_up.get(),
            cleanup_pending,
            outcomes_unknown: self.outcomes_unknown.get(),
        }
    }
}
