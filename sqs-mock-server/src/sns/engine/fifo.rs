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

/// A message that a topic took.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Published {
    pub(crate) receipt: Receipt,
    /// Whether it is delivered. A duplicate is not: it gets the receipt of the original.
    pub(crate) is_new: bool,
}

/// A group, which is empty if ids are known for the whole topic, and a deduplication id.
pub(crate) type Key = (Box<str>, Box<str>);

/// A deduplication id that is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    /// The number of the message that had it first, among all messages of the topic.
    pub(crate) number: u64,
    pub(crate) key: Key,
    /// The id of that message.
    pub(crate) id: Uuid,
    /// When it is forgotten.
    pub(crate) until: Timestamp,
}

impl Known {
    fn receipt(&self) -> Receipt {
        Receipt { id: self.id, sequence_number: Some(FIRST.saturating_add(self.number)) }
    }
}

/// The messages of the last five minutes.
#[derive(Debug, Default)]
pub(super) struct FifoMemory {
    numbered: u64,
    known: HashMap<Key, Receipt>,
    /// Oldest first, with consecutive numbers.
    in_order: VecDeque<Known>,
}

impl FifoMemory {
    /// Takes a message.
    pub(super) fn receive(
        &mut self,
        now: Timestamp,
        id: Uuid,
        (group, deduplication_id): (&str, &str),
    ) -> Published {
        self.forget(now);
        let key: Key = (group.into(), deduplication_id.into());
        if let Some(original) = self.known.get(&key) {
            return Published { receipt: *original, is_new: false };
        }
        self.numbered += 1;
        let known = Known { number: self.numbered, key, id, until: now + WINDOW };
        let receipt = known.receipt();
        self.known.insert(known.key.clone(), receipt);
        self.in_order.push_back(known);
        Published { receipt, is_new: true }
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some(known) = self.in_order.front()
            && (known.until <= now || self.in_order.len() > MAX_KNOWN)
        {
            self.known.remove(&known.key);
            self.in_order.pop_front();
        }
    }

    /// The deduplication id of the last message.
    pub(super) fn latest(&self) -> Option<&Known> {
        self.in_order.back()
    }

    /// The deduplication ids of messages up to this number are forgotten.
    pub(super) fn forgotten(&self) -> u64 {
        self.in_order.front().map_or(self.numbered, |known| known.number.saturating_sub(1))
    }

    /// Restores a memory. Sequence numbers continue after `numbered` messages.
    pub(super) fn restore(numbered: u64, known: Vec<Known>) -> Self {
        let receipts = known.iter().map(|known| (known.key.clone(), known.receipt()));
        Self { numbered, known: receipts.collect(), in_order: known.into() }
    }

    /// The number of messages so far.
    #[cfg(test)]
    pub(super) fn numbered(&self) -> u64 {
        self.numbered
    }

    /// The deduplication ids, oldest first.
    #[cfg(test)]
    pub(super) fn known(&self) -> impl Iterator<Item = &Known> {
        self.in_order.iter()
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
        let Published { receipt: original, is_new } = memory.receive(start, uuid(&mut ids), ("", "d"));
        assert!(is_new);
        let late = start + WINDOW.saturating_sub(Duration::from_millis(1));
        let duplicate = Published { receipt: original, is_new: false };
        assert_eq!(memory.receive(late, uuid(&mut ids), ("", "d")), duplicate);
        let Published { receipt: other, is_new } = memory.receive(late, uuid(&mut ids), ("g", "d"));
        assert!(is_new && other.sequence_number > original.sequence_number);
        assert!(memory.receive(start + WINDOW, uuid(&mut ids), ("", "d")).is_new);
        assert_eq!(original.sequence_number.unwrap().to_string().len(), 20);
    }
}
