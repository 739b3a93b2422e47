//! Policies.

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
    pub const DEFAULT_BYTES: usize = 262_144;
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Bytes(Self::DEFAULT_BYTES)
    }
}

/// What happens to a received message whose object does not exist (404 with an error code of S3). An object that cannot be accessed
/// (403) is not missing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum MissingObject {
    /// Returns the message, with the pointer as its body. For layers that open messages one by one, the same as `Release`: the
    /// message is given back.
    #[default]
    Surface,
    /// Makes the message visible again at once and does not return it, so that a redrive policy can move it to a
    /// dead-letter queue.
    Release,
    /// Deletes the message from the queue and does not return it. The payload is lost in any case.
    DeleteMessage,
}
