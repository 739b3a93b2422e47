//! All messages of a queue from the oldest to the youngest, for retention.

use std::collections::BTreeMap;

use super::chain::{Chain, Links};
use super::slab::Slot;
use crate::service::clock::Timestamp;

/// From when the retention of a message counts, and its ticket.
pub(super) type Birth = (Timestamp, u64);

/// Messages in the order of the time from which retention counts.
///
/// Messages come in nearly always in that order, and a list is smaller and faster than a tree. Those that come
/// in late (dead letters keep their age) are in a tree of their own.
#[derive(Debug, Default)]
pub(super) struct Ages {
    in_order: Chain,
    links: Links,
    youngest: Timestamp,
    late: BTreeMap<Birth, Slot>,
}

impl Ages {
    pub(super) fn insert(&mut self, birth: Birth, slot: Slot) {
        if birth.0 < self.youngest && self.in_order.last().is_some() {
            self.late.insert(birth, slot);
        } else {
            self.youngest = birth.0;
            self.links.push_back(&mut self.in_order, slot);
        }
    }

    /// As [`insert`](Self::insert), for one that was there before and does not become the last.
    pub(super) fn insert_again(&mut self, birth: Birth, slot: Slot) {
        self.late.insert(birth, slot);
    }

    pub(super) fn is_late(&self, birth: Birth) -> bool {
        self.late.contains_key(&birth)
    }

    pub(super) fn remove(&mut self, birth: Birth, slot: Slot) {
        if self.late.remove(&birth).is_none() {
            self.links.remove(&mut self.in_order, slot);
        }
    }

    /// The oldest message; `born` gives the birth of a slot.
    pub(super) fn oldest(&self, born: impl Fn(Slot) -> Option<Timestamp>) -> Option<(Timestamp, Slot)> {
        let first = self.in_order.first().and_then(|slot| Some((born(slot)?, slot)));
        let late = self.late.first_key_value().map(|((born, _), slot)| (*born, *slot));
        // Of the same age, the one that came late is first.
        late.filter(|late| first.is_none_or(|first| late.0 <= first.0)).or(first)
    }

    /// When the youngest message was born.
    pub(super) fn youngest(&self) -> Option<Timestamp> {
        let last = self.in_order.last().map(|_| self.youngest);
        last.max(self.late.last_key_value().map(|((born, _), _)| *born))
    }

    /// Every message, the oldest first; `born` gives the birth of a slot.
    pub(super) fn iter(&self, born: impl Fn(Slot) -> Option<Timestamp>) -> impl Iterator<Item = Slot> {
        let mut in_order = self.links.iter(&self.in_order).peekable();
        let mut late = self.late.iter().peekable();
        std::iter::from_fn(move || {
            let first = in_order.peek().and_then(|slot| born(*slot));
            let is_next = |late: &(&Birth, &Slot)| first.is_none_or(|first| late.0.0 <= first);
            match late.next_if(is_next) {
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
        let late = self.late.values().rev().copied();
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
            ages.insert((birth, slot.into()), Slot(slot));
        }
        assert_eq!(ages.youngest(), Some(Timestamp::from_millis(70)));
        let listed: Vec<_> = ages.iter(born).map(|slot| slot.0).collect();
        assert_eq!(listed, [2, 0, 3, 1, 4]);
        let mut order = Vec::new();
        while let Some((birth, slot)) = ages.oldest(born) {
            ages.remove((birth, slot.0.into()), slot);
            order.push(slot.0);
        }
        assert_eq!(order, [2, 0, 3, 1, 4]);
        assert_eq!((ages.iter(born).count(), ages.youngest()), (0, None));
    }
}
