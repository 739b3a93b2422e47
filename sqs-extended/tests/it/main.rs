//! The extended client on the embedded server and a store in memory, without a socket, under tokio's paused clock. What
//! goes through S3 goes over HTTP, under the real one.

mod actions;
mod buffered;
mod cleanup;
mod copies;
mod damaged;
mod hanging;
mod leases;
mod loading;
mod receiving;
mod rig;
#[cfg(feature = "s3")]
mod s3;
mod schedules;
mod sending;
mod settling;
mod sizes;
mod sweeping;
mod wire;
