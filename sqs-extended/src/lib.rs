#![doc = include_str!("../README.md")]

mod handle;
mod pointer;
mod store;

pub use handle::ExtendedHandle;
pub use pointer::{BadPointer, Pointer, PointerClass};
pub use store::{
    ByteStream, Listed, Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody,
};
