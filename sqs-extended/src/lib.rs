#![doc = include_str!("../README.md")]

mod cleanup;
mod client;
mod config;
mod digest;
mod error;
mod event;
mod handle;
mod offload;
mod pointer;
mod queue_facts;
mod random;
mod receive;
mod settle;
mod stats;
mod store;
mod sweep;

pub use client::ExtendedClient;
pub use config::{Compat, ExtendedClientBuilder, MissingObject, Threshold};
pub use error::{Error, ErrorKind};
pub use event::Event;
pub use handle::ExtendedHandle;
pub use pointer::{BadPointer, Pointer, PointerClass};
pub use receive::{ExtendedMessage, MessagePayload, PayloadRef, Receive};
pub use stats::Stats;
pub use store::memory::{MemoryStore, StoreCall, StoreCalls, StoreFault};
pub use store::{
    ByteStream, Listed, Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody,
};
pub use sweep::{Sweep, SweepProgress, SweepReport};
