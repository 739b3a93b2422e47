//! What an answer carries beside its members.

use super::DamagedMessage;
use super::message::ReceiveMessageOutput;

/// The id that the service gave to a request; quote it to AWS support.
pub trait RequestId {
    /// The id, when the service sent one.
    fn request_id(&self) -> Option<&str>;
}

/// Whether the service may have executed a request more than once: the answer to an earlier attempt was lost.
///
/// Entries that such an answer to a batch reports as failed may have succeeded in the earlier attempt.
pub trait MaybeRepeated {
    /// Whether an earlier attempt may have been executed too.
    fn is_maybe_repeated(&self) -> bool;
}

/// For the call pipeline and for layers over a client.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseMetadata {
    /// See [`RequestId`].
    pub request_id: Option<String>,
    /// See [`MaybeRepeated`].
    pub maybe_repeated: bool,
    /// See [`ReceiveMessageOutput::damaged_messages`].
    pub damaged: Vec<DamagedMessage>,
}

/// An output, with its metadata.
pub trait HasMetadata {
    /// The metadata.
    fn metadata(&self) -> &ResponseMetadata;
    /// The metadata, to change it.
    fn metadata_mut(&mut self) -> &mut ResponseMetadata;
}

impl<T: HasMetadata> RequestId for T {
    fn request_id(&self) -> Option<&str> {
        self.metadata().request_id.as_deref()
    }
}

impl<T: HasMetadata> MaybeRepeated for T {
    fn is_maybe_repeated(&self) -> bool {
        self.metadata().maybe_repeated
    }
}

impl ReceiveMessageOutput {
    /// Messages that arrived with a wrong checksum. They are not among the `messages`.
    ///
    /// They stay in the queue: SQS delivers them again after their visibility timeout. Change the visibility of their
    /// handles to get them sooner. On a FIFO queue, or if no message is intact, the receive fails instead, and this
    /// output is in [`Error::output`](crate::Error::output).
    pub fn damaged_messages(&self) -> &[DamagedMessage] {
        &self.metadata().damaged
    }
}
