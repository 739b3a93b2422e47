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

    /// As [`insert`](Self::insert), for one that was there before and does not become the last.
    pub(super) fn insert_again(&mut self, born: Timestamp, slot: Slot) {
        self.late.insert((born, slot));
    }

    pub(super) fn is_late(&self, born: Timestamp, slot: Slot) -> bool {
        !self.late.is_empty() && self.late.contains(&(born, slot))
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

    /// When the youngest message was born.
    pub(super) fn youngest(&self) -> Option<Timestamp> {
        let last = self.in_order.last().map(|_| self.youngest);
        last.max(self.late.last().map(|(born, _)| *born))
    }

    /// Every message, the oldest first; `born` gives the birth of a slot.
    pub(super) fn iter(&self, born: impl Fn(Slot) -> Option<Timestamp>) -> impl Iterator<Item = Slot> {
        let mut in_order = self.links.iter(&self.in_order).peekable();
        let mut late = self.late.iter().peekable();
        std::iter::from_fn(move || {
            let first = in_order.peek().and_then(|slot| Some((born(*slot)?, *slot)));
            match late.next_if(|late| first.is_none_or(|first| **late < first)) {
                Some((_, slot)) => Some(*slot),
                None => in_order.next(),
            }
        })
    }

    /// The message that came next in order.
    pub(super) fn after(&self, slot: Slot) -> Option<Slot> {
        self.links.after(slot)
    }

    /// The message that came before in order.
    pub(super) fn before(&self, slot: Slot) -> Option<Slot> {
        self.links.before(slot)
    }

    /// Messages born after `moment`, in no particular order.
    pub(super) fn younger_than(
        &self,
        moment: Timestamp,
        born: impl Fn(Slot) -> Option<Timestamp>,
    ) -> Vec<Slot> {
        let young = |slot: &Slot| born(*slot).is_some_and(|born| born > moment);
        let in_order = std::iter::successors(self.in_order.last(), |slot| self.links.before(*slot));
        let late = self.late.iter().rev().map(|(_, slot)| *slot);
        in_order.take_while(young).chain(late.take_while(young)).collect()
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
        assert_eq!(ages.youngest(), Some(Timestamp::from_millis(70)));
        let listed: Vec<_> = ages.iter(born).map(|slot| slot.0).collect();
        assert_eq!(listed, [2, 0, 3, 1, 4]);
        let mut order = Vec::new();
        while let Some((birth, slot)) = ages.oldest(born) {
            ages.remove(birth, slot);
            order.push(slot.0);
        }
        assert_eq!(order, [2, 0, 3, 1, 4]);
        assert_eq!((ages.iter(born).count(), ages.youngest()), (0, None));
    }
}
