//! Message counts of a queue.

use serde::Serialize;

use super::message::State;

/// Exact message counts of a queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Visible messages, including those behind a message in flight of the same group.
    pub available: usize,
    /// Messages that were received, and were neither deleted nor became visible again.
    pub in_flight: usize,
    /// Messages that have never been visible.
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
