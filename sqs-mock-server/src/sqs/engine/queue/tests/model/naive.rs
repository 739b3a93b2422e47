//! A queue written without regard to speed: lists, and scans over them.

use super::*;
use crate::sqs::engine::queue::tests::model::noise::Noise;
use crate::sqs::engine::queue::tests::model::pair::PastReceive;

const FIVE_MINUTES: Duration = Duration::from_mins(5);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Available,
    Delayed(Timestamp),
    InFlight(Timestamp),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) id: Uuid,
    pub(super) ticket: u64,
    pub(super) group: u8,
    pub(super) state: State,
    pub(super) receives: u32,
    receives_elsewhere: u32,
    has_source: bool,
    born: Timestamp,
    pub(super) received: Timestamp,
    turn: u64,
}

#[derive(Debug)]
struct Attempt {
    id: u8,
    made: Timestamp,
    until: Timestamp,
    given: Vec<(u64, u32)>,
}

/// What a receive with an attempt id does.
enum Replay {
    New,
    Same(Vec<Message>),
    Invalid,
}

#[derive(Debug)]
pub(super) struct Naive {
    pub(super) shape: Shape,
    pub(super) retention: Duration,
    delay: Duration,
    /// Maximum number of deliveries of a message.
    most: Option<u32>,
    /// Sorted by ticket.
    pub(super) messages: Vec<Message>,
    tickets: u64,
    turns: u64,
    ready: Vec<u8>,
    known: Vec<(Timestamp, Option<u8>, u8, Uuid)>,
    attempts: Vec<Attempt>,
    noise: Noise,
}

impl Naive {
    pub(super) fn new(shape: Shape, most: Option<u32>) -> Self {
        Self {
            shape,
            retention: Duration::from_secs(100),
            delay: Duration::ZERO,
            most,
            messages: Vec::new(),
            tickets: 0,
            turns: 0,
            ready: Vec::new(),
            known: Vec::new(),
            attempts: Vec::new(),
            noise: Noise::default(),
        }
    }

    pub(super) fn settle(&mut self, now: Timestamp) {
        while let Some(old) = (0..self.messages.len())
            .filter(|at| self.messages[*at].born + self.retention <= now)
            .min_by_key(|at| (self.messages[*at].born, *at))
        {
            self.remove(now, old);
        }
        while let Some(at) = self.first_due(now) {
            self.set(now, at, State::Available);
        }
    }

    fn first_due(&self, now: Timestamp) -> Option<usize> {
        let due = |message: &Message| match message.state {
            State::Delayed(until) | State::InFlight(until) if until <= now => Some((until, message.ticket)),
            _ => None,
        };
        let dues = self.messages.iter().enumerate().filter_map(|(at, message)| Some((due(message)?, at)));
        dues.min().map(|(_, at)| at)
    }

    /// The original of a duplicate.
    pub(super) fn original(&mut self, now: Timestamp, group: u8, content: u8) -> Option<Uuid> {
        self.settle(now);
        self.known.retain(|(sent, ..)| now < *sent + FIVE_MINUTES);
        let scope = self.shape.by_group.then_some(group);
        let known = self.known.iter().find(|known| (known.1, known.2) == (scope, content))?;
        self.shape.fifo.then_some(known.3)
    }

    pub(super) fn send(&mut self, now: Timestamp, id: Uuid, group: u8, content: u8, delay: Duration) {
        self.known.push((now, self.shape.by_group.then_some(group), content, id));
        let delay = if self.shape.fifo { self.delay } else { delay };
        let state = if delay.is_zero() { State::Available } else { State::Delayed(now + delay) };
        self.put(Message { state, ..new(now, id, group) }, now);
    }

    pub(super) fn accept_dead_letter(&mut self, now: Timestamp, letter: Message) {
        self.settle(now);
        let born = if self.shape.fifo { now } else { letter.born };
        let receives_elsewhere = letter.receives;
        self.put(Message { born, receives_elsewhere, has_source: true, ..letter }, now);
    }

    pub(super) fn accept_moving(&mut self, now: Timestamp, id: Uuid, message: Message) {
        self.settle(now);
        self.put(new(now, id, message.group), now);
    }

    /// Appends a message.
    fn put(&mut self, message: Message, now: Timestamp) {
        let (ticket, turn) = (self.tickets, self.turns);
        self.tickets += 1;
        self.turns += 1;
        self.noise.sends(now, message.group);
        self.messages.push(Message { ticket, turn, received: now, ..message });
        self.refresh(message.group);
    }

