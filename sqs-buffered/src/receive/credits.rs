//! How many messages to request, and when. Pure: time is a parameter.
//!
//! ```text
//! free place -> ask: when ten are free, or one has been free for the poll delay, a fifth of the time that messages stay
//!     ^          |
//!     |          +-> requested -> answered -> taken: by a message, or by up to ten messages of one group
//!     |                              |                                  |
//!     +---- places that stayed empty +          settled, or deleting ---+
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::wire::limits::RECEIVE_MESSAGES;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::observe::meter::Level;

/// The maximum number of concurrent receives of one receiver.
const MAX_RECEIVES: usize = 10;

/// Messages of one group that share a place: as many as one receive returns. SQS returns no further messages of a group
/// while one of them is hidden, so a group takes one place.
const GROUP_MESSAGES: usize = 10;

/// The poll delay is this part of the time that messages take. In the simulation of the tests (ten places, handlers of
/// uneven length, mean 50 ms to 1 s) a fifth keeps 74 to 87 % of the places busy, at 2.5 messages a receive. Without a delay
/// it is 77 to 99 %, at 1 to 1.7 messages; with 500 ms for all it is 32 to 75 %.
const POLL_DELAY_DIVISOR: u32 = 5;

/// The weight of the latest message in the mean of the message times.
const LATEST: f64 = 0.1;

/// A message group of a FIFO queue.
type Group = Arc<str>;

/// The places of one receiver. A message that is being deleted makes room for the next; at most `total` do so at a time.
#[derive(Clone, Debug)]
struct Credits {
    total: usize,
    max_poll_delay: Duration,
    /// How long messages take from their receive until they are done, on average.
    mean_time: Option<Duration>,
    /// Places of running receives.
    requested: usize,
    /// Places of messages that are not done.
    taken: usize,
    /// Messages that are not done.
    messages: usize,
    /// Messages that made room while they are being deleted.
    deleting: usize,
    receives: usize,
    /// The messages that are not done of each group.
    groups: HashMap<Group, usize>,
    /// All other places, by the time at which they became free; `None` since the start.
    free: BTreeMap<Option<Instant>, usize>,
    free_places: usize,
}

/// The decision about the next receive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ask {
    /// Begin it.
    Now(Request),
    /// Begin it at this time, or earlier if more places become free.
    At(Instant),
    /// No receive until a response arrives or a message is settled.
    Not,
}

/// The places that a receive requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Request {
    pub(crate) messages: usize,
    /// Since when its places are free.
    since: Option<Instant>,
}

impl Credits {
    pub(crate) fn new(total: usize, max_poll_delay: Duration) -> Self {
        let groups = HashMap::new();
        let free = Some((None, total)).filter(|(_, total)| *total > 0).into_iter().collect();
        Self {
            total,
            max_poll_delay,
            mean_time: None,
            requested: 0,
            taken: 0,
            messages: 0,
            deleting: 0,
            receives: 0,
            groups,
            free,
            free_places: total,
        }
    }

    /// Changes the number of places. Messages that are held stay, even if they are more than that now. The first
    /// places, at the start and after a pause, are requested at once.
    pub(crate) fn set_total(&mut self, total: usize, now: Instant) {
        let since = Some(now).filter(|_| self.total > 0);
        self.total = total;
        self.count_free(since);
    }

    /// How long a place stays free at most before a receive requests it.
    fn poll_delay(&self) -> Duration {
        let delay = self.mean_time.map(|mean| mean / POLL_DELAY_DIVISOR);
        delay.unwrap_or(self.max_poll_delay).min(self.max_poll_delay)
    }

    /// Begins a receive if one is due.
    ///
    /// One receive for each ten places is enough: a long poll for fewer messages ends as soon as messages arrive.
    pub(crate) fn ask(&mut self, now: Instant) -> Ask {
        let receives = self.total.saturating_sub(self.taken).div_ceil(most_messages()).min(MAX_RECEIVES);
        let Some((&since, _)) = self.free.first_key_value().filter(|_| self.receives < receives) else {
            return Ask::Not;
        };
        let due = since.and_then(|since| since.checked_add(self.poll_delay())).filter(|due| now < *due);
        if let Some(due) = due
            && self.free_places < most_messages().min(self.total)
        {
            return Ask::At(due);
        }
        let request = Request { messages: self.free_places.min(most_messages()), since };
        self.requested += request.messages;
        self.receives += 1;
        self.count_free(Some(now));
        Ask::Now(request)
    }

