//! What the crate does against a real S3 over HTTP.

mod fault;
mod payload;
mod rig;
mod s3_get;
mod s3_put;
