//! Accepted and received messages, and the rules for them.

use std::sync::Mutex;
use std::time::Duration;

use sqs_client::types::Message;
use sqs_mock_server::clock::Timestamp;

use super::record::{Name, Record, number_of};
use super::tally::Tally;

/// The maximum number of violations that are kept.
const COMPLAINTS: usize = 100;

#[derive(Debug, Default)]
struct Lane {
    records: Vec<Record>,
    /// The next number that must be received for the first time.
    next: u64,
}

#[derive(Debug, Default)]
struct State {
    lanes: Vec<Lane>,
    tally: Tally,
    wrong: Vec<String>,
}

/// The ledger of one queue.
#[derive(Debug)]
pub(super) struct Ledger {
    queue: &'static str,
    /// The visibility timeout of a FIFO queue, which has strict rules.
    strict: Option<Duration>,
    state: Mutex<State>,
}

impl Ledger {
    pub(super) fn new(queue: &'static str, strict: Option<Duration>, lanes: usize) -> Self {
        let lanes = std::iter::repeat_with(Lane::default).take(lanes).collect();
        Self { queue, strict, state: Mutex::new(State { lanes, ..State::default() }) }
    }

    /// A send was confirmed.
    pub(super) fn accepted(&self, name: &Name, message_id: &str) {
        let mut state = self.state.lock().expect("not poisoned");
        state.record(name).accepted = Some(number_of(message_id));
        state.tally.accepted += 1;
    }

    /// Entries were sent without a confirmation.
    pub(super) fn in_doubt(&self, entries: u64) {
        self.state.lock().expect("not poisoned").tally.in_doubt += entries;
    }

    /// A response with these messages has arrived.
    pub(super) fn received(&self, messages: &[Message], asked: Timestamp, answered: Timestamp) {
        let mut state = self.state.lock().expect("not poisoned");
        for message in messages {
            let name = Name::of(message);
            if let Some(visibility) = self.strict
                && let Err(wrong) = state.check(&name, asked, answered, visibility)
            {
                state.complain(format!("{}: {name}: {wrong}", self.queue));
            }
            state.arrived(&name, message.message_id().expect("an id"), asked);
        }
    }

    /// A delete was confirmed.
    pub(super) fn deleted(&self, name: &Name, confirmed: Timestamp) {
        let mut state = self.state.lock().expect("not poisoned");
        state.record(name).deleted.get_or_insert(confirmed);
    }

    pub(super) fn tally(&self) -> Tally {
        self.state.lock().expect("not poisoned").tally
    }

    /// All violations, once the queue is empty.
    pub(super) fn verdict(&self) -> Vec<String> {
        let state = self.state.lock().expect("not poisoned");
        let mut wrong = state.wrong.clone();
        for (lane, records) in state.lanes.iter().enumerate() {
            for (number, record) in records.records.iter().enumerate() {
                let verdict = record.verdict(self.strict.is_some());
                wrong.extend(
                    verdict.err().map(|verdict| format!("{}: {lane}:{number}: {verdict}", self.queue)),
                );
            }
        }
        if state.tally.copies > state.tally.in_doubt {
            wrong.push(format!("{}: more copies than doubts: {:?}", self.queue, state.tally));
        }
        wrong
    }
}

impl State {
    /// Keeps only the first violations, since errors tend to repeat.
    fn complain(&mut self, wrong: String) {
        if self.wrong.len() < COMPLAINTS {
            self.wrong.push(wrong);
        }
    }

    fn record(&mut self, name: &Name) -> &mut Record {
        let records = &mut self.lanes[name.lane].records;
        let place = usize::try_from(name.number).expect("a number that fits into memory");
        if records.len() <= place {
            records.resize_with(place + 1, Record::default);
        }
        &mut records[place]
    }

    /// The rules of a FIFO queue for one delivery.
    fn check(
        &mut self,
        name: &Name,
        asked: Timestamp,
        answered: Timestamp,
        visibility: Duration,
    ) -> Result<(), String> {
        let next = self.lanes[name.lane].next;
        let record = self.record(name);
        if let Some(deleted) = record.deleted
            && asked > deleted
        {
            return Err(format!("came at {asked}, but was deleted at {deleted}"));
        }
        if record.deliveries == 0 && name.number != next {
            return Err(format!("came before {next}, which is before it in its group"));
        }
        let hidden_until = record.asked + visibility;
        if record.deliveries > 0 && answered < hidden_until {
            return Err(format!("came again at {answered}, but was hidden until {hidden_until} at least"));
        }
        Ok(())
    }

    fn arrived(&mut self, name: &Name, message_id: &str, asked: Timestamp) {
        let id = number_of(message_id);
        let record = self.record(name);
        record.deliveries += 1;
        record.asked = asked;
        let (is_first, is_copy) = (record.copies.is_empty(), !record.copies.contains(&id));
        if is_copy {
            record.copies.push(id);
        }
        self.lanes[name.lane].next += u64::from(is_first);
        self.tally.deliveries += 1;
        self.tally.arrived += u64::from(is_first);
        self.tally.copies += u64::from(is_copy && !is_first);
    }
}
