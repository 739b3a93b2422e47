//! How many handlers run at a time, and whose turn it is.
//!
//! ```text
//! HandlerPool (lock) --> Shares: which consumer starts the next handler (pure)
//!   ^      |       +---> AdaptiveLimit: how many may run (pure)
//!   |      +-- wakes consumers whose turn it is, or whose places have changed
//! PoolMember: one consumer
//! ```

mod adaptive;
mod concurrency;
mod handlers;
mod rate;
mod shares;

pub use concurrency::Concurrency;
pub use handlers::HandlerPool;
pub(crate) use handlers::PoolMember;
pub(crate) use rate::RateLimit;

pub(crate) use adaptive::HandlerEnd;