    pub(super) fn take_back(&mut self, now: Timestamp, message: Message) {
        self.settle(now);
        self.noise.sends(now, message.group);
        let at = self.messages.partition_point(|other| other.ticket < message.ticket);
        self.messages.insert(at, Message { received: now, ..message });
        self.refresh(message.group);
    }

    pub(super) fn take_for_move(&mut self, now: Timestamp, anywhere: bool) -> Option<Message> {
        self.settle(now);
        let next = self.next(now)?;
        let at = self.find(next)?;
        (anywhere || self.messages[at].has_source).then(|| self.remove(now, at))
    }

    /// Delivered messages and dead letters; `None` if the attempt can no longer be retried.
    pub(super) fn receive(&mut self, now: Timestamp, request: &ReceiveParams) -> Option<[Vec<Message>; 2]> {
        self.settle(now);
        let until = now + Duration::from_secs(request.timeout);
        match request.attempt.map_or(Replay::New, |id| self.replay(now, id, until)) {
            Replay::New => {}
            Replay::Invalid => return None,
            Replay::Same(given) => {
                self.settle(now);
                return Some([given, Vec::new()]);
            }
        }
        let [mut taken, mut dead] = [Vec::new(), Vec::new()];
        let mut follower = None;
        while taken.len() < request.at_most && self.has_room() {
            let Some(at) = follower.take().or_else(|| self.next(now)).and_then(|next| self.find(next)) else {
                break;
            };
            follower = self.follower(at);
            let here = self.messages[at].receives - self.messages[at].receives_elsewhere;
            if self.most.is_some_and(|most| here >= most) {
                dead.push(self.remove(now, at));
                continue;
            }
            self.messages[at].receives += 1;
            self.messages[at].received = now;
            self.set(now, at, State::InFlight(until));
            taken.push(self.messages[at]);
        }
        if let (Some(id), false) = (request.attempt.filter(|_| self.shape.fifo), taken.is_empty()) {
            self.attempts.retain(|attempt| attempt.id != id);
            let given = taken.iter().map(|message| (message.ticket, message.receives)).collect();
            self.attempts.push(Attempt { id, made: now, until, given });
        }
        self.settle(now);
        Some([taken, dead])
    }

    fn has_room(&self) -> bool {
        let in_flight = |message: &&Message| matches!(message.state, State::InFlight(_));
        self.messages.iter().filter(in_flight).count() < self.shape.max_in_flight
    }

    fn replay(&mut self, now: Timestamp, id: u8, until: Timestamp) -> Replay {
        self.attempts.retain(|attempt| now < attempt.made + FIVE_MINUTES);
        let Some(attempt) = self.attempts.iter_mut().find(|attempt| attempt.id == id) else {
            return Replay::New;
        };
        let messages = &self.messages;
        let find = |(ticket, receives): &(u64, u32)| {
            let at = messages.iter().position(|message| message.ticket == *ticket)?;
            let state = messages[at].state;
            let is_held = messages[at].receives == *receives && matches!(state, State::InFlight(_));
            Some((at, is_held, is_held && state == State::InFlight(attempt.until)))
        };
        let Some(found) = attempt.given.iter().map(find).collect::<Option<Vec<_>>>() else {
            return Replay::Invalid;
        };
        if attempt.until <= now && found.iter().all(|(_, is_held, _)| !is_held) {
            return Replay::New;
        }
        if !found.iter().all(|(.., is_unchanged)| *is_unchanged) {
            return Replay::Invalid;
        }
        attempt.until = until;
        let places: Vec<_> = found.into_iter().map(|(at, ..)| at).collect();
        for at in &places {
            self.messages[*at].received = now;
            self.set(now, *at, State::InFlight(until));
        }
        Replay::Same(places.iter().map(|at| self.messages[*at]).collect())
    }

    /// The next message to deliver.
    fn next(&mut self, now: Timestamp) -> Option<u64> {
        if !self.shape.fifo {
            return self.noise.next(now, &self.messages);
        }
        let group = self.ready.first()?;
        self.messages.iter().find(|message| message.group == *group).map(|message| message.ticket)
    }

    /// The next message of the same group.
    fn follower(&self, at: usize) -> Option<u64> {
        let mut behind = self.messages[at + 1..].iter().filter(|_| self.shape.fifo);
        let next = behind.find(|message| message.group == self.messages[at].group)?;
        self.can_deliver(next).then_some(next.ticket)
    }

    fn can_deliver(&self, message: &Message) -> bool {
        let place = self.messages.iter().position(|other| other.ticket == message.ticket);
        let within = place < Some(self.shape.window);
        message.state == State::Available && within
    }

