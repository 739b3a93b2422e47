//! A queue as one would write it down without a thought for speed: lists, and scans over them.

use super::Timestamp;
use std::time::Duration;

const WINDOW: Duration = Duration::from_mins(5);
pub(super) const GROUPS: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Available,
    Delayed(Timestamp),
    InFlight(Timestamp),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) ticket: u64,
    pub(super) group: u8,
    pub(super) state: State,
    pub(super) receives: u32,
    born: Timestamp,
    received: Timestamp,
    turn: u64,
}

#[derive(Debug, Default)]
pub(super) struct Naive {
    pub(super) fifo: bool,
    retention: Duration,
    delay: Duration,
    /// How often a message is delivered at most.
    most: u32,
    /// Oldest first.
    pub(super) messages: Vec<Message>,
    sent: u64,
    turns: u64,
    ready: Vec<u8>,
    known: Vec<(Timestamp, u8, u64)>,
}

impl Naive {
    pub(super) fn new(fifo: bool, retention: Duration, most: u32) -> Self {
        Self { fifo, retention, most, ..Self::default() }
    }

    pub(super) fn settle(&mut self, now: Timestamp) {
        while let Some(old) = self.messages.iter().position(|message| message.born + self.retention <= now) {
            self.remove(old);
        }
        while let Some(at) = self.first_due(now) {
            self.set(at, State::Available);
        }
    }

    fn first_due(&self, now: Timestamp) -> Option<usize> {
        let due = |message: &Message| match message.state {
            State::Delayed(until) | State::InFlight(until) if until <= now => Some((until, message.ticket)),
            _ => None,
        };
        let (_, at) =
            self.messages.iter().enumerate().filter_map(|(at, message)| Some((due(message)?, at))).min()?;
        Some(at)
    }

    /// The ticket of the message, perhaps that of an earlier one.
    pub(super) fn send(&mut self, now: Timestamp, group: u8, content: u8, delay: Duration) -> u64 {
        self.settle(now);
        self.known.retain(|(sent, ..)| now < *sent + WINDOW);
        if let Some((.., ticket)) = self.known.iter().find(|known| self.fifo && known.1 == content) {
            return *ticket;
        }
        let ticket = self.sent;
        self.sent += 1;
        self.known.push((now, content, ticket));
        let delay = if self.fifo { self.delay } else { delay };
        let state = if delay.is_zero() { State::Available } else { State::Delayed(now + delay) };
        self.turns += 1;
        let turn = self.turns;
        self.messages.push(Message { ticket, group, state, receives: 0, born: now, received: now, turn });
        self.refresh();
        ticket
    }

    /// Tickets of the messages delivered, and of the dead letters.
    pub(super) fn receive(&mut self, now: Timestamp, at_most: usize, timeout: Duration) -> [Vec<u64>; 2] {
        self.settle(now);
        let [mut taken, mut dead] = [Vec::new(), Vec::new()];
        while taken.len() < at_most {
            let batch = self.next();
            if batch.is_empty() {
                break;
            }
            for ticket in batch {
                let Some(at) = self.find(ticket).filter(|_| taken.len() < at_most) else { break };
                if self.messages[at].receives >= self.most {
                    dead.push(ticket);
                    self.remove(at);
                    continue;
                }
                self.messages[at].receives += 1;
                self.messages[at].received = now;
                self.set(at, State::InFlight(now + timeout));
                taken.push(ticket);
            }
        }
        self.settle(now);
        [taken, dead]
    }

    /// What comes next: one message, or on a FIFO queue all that the next group can give.
    fn next(&self) -> Vec<u64> {
        let available = |message: &&Message| message.state == State::Available;
        if !self.fifo {
            let first = self.messages.iter().filter(available).min_by_key(|message| message.turn);
            return first.map(|message| message.ticket).into_iter().collect();
        }
        let Some(group) = self.ready.first() else { return Vec::new() };
        let members = self.messages.iter().filter(|message| message.group == *group);
        members.take_while(available).map(|message| message.ticket).collect()
    }

    /// A group is ready when its first message is available; one that becomes so comes last.
    fn refresh(&mut self) {
        let is_ready = |group: u8| {
            let first = self.messages.iter().find(|message| message.group == group);
            first.is_some_and(|message| message.state == State::Available)
        };
        let mut ready = self.ready.clone();
        ready.retain(|group| is_ready(*group));
        let new: Vec<u8> = (0..GROUPS).filter(|group| is_ready(*group) && !ready.contains(group)).collect();
        ready.extend(new);
        self.ready = ready;
    }

    pub(super) fn delete(&mut self, now: Timestamp, ticket: u64, receive: u32) -> bool {
        self.settle(now);
        let Some(at) = self.find(ticket) else { return true };
        let message = self.messages[at];
        let latest = message.receives == receive;
        let in_flight = matches!(message.state, State::InFlight(_));
        if latest && (in_flight || !self.fifo) {
            self.remove(at);
            return true;
        }
        !self.fifo
    }

    pub(super) fn hide(&mut self, now: Timestamp, ticket: u64, receive: u32, timeout: Duration) -> bool {
        self.settle(now);
        let Some(at) = self.find(ticket) else { return false };
        let message = self.messages[at];
        if self.fifo && !(message.receives == receive && matches!(message.state, State::InFlight(_))) {
            return true;
        }
        if !timeout.is_zero() && now.saturating_since(message.received) + timeout > Duration::from_hours(12) {
            return false;
        }
        let hidden = State::InFlight(now + timeout);
        self.set(at, if timeout.is_zero() { State::Available } else { hidden });
        true
    }

    pub(super) fn set_delay(&mut self, now: Timestamp, delay: Duration) {
        self.settle(now);
        let changed = std::mem::replace(&mut self.delay, delay) != delay;
        let affected = if changed && self.fifo { self.messages.len() } else { 0 };
        for at in (0..affected).rev() {
            let until = self.messages[at].born + delay;
            if self.messages[at].receives == 0 {
                self.set(at, if until > now { State::Delayed(until) } else { State::Available });
            }
        }
    }

    pub(super) fn purge(&mut self) {
        self.messages.clear();
        self.ready.clear();
        self.known.clear();
    }

    fn find(&self, ticket: u64) -> Option<usize> {
        self.messages.iter().position(|message| message.ticket == ticket)
    }

    fn remove(&mut self, at: usize) {
        self.messages.remove(at);
        self.refresh();
    }

    fn set(&mut self, at: usize, state: State) {
        let message = &mut self.messages[at];
        if state == State::Available && message.state != state {
            self.turns += 1;
            message.turn = self.turns;
        }
        message.state = state;
        self.refresh();
    }
}
