//! Messages with wrong checksums.

use std::fmt;

use super::Message;

/// A received message with a wrong checksum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DamagedMessage {
    /// The message as received. Do not trust its body or attributes. No checksum covers its id and receipt handle.
    pub message: Message,
    /// The parts with wrong checksums.
    pub mismatches: Vec<ChecksumMismatch>,
}

/// The checksum in a response differs from the computed one.
///
/// The message was damaged in transit, or the service computes checksums differently.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChecksumMismatch {
    /// The part that was hashed: `body`, `message attributes` or `message system attributes`.
    pub(crate) part: &'static str,
    /// Id of the batch entry or of the received message.
    pub(crate) id: Option<String>,
    /// `None` if the part is absent.
    pub(crate) expected: Option<String>,
    /// `None` if the service sent no checksum.
    pub(crate) found: Option<String>,
}

impl ChecksumMismatch {
    /// The id of the damaged batch entry or received message.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

impl fmt::Display for ChecksumMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, id, expected, found } = self;
        write!(f, "MD5 of the {part}")?;
        if let Some(id) = id {
            write!(f, " of {id}")?;
        }
        match (expected, found) {
            (Some(expected), Some(found)) => write!(f, ": the service sent {found}, expected {expected}"),
            (_, None) => {
                f.write_str(": the service sent none; to allow that, set ChecksumPolicy::VerifyIfPresent")
            }
            (None, Some(found)) => write!(f, ": the service sent {found}, but the message has none"),
        }
    }
}

impl std::error::Error for ChecksumMismatch {}
