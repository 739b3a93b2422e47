//! The same tests over a client of the AWS SDK.

#[path = "../acknowledge.rs"]
mod acknowledge;
#[path = "../admission.rs"]
mod admission;
#[path = "../bad_use.rs"]
mod bad_use;
mod base_client;
#[path = "../closing.rs"]
mod closing;
#[path = "../events.rs"]
mod events;
#[path = "../faults.rs"]
mod faults;
#[path = "../fifo.rs"]
mod fifo;
#[path = "../../../../sqs-client/tests/it/aws_sdk_in_process.rs"]
mod in_process;
#[path = "../receive/mod.rs"]
mod receive;
#[path = "../rig.rs"]
mod rig;
#[path = "../sending.rs"]
mod sending;
