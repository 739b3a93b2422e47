//! Which messages were sent already: deduplication ids of the last five minutes.
//!
//! Source: the page `using-messagededuplicationid-property.html` of the developer guide,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/>

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use sqs_client::wire::limits;

use super::attributes::DeduplicationScope;
use super::marks::{Mark, Marks};
use crate::service::clock::Timestamp;

const WINDOW: Duration = Duration::from_secs(limits::DEDUPLICATION_SECONDS);

/// The largest number of an id.
const NUMBERS: u32 = u32::MAX >> 1;

/// An id of the window. It is kept as 128 bits: a million ids take an eighth of the memory that their texts would, and
/// two different ids of one queue are taken for the same with a probability of about one in 2^88 for a million ids.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    mark: Mark,
    /// When it is forgotten.
    pub forget: Timestamp,
    /// The ticket of the original.
    pub ticket: u64,
}

/// Ids with their originals. An id is forgotten five minutes after its first accepted send; duplicates, receives
/// and deletes change nothing in that.
#[derive(Debug)]
pub(super) struct Deduplication {
    /// The scope at creation: AWS goes on by it when the attribute is changed later.
    scope: DeduplicationScope,
    /// Makes the marks of one queue different from those of others, so that nobody can prepare ids that collide.
    key: u64,
    /// The oldest first.
    known: VecDeque<Known>,
    /// The number of the first of `known`; numbers start again after the last.
    first: u32,
    /// The numbers of `known` by mark.
    numbers: Marks,
}

impl Deduplication {
    /// What it takes of memory to remember an id, with the free places of lists that grow.
    pub(super) const BYTES: usize = size_of::<Known>() + 32;

    pub(super) fn new(scope: DeduplicationScope, key: u64) -> Self {
        Self { scope, key, known: VecDeque::new(), first: 0, numbers: Marks::default() }
    }

    /// The ticket of the message that an id stands for. When there is none, and `check` has no objection, the id stands
    /// for `ticket` from now on.
    ///
    /// # Errors
    /// That of `check`.
    pub(super) fn original<E>(
        &mut self,
        now: Timestamp,
        (group, id): (&str, &str),
        ticket: u64,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        self.forget(now);
        let mark = self.mark(group, id);
        let get = |number| self.known.get(place(number, self.first));
        if let Some(number) = self.numbers.find(mark, |number| get(number).map(|known| known.mark)) {
            return Ok(get(number).map(|known| known.ticket));
        }
        check()?;
        self.remember(Known { mark, forget: now + WINDOW, ticket });
        Ok(None)
    }

    fn remember(&mut self, id: Known) {
        let Self { known, first, numbers, .. } = self;
        // Two thousand million ids of five minutes do not fit into memory.
        let number = first.wrapping_add(u32::try_from(known.len()).unwrap_or(u32::MAX)) & NUMBERS;
        numbers.insert(id.mark, number, |number| Some(known.get(place(number, *first))?.mark));
        known.push_back(id);
    }

    /// The scope at creation.
    #[cfg(test)]
    pub(super) fn scope(&self) -> DeduplicationScope {
        self.scope
    }

    /// All ids, the oldest first.
    #[cfg(test)]
    pub(super) fn known(&self) -> Vec<Known> {
        self.known.iter().copied().collect()
    }

    /// Remembers the ids of an earlier process.
    #[cfg(test)]
    pub(super) fn restore(&mut self, scope: DeduplicationScope, known: Vec<Known>) {
        self.scope = scope;
        for known in known {
            self.remember(known);
        }
    }

    /// The id that was remembered last.
    pub(super) fn latest(&self) -> Option<Known> {
        self.known.back().copied()
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.known.len() * Self::BYTES
    }

    pub(super) fn clear(&mut self) {
        self.known = VecDeque::new();
        self.numbers.clear();
    }

    /// Forgets what is too old, and the places for it with the last.
    pub(super) fn forget(&mut self, now: Timestamp) {
        while let Some(mark) = self.known.front().filter(|known| known.forget <= now).map(|known| known.mark)
        {
            let Self { known, first, numbers, .. } = self;
            numbers.remove(mark, |number| Some(known.get(place(number, *first))?.mark));
            known.pop_front();
            *first = first.wrapping_add(1) & NUMBERS;
            if known.is_empty() {
                *known = VecDeque::new();
                numbers.clear();
            }
        }
    }

    fn mark(&self, group: &str, id: &str) -> Mark {
        let group = (self.scope == DeduplicationScope::MessageGroup).then_some(group);
        [self.key, !self.key].map(|key| {
            let mut hasher = DefaultHasher::new();
            (key, group, id).hash(&mut hasher);
            hasher.finish()
        })
    }
}

/// Where a number is among those from `first` on.
fn place(number: u32, first: u32) -> usize {
    (number.wrapping_sub(first) & NUMBERS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_known_for_five_minutes_also_where_numbers_start_again() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        let mut known = Deduplication::new(DeduplicationScope::Queue, 1);
        known.first = NUMBERS - 50;
        for second in 0..1000 {
            let id = |second: u64| format!("id {second}");
            let original = |known: &mut Deduplication, group, number, ticket| {
                known.original(at(second), (group, &id(number)), ticket, || Ok::<_, ()>(()))
            };
            assert_eq!(original(&mut known, "g", second, second), Ok(None));
            let oldest = second.saturating_sub(299);
            assert_eq!(original(&mut known, "h", oldest, 0), Ok(Some(oldest)));
            let count = usize::try_from(second - oldest + 1).unwrap();
            assert_eq!((known.known.len(), known.stored_bytes()), (count, count * Deduplication::BYTES));
        }
        assert!(known.first < 1000);
    }

    #[test]
    fn refused_id_is_not_remembered() {
        let mut known = Deduplication::new(DeduplicationScope::Queue, 1);
        let now = Timestamp::from_millis(0);
        assert_eq!(known.original(now, ("g", "id"), 1, || Err("full")), Err("full"));
        assert_eq!((known.original(now, ("g", "id"), 2, || Ok::<_, ()>(()))), Ok(None));
        assert_eq!(known.original(now, ("g", "id"), 3, || Err("full")), Ok(Some(2)));
    }
}
