//! What the crate does.

#[cfg(feature = "s3")]
mod s3;
