//! The format of AWS's libraries for Java and Python: pointers in messages and in receipt handles. Pure.

mod body;
mod compat;
mod envelope;
mod find;
mod handle;
mod key;
mod raw_pointer;
mod request_attributes;
mod restore;
mod sns;

pub use body::PointerClass;
pub use compat::Compat;
pub(crate) use compat::MAX_PAYLOAD_BYTES;
pub(crate) use envelope::{Attributes, Envelope, Sizes};
pub use find::PayloadRef;
pub(crate) use find::{Found, PointerRules};
pub use handle::ExtendedHandle;
pub(crate) use handle::{extend_handle, original_handle, strip};
pub(crate) use key::ends_with_uuid;
pub(crate) use request_attributes::request_attributes;
pub(crate) use restore::restore;
pub(crate) use sns::Notification;
