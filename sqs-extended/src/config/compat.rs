//! Who is to be able to read what is written.

use crate::pointer::PointerClass;

/// The attribute that says that a body is a pointer, and how long the payload is: its name today.
pub(crate) const SIZE_ATTRIBUTE: &str = "ExtendedPayloadSize";
/// Its name in the older libraries.
pub(crate) const LEGACY_SIZE_ATTRIBUTE: &str = "SQSLargePayloadSize";

/// Both names. Messages are read with either.
pub(crate) const RESERVED_ATTRIBUTES: [&str; 2] = [SIZE_ATTRIBUTE, LEGACY_SIZE_ATTRIBUTE];

/// How pointers are written. Read are all forms, always.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Compat {
    /// The class of today and the attribute `ExtendedPayloadSize`: what the libraries for Java (2.x) and Python both
    /// read with their default settings.
    #[default]
    Modern,
    /// What the Java library 2.x writes by default: the class of today, but the attribute `SQSLargePayloadSize`.
    JavaDefault,
    /// What the Java library 1.x writes and needs: the class of then, and the attribute `SQSLargePayloadSize`.
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
