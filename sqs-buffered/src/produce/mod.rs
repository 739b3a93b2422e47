//! Entries in, receipts out: sends, deletes and visibility changes in batches.

mod admission;
mod batch;
mod channel;
mod client;
mod content_ids;
mod entry;
mod error;
mod event;
mod kind;
mod lane;
mod request;
mod settings;
mod stats;
mod summary;
mod ticket;
mod under_way;
mod worker;

pub use batch::BatchLimits;
pub use client::{BufferedClient, BuildError, Builder, EnqueueError};
pub use entry::Entry;
pub(crate) use entry::is_fifo;
pub use error::{SendError, SendErrorKind};
pub use event::SendEvent;
pub use kind::SendReceipt;
pub use lane::{AfterFailure, FifoOrdering, Linger};
pub use settings::DedupId;
pub use stats::Stats;
pub use summary::Summary;
pub use ticket::Ticket;
