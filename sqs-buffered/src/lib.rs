#![doc = include_str!("../README.md")]

mod batch;

pub use batch::{BatchBuilder, BatchLimits, RejectReason, Rejected};
