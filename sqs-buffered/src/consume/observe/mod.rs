//! Counts, logs and reports the events of receivers and consumers.

mod event;
mod metrics;
mod observer;
mod stats;

pub use event::{Event, Settled};
pub(crate) use observer::{Hook, Observer};
pub use stats::ReceiveStats;
