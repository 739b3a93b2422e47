//! The records of a store in memory. Pure: time is a parameter.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use super::store::Begin;
use crate::consume::Attempt;
use crate::time::after;

/// The records of a store in memory: at most `capacity`. `by_end` has them in the order of their ends.
#[derive(Debug)]
pub(super) struct Records {
    capacity: usize,
    time_to_live: Duration,
    by_key: HashMap<String, Record>,
    by_end: BTreeMap<End, String>,
    /// Distinguishes records that end at the same time.
    next: u64,
}

type End = (Instant, u64);

#[derive(Debug)]
struct Record {
    attempt: String,
    is_completed: bool,
    end: End,
}

/// All records are in progress, and there is no room for another.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Full;

impl Records {
    pub(super) fn new(capacity: usize, time_to_live: Duration) -> Self {
        let capacity = capacity.max(1);
        Self { capacity, time_to_live, by_key: HashMap::new(), by_end: BTreeMap::new(), next: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn begin(&mut self, now: Instant, attempt: &Attempt, lease: Duration) -> Result<Begin, Full> {
        self.forget_ended(now);
        match self.by_key.get(attempt.key()) {
            Some(record) if record.is_completed => return Ok(Begin::Completed),
            Some(record) if record.attempt != attempt.id() => {
                return Ok(Begin::InProgress { remaining: record.end.0.saturating_duration_since(now) });
            }
            Some(_) => {}
            None => self.make_room()?,
        }
        self.put(attempt, false, after(now, lease));
        Ok(Begin::Started)
    }

    /// Says whether the record is completed by this attempt. If its time is over and no other attempt has begun, the record is
    /// written again: the effect has happened.
    pub(super) fn complete(&mut self, now: Instant, attempt: &Attempt) -> bool {
        self.forget_ended(now);
        match self.by_key.get(attempt.key()) {
            Some(record) if record.attempt != attempt.id() => return false,
            Some(record) if record.is_completed => return true,
            Some(_) => {}
            None => {
                if self.make_room().is_err() {
                    return false;
                }
            }
        }
        self.put(attempt, true, after(now, self.time_to_live));
        true
    }

    pub(super) fn abandon(&mut self, attempt: &Attempt) {
        let holds = |record: &Record| record.attempt == attempt.id() && !record.is_completed;
        if self.by_key.get(attempt.key()).is_some_and(holds) {
            self.remove(attempt.key());
        }
    }

    fn put(&mut self, attempt: &Attempt, is_completed: bool, end: Instant) {
        self.remove(attempt.key());
        let end = (end, self.next);
        self.next += 1;
        self.by_end.insert(end, attempt.key().to_owned());
        let record = Record { attempt: attempt.id().to_owned(), is_completed, end };
        self.by_key.insert(attempt.key().to_owned(), record);
    }

    fn remove(&mut self, key: &str) {
        if let Some(record) = self.by_key.remove(key) {
            self.by_end.remove(&record.end);
        }
    }

    fn forget_ended(&mut self, now: Instant) {
        while let Some(first) = self.by_end.first_entry().filter(|first| first.key().0 <= now) {
            self.by_key.remove(&first.remove());
        }
    }

    /// If there is no room, forgets the oldest completed record. There are at most as many records in progress as
    /// running handlers.
    fn make_room(&mut self) -> Result<(), Full> {
        if self.len() < self.capacity {
            return Ok(());
        }
        let is_completed = |key: &&String| self.by_key.get(*key).is_some_and(|record| record.is_completed);
        let oldest = self.by_end.values().find(is_completed).cloned().ok_or(Full)?;
        self.remove(&oldest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn in_progress(seconds: u64) -> Begin {
        Begin::InProgress { remaining: Duration::from_secs(seconds) }
    }

    #[test]
    fn second_attempt_waits_for_the_lease_of_the_first_and_then_takes_over() {
        let (mut records, now) = (Records::new(10, LEASE), Instant::now());
        let (first, second) = (Attempt::new("a"), Attempt::new("a"));
        let at = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(records.begin(now, &first, LEASE), Ok(Begin::Started));
        assert_eq!(records.begin(at(10), &second, LEASE), Ok(in_progress(20)));
        assert_eq!(records.begin(at(20), &first, LEASE), Ok(Begin::Started), "renewed");
        assert_eq!(records.begin(at(30), &second, LEASE), Ok(in_progress(20)));
        assert_eq!(records.begin(at(50), &second, LEASE), Ok(Begin::Started));
        assert_eq!(records.begin(at(51), &first, LEASE), Ok(in_progress(29)));
        assert!(!records.complete(at(51), &first), "it belongs to the second");
        records.abandon(&first);
        assert!(records.complete(at(52), &second));
        assert!(records.complete(at(53), &second), "once more");
        records.abandon(&second);
        assert_eq!(records.begin(at(54), &first, LEASE), Ok(Begin::Completed));
    }

    #[test]
    fn abandoned_and_forgotten_keys_start_again() {
        let (mut records, now) = (Records::new(10, LEASE), Instant::now());
        let attempt = Attempt::new("a");
        assert_eq!(records.begin(now, &attempt, LEASE), Ok(Begin::Started));
        records.abandon(&attempt);
        assert_eq!(records.len(), 0);
        let attempt = Attempt::new("a");
        assert_eq!(records.begin(now, &attempt, LEASE), Ok(Begin::Started));
        assert!(records.complete(now, &attempt));
        let late = now + LEASE;
        assert_eq!(records.begin(late, &Attempt::new("a"), LEASE), Ok(Begin::Started));
    }

    #[test]
    fn attempt_whose_time_is_over_is_completed_unless_another_has_begun() {
        let (mut records, now) = (Records::new(10, LEASE), Instant::now());
        let attempt = Attempt::new("a");
        assert_eq!(records.begin(now, &attempt, LEASE), Ok(Begin::Started));
        let late = now + 2 * LEASE;
        assert!(records.complete(late, &attempt));
        assert_eq!(records.begin(late, &Attempt::new("a"), LEASE), Ok(Begin::Completed));
    }

    #[test]
    fn full_store_forgets_the_oldest_completed_key_and_none_in_progress() {
        let (mut records, now) = (Records::new(3, 10 * LEASE), Instant::now());
        let attempts: Vec<_> = ["a", "b", "c", "d", "e"].map(Attempt::new).into();
        for attempt in &attempts[..3] {
            assert_eq!(records.begin(now, attempt, LEASE), Ok(Begin::Started));
        }
        assert_eq!(records.begin(now, &attempts[3], LEASE), Err(Full));
        assert!(records.complete(now, &attempts[1]) && records.complete(now, &attempts[0]));
        assert_eq!(records.begin(now, &attempts[3], LEASE), Ok(Begin::Started));
        assert_eq!(records.begin(now, &Attempt::new("a"), LEASE), Ok(Begin::Completed));
        assert_eq!(records.begin(now, &attempts[4], LEASE), Ok(Begin::Started), "`b` was forgotten");
        assert_eq!(records.begin(now, &Attempt::new("b"), LEASE), Err(Full));
    }

    proptest! {
        #[test]
        fn indexes_agree_and_stay_within_the_capacity(
            steps in prop::collection::vec((0_usize..4, 0_usize..6, 0_u64..40), 1..200),
        ) {
            let (mut records, mut now) = (Records::new(4, LEASE), Instant::now());
            let attempts: Vec<_> = (0..6).map(|number| Attempt::new((number / 2).to_string())).collect();
            for (what, who, seconds) in steps {
                let attempt = &attempts[who];
                match what {
                    0 => drop(records.complete(now, attempt)),
                    1 => records.abandon(attempt),
                    2 => now += Duration::from_secs(seconds),
                    _ => drop(records.begin(now, attempt, LEASE)),
                }
                prop_assert!(records.len() <= 4);
                prop_assert_eq!(records.by_end.len(), records.len());
                for (end, key) in &records.by_end {
                    prop_assert_eq!(records.by_key[key].end, *end);
                }
            }
        }
    }
}
