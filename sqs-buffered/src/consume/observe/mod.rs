//! What happens in the background: counted, logged, and reported to the user's hook, in one place.

mod event;
mod metrics;
mod observer;
mod stats;

pub use event::{Event, Settled};
pub(crate) use observer::{Hook, Observer};
pub use stats::ReceiveStats;
