//! How many messages may be asked for: never more than can be run or kept.

use sqs_client::wire::limits::RECEIVE_MESSAGES;

/// Receives of one receiver at a time.
const MOST_RECEIVES: usize = 10;

/// The account of one receiver: messages asked for, and messages here until they are settled. A message that is done and
/// is being deleted makes room for the next, but no more than the total are deleted that way at a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Credits {
    total: usize,
    requested: usize,
    held: usize,
    deleting: usize,
    receives: usize,
}

impl Credits {
    /// An account of so many messages.
    pub(crate) fn new(total: usize) -> Self {
        Self { total, requested: 0, held: 0, deleting: 0, receives: 0 }
    }

    /// Begins a receive, and says for how many messages it asks; `None` when there is to be none now.
    ///
    /// A receive for each ten that are free is enough: one that asked for few and waits keeps others from asking for
    /// few as well, and where messages come, it ends soon.
    pub(crate) fn ask(&mut self) -> Option<usize> {
        let unheld = self.total.saturating_sub(self.held);
        let free = unheld.saturating_sub(self.requested);
        let receives = unheld.div_ceil(most_messages()).min(MOST_RECEIVES);
        if free == 0 || self.receives >= receives {
            return None;
        }
        let asked = free.min(most_messages());
        self.requested += asked;
        self.receives += 1;
        Some(asked)
    }

    /// Ends a receive that asked for `asked` and got `got` messages.
    pub(crate) fn answered(&mut self, asked: usize, got: usize) {
        self.requested = self.requested.saturating_sub(asked);
        self.receives = self.receives.saturating_sub(1);
        self.held += got;
    }

    /// One message makes room for another while it is deleted. Says whether it may.
    pub(crate) fn make_room(&mut self) -> bool {
        let may = self.deleting < self.total && self.held > 0;
        self.held -= usize::from(may);
        self.deleting += usize::from(may);
        may
    }

    /// One message is settled, which made room before or did not.
    pub(crate) fn settled(&mut self, made_room: bool) {
        let count = if made_room { &mut self.deleting } else { &mut self.held };
        *count = count.saturating_sub(1);
    }

    /// Messages that are here and not settled.
    pub(crate) fn held(&self) -> usize {
        self.held + self.deleting
    }

    /// Receives under way.
    pub(crate) fn receives(&self) -> usize {
        self.receives
    }
}

fn most_messages() -> usize {
    usize::try_from(*RECEIVE_MESSAGES.end()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_receive_asks_for_what_is_free_and_at_most_ten() {
        let mut credits = Credits::new(13);
        assert_eq!((credits.ask(), credits.ask(), credits.ask()), (Some(10), Some(3), None));
        credits.answered(10, 2);
        assert_eq!(credits.ask(), Some(8), "eleven are not held, so two receives may run");
    }

    #[test]
    fn nothing_is_asked_for_without_credit() {
        let mut credits = Credits::new(2);
        assert_eq!(credits.ask(), Some(2));
        credits.answered(2, 2);
        assert_eq!(credits.ask(), None);
        credits.settled(false);
        assert_eq!(credits.ask(), Some(1));
    }

    #[test]
    fn messages_that_are_deleted_make_room_as_long_as_they_are_no_more_than_the_total() {
        let mut credits = Credits::new(2);
        for _ in 0..2 {
            assert_eq!(credits.ask(), Some(2));
            credits.answered(2, 2);
            let room = [credits.make_room(), credits.make_room()];
            if room == [false, false] {
                assert_eq!((credits.held(), credits.ask()), (4, None));
                credits.settled(true);
                assert!(credits.make_room());
                assert_eq!(credits.ask(), Some(1));
                return;
            }
        }
        panic!("four messages are here");
    }

    #[test]
    fn there_are_at_most_ten_receives() {
        let mut credits = Credits::new(1_000);
        let asked: Vec<_> = std::iter::from_fn(|| credits.ask()).collect();
        assert_eq!(asked, [10; 10]);
    }

    #[derive(Clone, Debug)]
    enum Event {
        Ask,
        /// Which receive, and how much of what it asked for it gets, in percent.
        Answer(prop::sample::Index, usize),
        Settle,
        MakeRoom,
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let answer = (any::<prop::sample::Index>(), 0_usize..=100);
        let event = prop_oneof![
            Just(Event::Ask),
            answer.prop_map(|(which, percent)| Event::Answer(which, percent)),
            Just(Event::Settle),
            Just(Event::MakeRoom),
        ];
        prop::collection::vec(event, 0..400)
    }

    proptest! {
        /// D3.1, against a plain account of every receive and message.
        #[test]
        fn what_is_asked_for_and_held_never_exceeds_the_total(total in 0_usize..200, events in events()) {
            let mut credits = Credits::new(total);
            let (mut under_way, mut held, mut deleting): (Vec<usize>, usize, usize) = (Vec::new(), 0, 0);
            for event in events {
                match event {
                    Event::Ask => {
                        let requested: usize = under_way.iter().sum();
                        let free = total - held - requested;
                        if let Some(asked) = credits.ask() {
                            prop_assert_eq!(asked, free.min(10));
                            prop_assert!(asked > 0);
                            under_way.push(asked);
                            prop_assert!(under_way.len() <= (total - held).div_ceil(10).min(10));
                        } else {
                            prop_assert!(free == 0 || under_way.len() >= (total - held).div_ceil(10).min(10));
                        }
                    }
                    Event::Answer(which, percent) if !under_way.is_empty() => {
                        let asked = under_way.swap_remove(which.index(under_way.len()));
                        credits.answered(asked, asked * percent / 100);
                        held += asked * percent / 100;
                    }
                    Event::Settle if deleting > 0 => {
                        credits.settled(true);
                        deleting -= 1;
                    }
                    Event::Settle if held > 0 => {
                        credits.settled(false);
                        held -= 1;
                    }
                    Event::MakeRoom if held > 0 => {
                        let may = credits.make_room();
                        prop_assert_eq!(may, deleting < total);
                        held -= usize::from(may);
                        deleting += usize::from(may);
                    }
                    Event::Answer(..) | Event::Settle | Event::MakeRoom => {}
                }
                prop_assert!(deleting <= total);
                prop_assert!(held + under_way.iter().sum::<usize>() <= total);
                prop_assert_eq!((credits.held(), credits.receives()), (held + deleting, under_way.len()));
            }
            // No deadlock: what is not held can be asked for once the receives have ended.
            for asked in under_way {
                credits.answered(asked, 0);
            }
            prop_assert_eq!(credits.ask().is_some(), held < total);
        }
    }
}
