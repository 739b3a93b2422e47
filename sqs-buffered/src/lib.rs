#![doc = include_str!("../README.md")]

mod batch;
mod consumer;
mod lease;
mod random;
mod receive;

pub use batch::{BatchBuilder, BatchLimits, RejectReason, Rejected};
