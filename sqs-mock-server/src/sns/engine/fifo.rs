//! Deduplication and sequence numbers of FIFO topics.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;

/// How long a deduplication id is known.
const WINDOW: Duration = Duration::from_secs(300);
/// The maximum number of known ids of a topic: those of 333 messages a second. Beyond it, the oldest are forgotten, so
/// that a frozen clock does not fill the memory.
const MAX_KNOWN: usize = 100_000;
/// The first sequence number. All have 20 digits.
const FIRST: u64 = 10_000_000_000_000_000_000;

/// The answer to a publish, and to its duplicates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Receipt {
    pub(crate) id: Uuid,
    /// On FIFO topics.
    pub(crate) sequence_number: Option<u64>,
}

/// A group, which is empty if ids are known for the whole topic, and a deduplication id.
type Key = (Box<str>, Box<str>);

/// The messages of the last five minutes.
#[derive(Debug, Default)]
pub(super) struct FifoMemory {
    numbered: u64,
    known: HashMap<Key, Receipt>,
    /// Oldest first, with the time at which they are forgotten.
    in_order: VecDeque<(Timestamp, Key)>,
}

impl FifoMemory {
    /// The receipt of a message, and whether it is new. A duplicate gets the receipt of the original.
    pub(super) fn receive(
        &mut self,
        now: Timestamp,
        id: Uuid,
        (group, deduplication_id): (&str, &str),
    ) -> (Receipt, bool) {
        self.forget(now);
        let key: Key = (group.into(), deduplication_id.into());
        if let Some(original) = self.known.get(&key) {
            return (*original, false);
        }
        self.numbered += 1;
        let receipt = Receipt { id, sequence_number: Some(FIRST.saturating_add(self.numbered)) };
        self.known.insert(key.clone(), receipt);
        self.in_order.push_back((now + WINDOW, key));
        (receipt, true)
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some((until, key)) = self.in_order.front()
            && (*until <= now || self.in_order.len() > MAX_KNOWN)
        {
            self.known.remove(key);
            self.in_order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::seed::{Seed, uuid};

    /// Contract 3.6.
    #[test]
    fn duplicate_within_five_minutes_gets_the_receipt_of_the_original() {
        let mut ids = Seed(1).generator("ids");
        let mut memory = FifoMemory::default();
        let start = Timestamp::from_millis(1_800_000_000_000);
        let (original, is_new) = memory.receive(start, uuid(&mut ids), ("", "d"));
        assert!(is_new);
        let late = start + WINDOW.saturating_sub(Duration::from_millis(1));
        assert_eq!(memory.receive(late, uuid(&mut ids), ("", "d")), (original, false));
        let (other, is_new) = memory.receive(late, uuid(&mut ids), ("g", "d"));
        assert!(is_new && other.sequence_number > original.sequence_number);
        assert!(memory.receive(start + WINDOW, uuid(&mut ids), ("", "d")).1);
        assert_eq!(original.sequence_number.unwrap().to_string().len(), 20);
    }
}
