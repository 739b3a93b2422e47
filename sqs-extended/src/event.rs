//! What can go wrong without anybody asking, for those who want to know.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::pointer::Pointer;

/// Something that happened beside the answer of a call. Everything here is counted as well; this says what it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A payload was not stored; the entry of the batch, or the message, was not sent.
    UploadFailed {
        /// Why.
        error: &'a Error,
    },
    /// A received message could not be given its payload.
    PayloadFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        error: &'a Error,
    },
    /// An object that no message needs any more could not be deleted.
    CleanupFailed {
        /// The object.
        pointer: &'a Pointer,
        /// Why.
        error: &'a Error,
        /// The number of attempts.
        attempts: u32,
        /// Whether it is retried. Otherwise a sweep finds the object.
        is_retried: bool,
    },
    /// An object that no message needs any more is not deleted, and was not tried: the call that had to do it was dropped, and
    /// a thousand objects are waiting to be deleted already, or no runtime is there to do it. A sweep finds it.
    CleanupGivenUp {
        /// The object.
        pointer: &'a Pointer,
    },
    /// It is not known whether the message was sent, so its object was kept. If it was not, a sweep finds it.
    OutcomeUnknown {
        /// The object.
        pointer: &'a Pointer,
    },
    /// A message with a missing object could not be released or deleted as [`MissingObject`](crate::MissingObject) wants
    /// it; it was handed out instead.
    PolicyFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        error: &'a Error,
    },
    /// Messages could not be kept hidden while their payloads were loaded. They may be received a second time, and who gets
    /// them has less than their whole visibility timeout left.
    RenewalFailed {
        /// Why.
        error: &'a Error,
    },
    /// Messages are not kept hidden while their payloads are loaded, since the queue does not tell its visibility timeout:
    /// mostly for want of the permission `sqs:GetQueueAttributes`. Receives that say a visibility timeout do not need it.
    LeaseUnknown {
        /// The queue.
        queue_url: &'a str,
    },
    /// Messages whose receive was dropped while their payloads were loaded could not be made visible again. They are when
    /// their visibility timeout is over.
    ReleaseFailed {
        /// Why.
        error: &'a Error,
    },
}

/// Who wants to know.
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

/// Tells the log, and whoever listens.
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
