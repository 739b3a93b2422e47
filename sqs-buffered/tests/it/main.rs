//! The buffered client on the embedded server, without a socket, under tokio's paused clock.

// Scenarios are compiled a second time over another client.
#![allow(clippy::duplicate_mod)]

mod acknowledge;
mod admission;
mod attempts;
mod bad_use;
mod base_client;
mod closing;
mod events;
mod faults;
mod fifo;
mod isolation;
mod killed;
mod lambda;
#[cfg(feature = "metrics")]
mod metrics;
mod over_aws_sdk;
mod receive;
#[cfg(feature = "metrics")]
mod recorder;
mod rig;
mod sending;
