//! The same tests with the AWS SDK as the base client.

#[path = "../actions.rs"]
mod actions;
mod base_client;
#[path = "../buffered.rs"]
mod buffered;
#[path = "../cleanup.rs"]
mod cleanup;
#[path = "../copies.rs"]
mod copies;
#[path = "../damaged.rs"]
mod damaged;
#[path = "../hanging.rs"]
mod hanging;
#[path = "../../../../sqs-client/tests/it/aws_sdk_in_process.rs"]
mod in_process;
#[path = "../leases.rs"]
mod leases;
#[path = "../loading.rs"]
mod loading;
#[path = "../receiving.rs"]
mod receiving;
#[path = "../rig.rs"]
mod rig;
#[path = "../schedules.rs"]
mod schedules;
#[path = "../sending.rs"]
mod sending;
#[path = "../settling.rs"]
mod settling;
#[path = "../sizes.rs"]
mod sizes;
#[path = "../sweeping.rs"]
mod sweeping;
#[path = "../wire.rs"]
mod wire;
#[path = "../wrapped_store.rs"]
mod wrapped_store;
