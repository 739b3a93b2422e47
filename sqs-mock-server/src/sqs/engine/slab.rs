//! Values in stable slots: the cost of insertion, removal and access does not depend on their number.

/// Values per chunk. A slab grows by chunks, so insertions do not copy existing values.
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 10;

/// A slot in a [`Slab`]. Slots are reused after a removal.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Slot(pub(crate) u32);

impl Slot {
    const fn split(self) -> (usize, usize) {
        let at = self.0 as usize;
        (at >> CHUNK_BITS, at & (CHUNK - 1))
    }
}

#[derive(Debug)]
pub(super) struct Slab<T> {
    chunks: Vec<Vec<Option<T>>>,
    free: Vec<Slot>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// A slab with these values in these slots, all different.
    #[cfg(any(test, feature = "durable"))]
    pub(super) fn filled(values: Vec<(Slot, T)>) -> Self {
        let mut slab = Self::default();
        let places = values.iter().map(|(slot, _)| slot.0 as usize + 1).max().unwrap_or(0);
        while slab.chunks.len() * CHUNK < places {
            let chunk = (places - slab.chunks.len() * CHUNK).min(CHUNK);
            slab.chunks.push(std::iter::repeat_with(|| None).take(chunk).collect());
        }
        for (slot, value) in values {
            let (chunk, at) = slot.split();
            slab.chunks[chunk][at] = Some(value);
        }
        let slots = (0..places).filter_map(|at| u32::try_from(at).ok()).map(Slot);
        slab.free = slots.filter(|slot| slab.get(*slot).is_none()).collect();
        slab
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&T> {
        let (chunk, at) = slot.split();
        self.chunks.get(chunk)?.get(at)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        let (chunk, at) = slot.split();
        self.chunks.get_mut(chunk)?.get_mut(at)?.as_mut()
    }

    pub(super) fn insert(&mut self, value: T) -> Slot {
        if let Some(slot) = self.free.pop() {
            let (chunk, at) = slot.split();
            if let Some(place) = self.chunks.get_mut(chunk).and_then(|chunk| chunk.get_mut(at)) {
                *place = Some(value);
                return slot;
            }
        }
        self.append(value)
    }

    /// Whether dropping the slab would free much memory.
    pub(super) fn is_large(&self) -> bool {
        self.chunks.len() > 1
    }

    fn append(&mut self, value: T) -> Slot {
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push(Vec::new());
        }
        let full = (self.chunks.len() - 1) * CHUNK;
        let at = self.chunks.last_mut().map_or(0, |chunk| {
            chunk.push(Some(value));
            chunk.len() - 1
        });
        // Memory cannot hold 2^32 messages.
        Slot(u32::try_from(full + at).unwrap_or(u32::MAX))
    }

    pub(super) fn remove(&mut self, slot: Slot) -> Option<T> {
        let (chunk, at) = slot.split();
        let value = self.chunks.get_mut(chunk)?.get_mut(at)?.take()?;
        self.free.push(slot);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_stable_and_reused() {
        let mut slab = Slab::default();
        let slots: Vec<_> = (0..3000).map(|value| slab.insert(value)).collect();
        assert_eq!(slab.remove(slots[1500]), Some(1500));
        assert_eq!(slab.remove(slots[1500]), None);
        assert_eq!(slab.get(slots[2999]), Some(&2999));
        assert_eq!(slab.insert(7), slots[1500]);
        assert_eq!(slab.get(slots[1500]), Some(&7));
    }

    #[test]
    fn unused_slot_is_empty() {
        let mut slab = Slab::<u8>::default();
        assert_eq!(slab.get(Slot(u32::MAX)), None);
        assert_eq!(slab.remove(Slot(5)), None);
    }
}
