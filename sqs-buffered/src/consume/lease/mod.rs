//! Leases: how long a received message stays hidden from others, and the renewal of that time.
//!
//! ```text
//! Lease (handle) --+
//!                  +--> Leases (lock) --> LeaseTable (pure) --> LeaseState, Schedule
//! renewal task ----+
//! ```

mod handle;
mod held;
mod leases;
mod renewal;
mod schedule;
mod state;
mod table;

pub use handle::Lease;
pub(crate) use leases::{Abandoned, Leases};
pub(crate) use renewal::renew_leases;
pub(crate) use schedule::{LeaseTerm, Schedule};
pub use state::LeaseOver;
