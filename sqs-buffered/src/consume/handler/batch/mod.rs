//! Handlers of several messages at a time.

mod erased;
mod function;
mod into_outcomes;

pub(crate) use erased::AnyBatchHandler;
pub use function::BatchHandler;
pub use into_outcomes::{BatchOutcomes, IntoBatchOutcomes};
