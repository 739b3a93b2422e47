//! Against a real S3, in this process and over HTTP.

mod fault;
mod get;
mod memory;
mod payload;
mod put;
mod rig;
mod sink;
mod stream;
