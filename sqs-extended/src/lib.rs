#![doc = include_str!("../README.md")]

mod handle;
mod payload;
mod pointer;
mod random;
mod store;

pub use handle::ExtendedHandle;
#[cfg(any(feature = "gzip", feature = "zstd"))]
pub use payload::Compression;
pub use payload::{Body, DEFAULT_MAX_LENGTH, Download, Payload, PayloadError, PayloadErrorKind, Progress};
pub use pointer::{BadPointer, Pointer, PointerClass};
pub use store::{
    ByteStream, Listed, Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody,
};
#[cfg(feature = "s3")]
pub use store::{Encryption, S3Store, S3StoreBuilder};
