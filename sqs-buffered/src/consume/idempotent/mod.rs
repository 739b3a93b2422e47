//! Handlers that run once for each key, as far as a store remembers.

mod handler;
mod memory;
mod records;
mod store;

pub use handler::Idempotent;
pub use memory::MemoryStore;
pub use store::{Begin, IdempotencyStore};
