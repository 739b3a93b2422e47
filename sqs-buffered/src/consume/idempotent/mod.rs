//! Idempotent handlers.

mod handler;
mod memory;
mod records;
mod store;

pub use handler::Idempotent;
pub use memory::MemoryStore;
pub use store::{Begin, IdempotencyStore};
