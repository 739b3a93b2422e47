//! Leases: how long a received message is ours, and who sees to it.

mod book;
mod keeper;
#[expect(clippy::module_inception, reason = "it is the lease of this module")]
mod lease;
mod page;
mod schedule;
mod task;

pub(crate) use book::{Book, Number};
pub(crate) use keeper::{Abandoned, Keeper};
pub use lease::{Lease, LeaseOver};
pub(crate) use page::{Due, Renewed};
pub(crate) use schedule::{Schedule, Term};
pub(crate) use task::keep;
