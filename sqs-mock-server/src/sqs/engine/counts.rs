//! How many messages are where.

use super::message::State;

/// How many messages a queue has, exactly.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Visible ones, also those that a locked group keeps back.
    pub available: usize,
    /// Received and neither deleted nor visible again.
    pub in_flight: usize,
    /// Not visible for the first time yet.
    pub delayed: usize,
}

impl Counts {
    pub(super) fn of(&mut self, state: State) -> &mut usize {
        match state {
            State::Available => &mut self.available,
            State::Delayed { .. } => &mut self.delayed,
            State::InFlight { .. } => &mut self.in_flight,
        }
    }
}
