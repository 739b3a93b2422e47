//! Entries in, receipts out: sends, deletes and visibility changes in batches.

mod admission;
mod alarms;
mod client;
mod deduplication;
mod driver;
mod entry;
mod error;
mod event;
mod kind;
mod lane;
mod lane_handle;
mod lane_metrics;
mod observer;
mod request;
mod settings;
mod stats;
mod summary;
mod ticket;

pub use client::{BufferedClient, BuildError, Builder, EnqueueError};
pub use entry::Entry;
pub(crate) use entry::is_fifo;
pub use error::{SendError, SendErrorKind};
pub use event::SendEvent;
pub use kind::SendReceipt;
pub use lane::{AfterFailure, BatchLimits, FifoOrdering, InFlight, Linger};
pub use settings::DedupId;
pub use stats::Stats;
pub use summary::Summary;
pub use ticket::Ticket;
