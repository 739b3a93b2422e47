//! The buffered client with the embedded server, without sockets, under tokio's paused clock.

mod acknowledge;
mod admission;
mod attempts;
mod bad_use;
mod base_client;
mod closing;
mod events;
mod explored;
mod faults;
mod fifo;
#[path = "../../../sqs-client/tests/it/aws_sdk_in_process.rs"]
mod in_process;
mod isolation;
mod killed;
mod lambda;
#[cfg(feature = "metrics")]
mod metrics;
mod over_aws_sdk;
mod preparing;
mod receive;
#[cfg(feature = "metrics")]
mod recorder;
mod rig;
mod sending;
