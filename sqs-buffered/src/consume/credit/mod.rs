//! Credit-based flow control: how many messages may be held, and when the next receive begins.

mod credits;
mod shared;

pub(crate) use shared::{Credit, Reservation, SharedCredits};
