//! The extended client with the embedded server and a store in memory, without sockets and under tokio's paused clock.
//! Tests with S3 use HTTP and the real clock.

mod actions;
#[path = "../../../sqs-buffered/tests/it/base_client.rs"]
mod base_client;
mod buffered;
mod cleanup;
mod copies;
mod damaged;
mod dropped_uploads;
mod elsewhere;
mod explored;
mod faulty_store;
mod generated_ids;
mod hanging;
#[path = "../../../sqs-client/tests/it/aws_sdk_in_process.rs"]
mod in_process;
mod loading;
mod opening;
mod over_aws_sdk;
mod receiving;
mod rig;
#[cfg(feature = "s3")]
mod s3;
mod schedules;
mod seams;
mod sending;
mod settling;
mod sizes;
#[cfg(all(feature = "s3", feature = "object_store"))]
mod stores;
mod wire;
mod wrapped_store;
