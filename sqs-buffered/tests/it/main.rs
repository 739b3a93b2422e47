//! The buffered client with the embedded server, without sockets, under tokio's paused clock.

// `over_aws_sdk` compiles these files a second time with another client.
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
