//! Leases: how long a received message is ours, and who sees to it.

mod book;
mod schedule;

pub(crate) use book::{Book, Due, Number, Renewed};
pub(crate) use schedule::{Schedule, Term};
