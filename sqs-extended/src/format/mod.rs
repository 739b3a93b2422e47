//! The format of AWS's libraries for Java and Python: pointers in messages and in receipt handles. Pure.

mod ask;
mod body;
mod carried;
mod compat;
mod envelope;
mod find;
mod handle;
mod key;
mod restore;
mod sns;

pub(crate) use ask::ask;
pub use body::PointerClass;
pub use compat::Compat;
pub(crate) use compat::MAX_PAYLOAD_BYTES;
pub(crate) use envelope::{Attributes, Envelope, Sizes};
pub use find::PayloadRef;
pub(crate) use find::{Found, carries_pointer, find};
pub use handle::ExtendedHandle;
pub(crate) use handle::{extend_handle, original_handle, strip};
pub(crate) use key::ends_with_uuid;
pub(crate) use restore::restore;
