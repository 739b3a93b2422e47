//! Credits as tasks share them.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::credits::{Ask, Credits, Group, Request};
use crate::meter::Level;

/// The places of one receiver. The lock is held for a few instructions.
#[derive(Debug)]
pub(crate) struct SharedCredits {
    credits: Mutex<Credits>,
    /// The pump waits here for places.
    freed: Notify,
    /// Whether messages of one group share a place.
    by_group: bool,
    /// Held messages, as a metric.
    held: Level,
}

/// The places that a running receive has requested. Dropping it frees them.
#[derive(Debug)]
pub(crate) struct Reservation {
    credits: Arc<SharedCredits>,
    request: Option<Request>,
}

/// The place of one message, freed when it is dropped.
#[derive(Debug)]
pub(crate) struct Credit {
    credits: Arc<SharedCredits>,
    group: Option<Group>,
    made_room: bool,
    /// When the message arrived.
    since: Instant,
}

impl SharedCredits {
    /// A place for each message.
    pub(crate) fn of_messages(places: usize, poll_delay: Duration, held: Level) -> Self {
        Self::new(places, poll_delay, held, false)
    }

    /// One place per message without a group, and one for up to ten messages of a group, of which one runs at a time.
    pub(crate) fn of_groups(places: usize, poll_delay: Duration, held: Level) -> Self {
        Self::new(places, poll_delay, held, true)
    }

    fn new(places: usize, poll_delay: Duration, held: Level, by_group: bool) -> Self {
        let credits = Mutex::new(Credits::new(places, poll_delay));
        Self { credits, freed: Notify::new(), by_group, held }
    }

    /// See [`Credits::ask`]. The error is the time to ask again; `None` if that depends only on messages.
    pub(crate) fn ask(self: &Arc<Self>, now: Instant) -> Result<Reservation, Option<Instant>> {
        match self.credits.lock().ask(now.into_std()) {
            Ask::Now(request) => Ok(Reservation { credits: Arc::clone(self), request: Some(request) }),
            Ask::At(at) => Err(Some(at.into())),
            Ask::Not => Err(None),
        }
    }

    /// See [`Credits::set_total`].
    pub(crate) fn set_total(&self, places: usize) {
        self.credits.lock().set_total(places, Instant::now().into_std());
        self.freed.notify_one();
    }

    /// Waits until a place is freed.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// Held messages, and running receives.
    pub(crate) fn levels(&self) -> (usize, usize) {
        let credits = self.credits.lock();
        (credits.held(), credits.receives())
    }
}

impl Reservation {
    pub(crate) fn messages(&self) -> usize {
        self.request.map_or(0, |request| request.messages)
    }

    /// Ends the receive, and returns a credit for each of its messages, which are given by their groups.
    pub(crate) fn answered(mut self, groups: impl Iterator<Item = Option<Group>>) -> Vec<Credit> {
        let (by_group, since) = (self.credits.by_group, Instant::now());
        let credit = |group: Option<Group>| Credit {
            credits: Arc::clone(&self.credits),
            group: group.filter(|_| by_group),
            made_room: false,
            since,
        };
        let credits: Vec<Credit> = groups.map(credit).collect();
        if let Some(request) = self.request.take() {
            let groups = credits.iter().map(|credit| credit.group.as_ref());
            let mut locked = self.credits.credits.lock();
            locked.answered(request, groups);
            self.credits.held.set(locked.held());
        }
        credits
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.credits.credits.lock().answered(request, []);
            self.credits.freed.notify_one();
        }
    }
}

impl Credit {
    /// See [`Credits::make_room`].
    pub(crate) fn make_room(&mut self) {
        let now = Instant::now();
        if !self.made_room
            && self.credits.credits.lock().make_room(self.group.as_ref(), now - self.since, now.into_std())
        {
            self.made_room = true;
            self.credits.freed.notify_one();
        }
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        let (now, group) = (Instant::now(), self.group.as_ref());
        let mut locked = self.credits.credits.lock();
        locked.settled(group, self.made_room, now - self.since, now.into_std());
        self.credits.held.set(locked.held());
        drop(locked);
        self.credits.freed.notify_one();
    }
}
