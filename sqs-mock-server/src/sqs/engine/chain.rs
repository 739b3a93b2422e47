//! Doubly linked lists of slots: append, remove anywhere and step cost the same however long a list is.
//!
//! The links of all lists over the same slots are in one [`Links`]; each list is a [`Chain`] of its own. A slot
//! is in at most one chain of a `Links`.

use super::slab::Slot;

const NOWHERE: u32 = u32::MAX;
const ALONE: Link = Link { before: NOWHERE, after: NOWHERE };

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
}

#[derive(Debug, Default)]
pub(super) struct Links(Vec<Link>);

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Slot,
    last: Slot,
}

#[derive(Debug, Default)]
pub(super) struct Chain {
    ends: Option<Ends>,
}

impl Chain {
    pub(super) fn first(&self) -> Option<Slot> {
        self.ends.map(|ends| ends.first)
    }

    pub(super) fn last(&self) -> Option<Slot> {
        self.ends.map(|ends| ends.last)
    }
}

impl Links {
    pub(super) fn push_back(&mut self, chain: &mut Chain, slot: Slot) {
        let before = chain.last();
        self.set(slot, Link { before: before.map_or(NOWHERE, |before| before.0), after: NOWHERE });
        if let Some(before) = before {
            self.link(before).after = slot.0;
        }
        let first = chain.first().unwrap_or(slot);
        chain.ends = Some(Ends { first, last: slot });
    }

    /// Puts a slot in before another of the same chain, or at its end.
    pub(super) fn insert_before(&mut self, chain: &mut Chain, slot: Slot, next: Option<Slot>) {
        let (Some(next), Some(ends)) = (next, chain.ends) else {
            return self.push_back(chain, slot);
        };
        let before = self.before(next);
        self.set(slot, Link { before: before.map_or(NOWHERE, |before| before.0), after: next.0 });
        self.link(next).before = slot.0;
        match before {
            Some(before) => self.link(before).after = slot.0,
            None => chain.ends = Some(Ends { first: slot, ..ends }),
        }
    }

    /// Takes a slot out of the chain that it is in.
    pub(super) fn remove(&mut self, chain: &mut Chain, slot: Slot) {
        let (before, after) = (self.before(slot), self.after(slot));
        if let Some(before) = before {
            self.link(before).after = after.map_or(NOWHERE, |after| after.0);
        }
        if let Some(after) = after {
            self.link(after).before = before.map_or(NOWHERE, |before| before.0);
        }
        if let Some(ends) = chain.ends {
            let first = if ends.first == slot { after } else { Some(ends.first) };
            let last = if ends.last == slot { before } else { Some(ends.last) };
            chain.ends = first.zip(last).map(|(first, last)| Ends { first, last });
        }
        *self.link(slot) = ALONE;
    }

    pub(super) fn after(&self, slot: Slot) -> Option<Slot> {
        self.0.get(slot.0 as usize).and_then(|link| somewhere(link.after))
    }

    pub(super) fn before(&self, slot: Slot) -> Option<Slot> {
        self.0.get(slot.0 as usize).and_then(|link| somewhere(link.before))
    }

    /// Every slot of a chain, in order.
    pub(super) fn iter(&self, chain: &Chain) -> impl Iterator<Item = Slot> {
        std::iter::successors(chain.first(), |slot| self.after(*slot))
    }

    fn set(&mut self, slot: Slot, link: Link) {
        *self.link(slot) = link;
    }

    fn link(&mut self, slot: Slot) -> &mut Link {
        let at = slot.0 as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, ALONE);
        }
        &mut self.0[at]
    }
}

fn somewhere(at: u32) -> Option<Slot> {
    (at != NOWHERE).then_some(Slot(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain_of(links: &mut Links, slots: &[u32]) -> Chain {
        let mut chain = Chain::default();
        for slot in slots {
            links.push_back(&mut chain, Slot(*slot));
        }
        chain
    }

    fn list(links: &Links, chain: &Chain) -> Vec<u32> {
        links.iter(chain).map(|slot| slot.0).collect()
    }

    #[test]
    fn slots_leave_from_anywhere() {
        let mut links = Links::default();
        let mut chain = chain_of(&mut links, &[4, 2, 9, 1]);
        for (slot, rest) in [(2, vec![4, 9, 1]), (4, vec![9, 1]), (1, vec![9]), (9, vec![])] {
            links.remove(&mut chain, Slot(slot));
            assert_eq!(list(&links, &chain), rest);
        }
        assert!(chain.first().is_none() && chain.last().is_none());
    }

    #[test]
    fn slots_come_in_anywhere() {
        let mut links = Links::default();
        let mut chain = Chain::default();
        for (slot, next) in [(1, None), (2, Some(1)), (3, Some(1)), (4, None), (5, Some(2))] {
            links.insert_before(&mut chain, Slot(slot), next.map(Slot));
        }
        assert_eq!(list(&links, &chain), [5, 2, 3, 1, 4]);
        assert_eq!(chain.last(), Some(Slot(4)));
    }

    #[test]
    fn chains_of_the_same_links_do_not_touch_each_other() {
        let mut links = Links::default();
        let mut odd = chain_of(&mut links, &[1, 3]);
        let even = chain_of(&mut links, &[0, 2]);
        links.remove(&mut odd, Slot(1));
        assert_eq!(list(&links, &odd), [3]);
        assert_eq!(list(&links, &even), [0, 2]);
        assert_eq!(links.before(Slot(2)), Some(Slot(0)));
    }
}
