//! A sorted sequence of messages.

use std::collections::VecDeque;

use super::slab::Slot;

/// Slots sorted by a key of their messages. A slot takes 4 bytes; an entry of a B-tree takes 40.
///
/// Most messages are added at the back and removed near the front, which costs a few comparisons. Elsewhere, an
/// insertion or removal moves up to half of the slots: with a million slots, 2 MB in about 100 microseconds.
#[derive(Debug, Default)]
pub(super) struct Sequence(VecDeque<Slot>);

impl Sequence {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<Slot> {
        self.0.get(at).copied()
    }

    pub(super) fn first(&self) -> Option<Slot> {
        self.get(0)
    }

    pub(super) fn last(&self) -> Option<Slot> {
        self.0.back().copied()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Slot> {
        self.0.iter().copied()
    }

    /// Inserts a slot and returns its index. `key_of` returns the key of a slot; keys are unique.
    pub(super) fn insert<K: Ord>(&mut self, slot: Slot, key_of: impl Fn(Slot) -> K) -> usize {
        let is_last = self.last().is_none_or(|last| key_of(last) < key_of(slot));
        let at = if is_last { self.len() } else { self.place_of(slot, key_of) };
        self.0.insert(at, slot);
        at
    }

    /// Removes a slot and returns its index.
    pub(super) fn remove<K: Ord>(&mut self, slot: Slot, key_of: impl Fn(Slot) -> K) -> Option<usize> {
        let at = self.place_of(slot, key_of);
        self.0.get(at).filter(|found| **found == slot)?;
        self.0.remove(at);
        Some(at)
    }

    /// The slot after one that is in the sequence.
    pub(super) fn after<K: Ord>(&self, slot: Slot, key_of: impl Fn(Slot) -> K) -> Option<Slot> {
        self.get(self.place_of(slot, key_of) + 1)
    }

    /// The slots after the first ones, for which `is_before` returns true.
    pub(super) fn beyond(&self, is_before: impl Fn(Slot) -> bool) -> impl Iterator<Item = Slot> {
        self.0.range(self.partition_point(is_before)..).copied()
    }

    /// Number of slots with a smaller key.
    fn place_of<K: Ord>(&self, slot: Slot, key_of: impl Fn(Slot) -> K) -> usize {
        let key = key_of(slot);
        self.partition_point(|slot| key_of(slot) < key)
    }

    /// Number of slots for which `is_before` returns true; they come first. Exponential search from the front.
    fn partition_point(&self, is_before: impl Fn(Slot) -> bool) -> usize {
        let is_before = |at: usize| self.get(at).is_some_and(&is_before);
        let (mut from, mut to) = (0, 1);
        while is_before(to - 1) {
            (from, to) = (to, to * 2);
        }
        let mut to = to.min(self.len());
        while from < to {
            let middle = from.midpoint(to);
            if is_before(middle) { from = middle + 1 } else { to = middle }
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(slot: Slot) -> u32 {
        slot.0
    }

    #[test]
    fn slots_stay_sorted_under_random_insertions_and_removals() {
        let mut sequence = Sequence::default();
        let mut naive = std::collections::BTreeSet::new();
        let mut random = crate::service::seed::Seed(1).generator("sequence");
        for _ in 0..20_000 {
            let slot = Slot(random.u32(..200));
            if naive.contains(&slot) {
                let place = naive.iter().position(|other| *other == slot);
                let after = naive.range(slot..).nth(1).copied();
                assert_eq!(sequence.after(slot, key), after);
                assert!(sequence.beyond(|other| other <= slot).eq(naive.range(slot..).skip(1).copied()));
                assert_eq!(sequence.remove(slot, key), place);
                naive.remove(&slot);
            } else {
                assert_eq!(sequence.remove(slot, key), None);
                naive.insert(slot);
                let place = naive.iter().position(|other| *other == slot).unwrap();
                assert_eq!(sequence.insert(slot, key), place);
            }
            assert!(sequence.iter().eq(naive.iter().copied()));
        }
    }
}
