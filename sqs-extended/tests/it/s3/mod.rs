//! Against a real S3, in this process and over HTTP.

mod fault;
mod get;
mod payload;
mod put;
mod rig;
mod stream;
