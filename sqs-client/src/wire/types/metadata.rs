//! Response metadata.

use super::DamagedMessage;
use super::message::ReceiveMessageOutput;

/// The request id that the service assigned. AWS Support asks for it.
pub trait RequestId {
    /// The request id, if the service sent one.
    fn request_id(&self) -> Option<&str>;
}

/// Whether the service may have executed a request more than once.
///
/// This happens if the response to an earlier attempt was lost.
/// A batch entry that such a response reports as failed may have succeeded in the earlier attempt.
pub trait MaybeRepeated {
    /// Whether the service may also have executed an earlier attempt.
    fn is_maybe_repeated(&self) -> bool;
}

/// Metadata of a response, for the client and for layers over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseMetadata {
    /// See [`RequestId`].
    pub request_id: Option<String>,
    /// See [`MaybeRepeated`].
    pub maybe_repeated: bool,
    /// See [`ReceiveMessageOutput::damaged_messages`].
    pub damaged: Vec<DamagedMessage>,
}

/// An output with metadata.
pub trait HasMetadata {
    /// The metadata.
    fn metadata(&self) -> &ResponseMetadata;
    /// The metadata, mutable.
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
    /// Messages with a wrong checksum. They are not in `messages`.
    ///
    /// They stay in the queue, and SQS delivers them again after the visibility timeout. To receive them sooner, change
    /// their visibility. On a FIFO queue, or if no message is intact, the receive fails, and
    /// [`Error::output`](crate::Error::output) contains this output.
    pub fn damaged_messages(&self) -> &[DamagedMessage] {
        &self.metadata().damaged
    }
}
