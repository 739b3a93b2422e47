//! The formats of the other libraries.

use super::body::PointerClass;

/// The attribute of a message with a pointer: its value is the length of the payload.
const SIZE_ATTRIBUTE: &str = "ExtendedPayloadSize";
/// Its name in older libraries.
const LEGACY_SIZE_ATTRIBUTE: &str = "SQSLargePayloadSize";

/// The data type of the attribute, without the SHA-256 of the payload in hex that follows. SQS allows any label, and
/// the other libraries ignore it.
pub(crate) const HASH_LABEL: &str = "Number.sha256.";

/// The largest payload that the other libraries can read: the maximum length of a Java array.
pub(crate) const MAX_PAYLOAD_BYTES: u64 = (1 << 31) - 1;

/// Both names. A message with either one has a pointer.
pub(crate) const RESERVED_ATTRIBUTES: [&str; 2] = [SIZE_ATTRIBUTE, LEGACY_SIZE_ATTRIBUTE];

/// How pointers are written. All forms are read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Compat {
    /// The current class and the attribute `ExtendedPayloadSize`: the Java library (2.x) and the Python library both read this with
    /// their default settings.
    #[default]
    Modern,
    /// What the Java library 2.x writes by default: the current class, but the attribute `SQSLargePayloadSize`.
    JavaDefault,
    /// What the Java library 1.x writes and needs: the old class and the attribute `SQSLargePayloadSize`.
    Legacy10,
}

impl Compat {
    /// The class in the pointer.
    pub const fn class(self) -> PointerClass {
        match self {
            Self::Modern | Self::JavaDefault => PointerClass::Modern,
            Self::Legacy10 => PointerClass::Legacy,
        }
    }

    /// The name of the attribute.
    pub const fn attribute(self) -> &'static str {
        match self {
            Self::Modern => SIZE_ATTRIBUTE,
            Self::JavaDefault | Self::Legacy10 => LEGACY_SIZE_ATTRIBUTE,
        }
    }
}
