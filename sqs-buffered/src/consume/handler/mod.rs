//! Handlers: the user's functions, their parameters and results.
//!
//! ```text
//! MessageContext -> FromMessage (one for each parameter) -> function -> IntoOutcome -> Outcome | HandlerError
//! ```

mod attempt;
mod batch;
mod context;
mod erased;
mod extract;
mod function;
mod into_outcome;
mod json;
mod task;

pub use attempt::Attempt;
pub(crate) use batch::AnyBatchHandler;
pub use batch::{BatchHandler, BatchOutcomes, IntoBatchOutcomes};
pub use context::MessageContext;
pub(crate) use erased::AnyHandler;
pub use extract::{FromMessage, FromRef, GroupId, MessageAttributes, ReceiveCount, State};
pub use function::Handler;
pub use into_outcome::IntoOutcome;
pub use json::Json;
pub(crate) use task::{Failure, HandlerTask};
