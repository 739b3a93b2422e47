//! Fair tenants, naive: all landings are stored, and summed up on demand.

use super::*;
use crate::sqs::engine::queue::tests::model::naive::Message;
use crate::sqs::engine::queue::tests::model::naive::State;

#[derive(Clone, Copy, Debug)]
struct Landing {
    at: Timestamp,
    group: u8,
    spent: Duration,
    /// The tenant has had no messages since.
    forgotten: bool,
}

#[derive(Debug, Default)]
pub(super) struct Noise {
    landings: Vec<Landing>,
    noisy: Vec<u8>,
    last_send: [Timestamp; GROUPS as usize],
}

impl Noise {
    pub(super) fn sends(&mut self, now: Timestamp, group: u8) {
        self.last_send[usize::from(group)] = now;
    }

    /// Records that the state of a message changed, or that it was removed; `left` has all remaining messages.
    pub(super) fn changes(&mut self, now: Timestamp, old: &Message, new: Option<State>, left: &[Message]) {
        let group = old.group;
        let extended = matches!(new, Some(State::InFlight(_)));
        if let Some(spent) = old.spent(now).filter(|_| !extended) {
            self.landings.push(Landing { at: now, group, spent, forgotten: false });
        }
        let mut members = left.iter().filter(|message| message.group == group);
        if !members.clone().any(|message| message.state == State::Available) {
            self.noisy.retain(|noisy| *noisy != group);
        }
        if members.next().is_none() {
            for landing in self.landings.iter_mut().filter(|landing| landing.group == group) {
                landing.forgotten = true;
            }
        }
    }

    /// All messages were removed at once. Their processing time still counts in the total, but not for any tenant.
    pub(super) fn purged(&mut self) {
        self.landings.iter_mut().for_each(|landing| landing.forgotten = true);
        self.noisy.clear();
    }

    pub(super) fn restart(&mut self, now: Timestamp) {
        *self = Self { last_send: [now; GROUPS as usize], ..Self::default() };
    }

    pub(super) fn next(&mut self, now: Timestamp, messages: &[Message]) -> Option<u64> {
        let last_send = self.last_send;
        self.noisy.retain(|group| now < last_send[usize::from(*group)] + Duration::from_mins(5));
        loop {
            let available = messages.iter().filter(|message| message.state == State::Available);
            let noisy = |message: &Message| self.noisy.contains(&message.group);
            let first = available.min_by_key(|message| (noisy(message), message.turn()))?;
            if noisy(first) || !self.is_too_noisy(now, first.group) {
                return Some(first.ticket);
            }
            self.noisy.push(first.group);
        }
    }

    /// There are never 30 messages in flight in this model.
    fn is_too_noisy(&self, now: Timestamp, group: u8) -> bool {
        let part = |at: Timestamp| at.as_millis() / 150_000;
        let recent = || self.landings.iter().filter(|landing| part(landing.at) + 1 >= part(now));
        let total: Duration = recent().map(|landing| landing.spent).sum();
        let own = recent().filter(|landing| landing.group == group && !landing.forgotten);
        let own: Duration = own.map(|landing| landing.spent).sum();
        let sends = now < self.last_send[usize::from(group)] + Duration::from_mins(5);
        sends && own >= Duration::from_secs(30) && own * 10 > total
    }
}