    /// Ends a receive that returned a message of each of these groups. Places that it did not fill keep their age, so
    /// that they are requested again at once: the queue had no more messages.
    pub(crate) fn answered<'g>(
        &mut self,
        request: Request,
        groups: impl IntoIterator<Item = Option<&'g Group>>,
    ) {
        self.requested = self.requested.saturating_sub(request.messages);
        self.receives = self.receives.saturating_sub(1);
        groups.into_iter().for_each(|group| self.enter(group));
        self.count_free(request.since);
    }

    /// A message, `time` after its receive, frees its place while it is deleted. Returns whether it may.
    pub(crate) fn make_room(&mut self, group: Option<&Group>, time: Duration, now: Instant) -> bool {
        let may = self.deleting < self.total && self.messages > 0;
        if may {
            self.deleting += 1;
            self.leave(group, time, now);
        }
        may
    }

    /// A message is settled, `time` after its receive. `made_room`: whether it freed its place before.
    pub(crate) fn settled(&mut self, group: Option<&Group>, made_room: bool, time: Duration, now: Instant) {
        if made_room {
            self.deleting = self.deleting.saturating_sub(1);
        } else {
            self.leave(group, time, now);
        }
    }

    /// Whether messages are in all places.
    fn is_full(&self) -> bool {
        self.free_places == 0
    }

    /// Messages that are held and not settled.
    pub(crate) fn held(&self) -> usize {
        self.messages + self.deleting
    }

    /// Running receives.
    fn receives(&self) -> usize {
        self.receives
    }

    fn enter(&mut self, group: Option<&Group>) {
        self.messages += 1;
        let takes_place = group.is_none_or(|group| {
            let messages = self.groups.entry(Arc::clone(group)).or_default();
            *messages += 1;
            *messages % GROUP_MESSAGES == 1
        });
        self.taken += usize::from(takes_place);
    }

    fn leave(&mut self, group: Option<&Group>, time: Duration, now: Instant) {
        let mean = self.mean_time.map_or(time, |mean| mean.mul_f64(1.0 - LATEST) + time.mul_f64(LATEST));
        self.mean_time = Some(mean);
        self.messages = self.messages.saturating_sub(1);
        let frees_place = group.is_none_or(|group| {
            let Some(messages) = self.groups.get_mut(group) else { return false };
            *messages -= 1;
            let left = *messages;
            if left == 0 {
                self.groups.remove(group);
            }
            left % GROUP_MESSAGES == 0
        });
        self.taken = self.taken.saturating_sub(usize::from(frees_place));
        self.count_free(Some(now));
    }

    /// Updates the free places. New ones are free from `since` on. The oldest ones are used first.
    fn count_free(&mut self, since: Option<Instant>) {
        let free = self.total.saturating_sub(self.taken + self.requested);
        if free > self.free_places {
            *self.free.entry(since).or_default() += free - self.free_places;
        }
        let mut used = self.free_places.saturating_sub(free);
        while used > 0
            && let Some(mut oldest) = self.free.first_entry()
        {
            let places = used.min(*oldest.get());
            *oldest.get_mut() -= places;
            used -= places;
            if *oldest.get() == 0 {
                oldest.remove();
            }
        }
        self.free_places = free;
    }
}

fn most_messages() -> usize {
    usize::try_from(*RECEIVE_MESSAGES.end()).unwrap_or(1)
}

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
        match self.credits.lock().ask(now) {
            Ask::Now(request) => Ok(Reservation { credits: Arc::clone(self), request: Some(request) }),
            Ask::At(at) => Err(Some(at)),
            Ask::Not => Err(None),
        }
    }

    /// See [`Credits::set_total`].
    pub(crate) fn set_total(&self, places: usize) {
        self.credits.lock().set_total(places, Instant::now());
        self.freed.notify_one();
    }

    /// Waits until a place is freed.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// Whether nothing is received, because messages are in all places.
    pub(crate) fn is_full(&self) -> bool {
        let credits = self.credits.lock();
        credits.receives() == 0 && credits.is_full()
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
            && self.credits.credits.lock().make_room(self.group.as_ref(), now - self.since, now)
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
        locked.settled(group, self.made_room, now - self.since, now);
        self.credits.held.set(locked.held());
        drop(locked);
        self.credits.freed.notify_one();
    }
}

#[cfg(test)]
#[path = "credits_tests.rs"]
mod tests;
