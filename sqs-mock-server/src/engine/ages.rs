//! All messages of a queue from the oldest to the youngest, for retention.

use std::collections::BTreeSet;

use super::chain::{Chain, Links};
use super::slab::Slot;
use crate::clock::Timestamp;

/// Messages in the order of the time from which retention counts.
///
/// Messages come in nearly always in that order, and a list is smaller and faster than a tree. Those that come
/// in late (dead letters keep their age) are in a tree of their own.
#[derive(Debug, Default)]
pub(super) struct Ages {
    in_order: Chain,
    links: Links,
    youngest: Timestamp,
    late: BTreeSet<(Timestamp, Slot)>,
}

impl Ages {
    pub(super) fn insert(&mut self, born: Timestamp, slot: Slot) {
        if born < self.youngest && self.in_order.last().is_some() {
            self.late.insert((born, slot));
        } else {
            self.youngest = born;
            self.links.push_back(&mut self.in_order, slot);
        }
    }

    pub(super) fn remove(&mut self, born: Timestamp, slot: Slot) {
        if !self.late.remove(&(born, slot)) {
            self.links.remove(&mut self.in_order, slot);
        }
    }

    /// The oldest message; `born` gives the birth of a slot.
    pub(super) fn oldest(&self, born: impl Fn(Slot) -> Option<Timestamp>) -> Option<(Timestamp, Slot)> {
        let first = self.in_order.first().and_then(|slot| Some((born(slot)?, slot)));
        let late = self.late.first().copied();
        match (first, late) {
            (Some(first), Some(late)) => Some(first.min(late)),
            (first, late) => first.or(late),
        }
    }

    /// Every message, those that came late first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.late.iter().map(|(_, slot)| *slot).chain(self.links.iter(&self.in_order))
    }

    /// Every message that came in order, from the youngest back.
    pub(super) fn iter_back(&self) -> impl Iterator<Item = Slot> {
        std::iter::successors(self.in_order.last(), |slot| self.links.before(*slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_is_found_whatever_the_order_of_arrival() {
        let births = [50, 60, 10, 55, 70].map(Timestamp::from_millis);
        let born = |slot: Slot| births.get(slot.0 as usize).copied();
        let mut ages = Ages::default();
        for (slot, birth) in (0..).zip(births) {
            ages.insert(birth, Slot(slot));
        }
        let mut order = Vec::new();
        while let Some((birth, slot)) = ages.oldest(born) {
            ages.remove(birth, slot);
            order.push(slot.0);
        }
        assert_eq!(order, [2, 0, 3, 1, 4]);
        assert_eq!(ages.iter().count(), 0);
    }
}