    /// A group is ready when its first message can be delivered; a group that becomes ready is appended.
    fn refresh(&mut self, changed: u8) {
        let is_ready = |group: u8| {
            let first = self.messages.iter().find(|message| message.group == group);
            first.is_some_and(|message| self.can_deliver(message))
        };
        let mut ready = self.ready.clone();
        ready.retain(|group| is_ready(*group));
        for group in std::iter::once(changed).chain(0..GROUPS) {
            if is_ready(group) && !ready.contains(&group) {
                ready.push(group);
            }
        }
        self.ready = ready;
    }

    fn refresh_one(&mut self, group: u8) {
        let first = self.messages.iter().find(|message| message.group == group);
        if first.is_some_and(|message| self.can_deliver(message)) && !self.ready.contains(&group) {
            self.ready.push(group);
        }
    }

    pub(super) fn delete(&mut self, now: Timestamp, was: &PastReceive) -> bool {
        self.settle(now);
        if self.has_expired(now, was) {
            return false;
        }
        if let Some(at) = self.find(was.ticket) {
            self.remove(now, at);
        }
        true
    }

    fn has_expired(&self, now: Timestamp, was: &PastReceive) -> bool {
        let is_old = was.received + Duration::from_hours(12) <= now;
        let message = self.find(was.ticket).map(|at| self.messages[at]);
        let is_lost = message.is_some_and(|message| {
            message.receives != was.number || !matches!(message.state, State::InFlight(_))
        });
        if self.shape.fifo { is_lost } else { is_old }
    }

    pub(super) fn hide(&mut self, now: Timestamp, was: &PastReceive, timeout: Duration) -> bool {
        self.settle(now);
        let Some(at) = self.find(was.ticket).filter(|_| !self.has_expired(now, was)) else { return false };
        let message = self.messages[at];
        if !timeout.is_zero() && now.saturating_since(message.received) + timeout > Duration::from_hours(12) {
            return false;
        }
        let hidden = State::InFlight(now + timeout);
        self.set(now, at, if timeout.is_zero() { State::Available } else { hidden });
        true
    }

    pub(super) fn set_delay(&mut self, now: Timestamp, delay: Duration) {
        self.settle(now);
        let changed = std::mem::replace(&mut self.delay, delay) != delay;
        let affected = if changed && self.shape.fifo { self.messages.len() } else { 0 };
        for at in (0..affected).rev() {
            let until = self.messages[at].born + delay;
            if self.messages[at].receives == 0 {
                self.set(now, at, if until > now { State::Delayed(until) } else { State::Available });
            }
        }
    }

    pub(super) fn set_retention(&mut self, now: Timestamp, retention: Duration) {
        self.settle(now);
        self.retention = retention;
        self.settle(now);
    }

    pub(super) fn purge(&mut self) {
        self.messages.clear();
        self.ready.clear();
        self.known.clear();
        self.attempts.clear();
        self.noise.purged();
    }

    /// A restored queue has no receive attempts, noisy tenants or turns of groups.
    pub(super) fn restart(&mut self, now: Timestamp) {
        self.settle(now);
        self.attempts.clear();
        self.noise.restart(now);
        self.ready.clear();
        for group in self.messages.iter().map(|message| message.group).collect::<Vec<_>>() {
            self.refresh_one(group);
        }
    }

    fn find(&self, ticket: u64) -> Option<usize> {
        self.messages.iter().position(|message| message.ticket == ticket)
    }

    fn remove(&mut self, now: Timestamp, at: usize) -> Message {
        let message = self.messages.remove(at);
        self.noise.changes(now, &message, None, &self.messages);
        self.refresh(message.group);
        message
    }

    fn set(&mut self, now: Timestamp, at: usize, state: State) {
        let old = self.messages[at];
        let message = &mut self.messages[at];
        let returns =
            matches!(message.state, State::InFlight(_)) && message.receives - message.receives_elsewhere < 3;
        if state == State::Available && message.state != state && !returns {
            message.turn = self.turns;
            self.turns += 1;
        }
        message.state = state;
        let group = message.group;
        if old.state != state {
            self.noise.changes(now, &old, Some(state), &self.messages);
        }
        self.refresh(group);
    }
}

impl Message {
    /// Time in flight; `None` if it is not in flight.
    pub(super) fn spent(&self, now: Timestamp) -> Option<Duration> {
        match self.state {
            State::InFlight(until) => Some(until.min(now).saturating_since(self.received)),
            _ => None,
        }
    }

    pub(super) fn turn(&self) -> u64 {
        self.turn
    }
}

fn new(now: Timestamp, id: Uuid, group: u8) -> Message {
    Message {
        id,
        ticket: 0,
        group,
        state: State::Available,
        receives: 0,
        receives_elsewhere: 0,
        has_source: false,
        born: now,
        received: now,
        turn: 0,
    }
}
