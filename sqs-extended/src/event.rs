//! Failures in the background, for an event hook.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::pointer::Pointer;

/// An event for the hook of [`on_event`](crate::ExtendedClientBuilder::on_event): a failure in the background, or one
/// that the caller may not see. [`Stats`](crate::Stats) counts them, too.
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
    /// The client gave up deleting an object without a message. A sweep finds the object if its key ends in a UUID.
    CleanupGivenUp {
        /// The object.
        pointer: &'a Pointer,
        /// The error of the last attempt, or why the object must not be deleted: its bucket is not allowed, or its key
        /// does not end in a UUID. `None` if too many objects wait, or if there is no tokio runtime or it has ended.
        error: Option<&'a Error>,
    },
    /// It is unknown whether SQS has a message, so its object is kept: the send or the delete failed without a response, or was
    /// dropped. If there is no message, a sweep finds the object.
    OutcomeUnknown {
        /// The object.
        pointer: &'a Pointer,
    },
    /// A message with a missing object could not be released or deleted (see [`MissingObject`](crate::MissingObject)), so it was
    /// returned.
    PolicyFailed {
        /// The id of the message.
        message_id: &'a str,
        /// The error.
        error: &'a Error,
    },
    /// The visibility timeout of messages could not be renewed while their payloads were loaded. They may be received again, and
    /// less than the whole timeout is left.
    RenewalFailed {
        /// The error.
        error: &'a Error,
    },
    /// The visibility timeout of a queue is unknown, usually because `sqs:GetQueueAttributes` is denied. So it is not
    /// renewed while payloads are loaded. Receives that set a visibility timeout do not need this permission.
    LeaseUnknown {
        /// The queue.
        queue_url: &'a str,
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
pub(crate) struct Listener(Arc<dyn Fn(&Event<'_>) + Send + Sync>);

impl Listener {
    pub(crate) fn new(listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener(..)")
    }
}

/// Sends events to the log and to the hook.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventSink(Option<Listener>);

impl EventSink {
    pub(crate) fn new(listener: Option<Listener>) -> Self {
        Self(listener)
    }

    pub(crate) fn send(&self, event: &Event<'_>) {
        tracing::warn!(?event, "sqs_extended");
        if let Some(Listener(listener)) = &self.0 {
            listener(event);
        }
    }
}
