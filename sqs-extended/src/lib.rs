#![doc = include_str!("../README.md")]

mod handle;
mod pointer;
#[cfg(feature = "s3")]
mod random;
mod store;

pub use handle::ExtendedHandle;
pub use pointer::{BadPointer, Pointer, PointerClass};
pub use store::{
    ByteStream, Listed, Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody,
};
#[cfg(feature = "s3")]
pub use store::{Encryption, S3Store, S3StoreBuilder};
