//! Tests with an S3 server in this process, over HTTP.

#[cfg(feature = "object_store")]
mod adapter;
mod backend;
mod consumer;
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

#[cfg(feature = "object_store")]
pub(crate) use adapter::object_store_at;
#[cfg(feature = "object_store")]
pub(crate) use rig::client;
