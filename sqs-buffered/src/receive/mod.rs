//! Messages in: each with a lease, and never more than there is credit for.

pub(crate) mod back_off;
pub(crate) mod credits;
pub(crate) mod dead_letter;
pub(crate) mod delivery;
pub(crate) mod lease;
pub(crate) mod lease_table;
pub(crate) mod opening;
pub(crate) mod pump;
pub(crate) mod receiver;
pub(crate) mod renewal_thread;
pub(crate) mod settings;
