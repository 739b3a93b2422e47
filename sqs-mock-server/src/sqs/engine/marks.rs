//! A hash table of numbers, for whoever keeps what the numbers stand for.
//!
//! An entry takes 4 bytes, of which at least three eighths are in use. It consists of parts that grow one by one,
//! so that no insertion stops for as long as it takes to move a million numbers.

const PARTS: usize = 32;
const SMALLEST: usize = 8;
const FREE: u32 = u32::MAX;

/// What is looked for: 128 bits of a good hash.
pub(super) type Mark = [u64; 2];

#[derive(Debug, Default)]
struct Part {
    /// Its length is a power of two. A number is at the place that its mark says, or behind it without a gap.
    places: Vec<u32>,
    used: usize,
}

/// Numbers by mark. Each operation is told how to get the mark of a number.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// None, or [`PARTS`].
    parts: Vec<Part>,
}

impl Marks {
    pub(super) fn find(&self, mark: Mark, mark_of: impl Fn(u32) -> Option<Mark>) -> Option<u32> {
        self.parts.get(part_of(mark))?.find(mark, mark_of).map(|(_, number)| number)
    }

    /// Puts in a number, other than the largest that there is, whose mark is not there yet.
    pub(super) fn insert(&mut self, mark: Mark, number: u32, mark_of: impl Fn(u32) -> Option<Mark>) {
        if self.parts.is_empty() {
            self.parts.resize_with(PARTS, Part::default);
        }
        if let Some(part) = self.parts.get_mut(part_of(mark)) {
            part.insert(mark, number, mark_of);
        }
    }

    pub(super) fn remove(&mut self, mark: Mark, mark_of: impl Fn(u32) -> Option<Mark>) {
        if let Some(part) = self.parts.get_mut(part_of(mark)) {
            part.remove(mark, mark_of);
        }
    }

    pub(super) fn clear(&mut self) {
        self.parts = Vec::new();
    }
}

impl Part {
    fn home(&self, mark: Mark) -> usize {
        usize::try_from(mark[1] & (self.places.len() as u64 - 1)).unwrap_or(0)
    }

    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// Where a mark is, and its number.
    fn find(&self, mark: Mark, mark_of: impl Fn(u32) -> Option<Mark>) -> Option<(usize, u32)> {
        if self.places.is_empty() {
            return None;
        }
        let mut place = self.home(mark);
        loop {
            match self.places.get(place).copied()? {
                FREE => return None,
                number if mark_of(number) == Some(mark) => return Some((place, number)),
                _ => place = self.next(place),
            }
        }
    }

    fn insert(&mut self, mark: Mark, number: u32, mark_of: impl Fn(u32) -> Option<Mark>) {
        if (self.used + 1) * 4 > self.places.len() * 3 {
            let longer = vec![FREE; (self.places.len() * 2).max(SMALLEST)];
            for number in std::mem::replace(&mut self.places, longer) {
                if let Some(mark) = mark_of(number).filter(|_| number != FREE) {
                    self.put(mark, number);
                }
            }
        }
        self.put(mark, number);
        self.used += 1;
    }

    fn put(&mut self, mark: Mark, number: u32) {
        let mut place = self.home(mark);
        while self.places.get(place).is_some_and(|there| *there != FREE) {
            place = self.next(place);
        }
        if let Some(free) = self.places.get_mut(place) {
            *free = number;
        }
    }

    /// Leaves no gap: those behind the one that goes move up, unless they are at home.
    fn remove(&mut self, mark: Mark, mark_of: impl Fn(u32) -> Option<Mark>) {
        let Some((mut gap, _)) = self.find(mark, &mark_of) else {
            return;
        };
        self.used -= 1;
        let mut place = gap;
        loop {
            place = self.next(place);
            let number = self.places.get(place).copied().unwrap_or(FREE);
            let Some(mark) = mark_of(number).filter(|_| number != FREE) else {
                break;
            };
            let mask = self.places.len() - 1;
            let from_home = place.wrapping_sub(self.home(mark)) & mask;
            if from_home >= place.wrapping_sub(gap) & mask {
                self.places.swap(gap, place);
                gap = place;
            }
        }
        if let Some(gap) = self.places.get_mut(gap) {
            *gap = FREE;
        }
    }
}

fn part_of(mark: Mark) -> usize {
    usize::try_from(mark[0] >> 59).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::service::seed::{Seed, scramble};

    #[test]
    fn table_does_what_a_map_does_whatever_collides() {
        let mut chance = Seed(5).generator("marks");
        let mut table = Marks::default();
        let mut map = BTreeMap::new();
        let mark_of =
            |number: u32| (number != FREE).then(|| [u64::from(number % 2) << 59, u64::from(number % 17)]);
        for _ in 0..20_000 {
            let number = chance.u32(0..400);
            let mark = mark_of(number).unwrap();
            assert_eq!(table.find(mark, mark_of), map.get(&mark).copied());
            if map.remove(&mark).is_some() {
                table.remove(mark, mark_of);
            } else {
                map.insert(mark, number);
                table.insert(mark, number, mark_of);
            }
        }
        assert!(!map.is_empty());
    }

    #[test]
    fn number_is_found_by_its_mark_among_a_hundred_thousand() {
        let mark_of = |number: u32| Some([scramble(number.into()), scramble(!u64::from(number))]);
        let mut table = Marks::default();
        for number in 0..100_000 {
            table.insert(mark_of(number).unwrap(), number, mark_of);
        }
        for number in (0..100_000).step_by(3) {
            table.remove(mark_of(number).unwrap(), mark_of);
        }
        for number in 0..100_000 {
            let expected = (number % 3 != 0).then_some(number);
            assert_eq!(table.find(mark_of(number).unwrap(), mark_of), expected);
        }
        table.clear();
        assert_eq!(table.find(mark_of(1).unwrap(), mark_of), None);
    }
}
