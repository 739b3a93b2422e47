//! Against a real S3, in this process and over HTTP.

#[cfg(feature = "object_store")]
mod adapter;
mod beside;
mod fault;
mod get;
mod keys;
mod killed;
mod memory;
mod missing;
mod payload;
mod put;
mod rig;
mod schedules;
mod sink;
mod stream;
mod sweep;

#[cfg(feature = "object_store")]
pub(crate) use rig::client;
