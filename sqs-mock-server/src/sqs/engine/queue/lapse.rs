//! Messages that were received and not deleted in time.

use super::Queue;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::message::State;
use crate::sqs::engine::slab::Slot;

/// The visibility timeout of a received message has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lapse {
    /// The message.
    pub id: Uuid,
    /// Number of receives.
    pub receives: u32,
    /// The end of the visibility timeout.
    pub at: Timestamp,
}

impl Queue {
    /// Lapses since the last call, if the settings are strict.
    pub(crate) fn take_lapses(&mut self) -> Vec<Lapse> {
        std::mem::take(&mut self.lapses)
    }

    /// Records the lapse of a message that a receive had hidden. Messages that a receive left visible do not lapse:
    /// those with a visibility timeout of zero, or with a fault that delivers them again.
    pub(super) fn note_lapse(&mut self, slot: Slot) {
        if !self.settings.strict {
            return;
        }
        let Some(message) = self.store.get(slot) else { return };
        if let State::InFlight { until } = message.state
            && message.received < until
        {
            self.lapses.push(Lapse { id: message.core.id, receives: message.core.receives, at: until });
        }
    }
}
