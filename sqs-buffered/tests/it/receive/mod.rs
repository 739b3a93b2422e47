//! Receivers and consumers.

mod bad_use;
mod batches;
mod breakage;
mod consumer;
mod control;
mod dead_letters;
mod diary;
mod failures;
mod fifo;
mod flow;
mod handlers;
mod idempotent;
mod jobs;
pub(crate) mod leases;
mod meddler;
#[cfg(feature = "metrics")]
mod metrics;
pub(crate) mod opening;
mod overload;
mod poison;
mod polling;
mod pools;
mod receiver;
pub(crate) mod rig;
mod schedules;
mod settling;
pub(crate) mod shutdown;
mod threads;
