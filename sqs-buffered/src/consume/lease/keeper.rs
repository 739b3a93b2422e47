//! The leases of one receiver, shared by their holders and the [task](super::task) that keeps them. The lock is held for a
//! few instructions; nobody waits or calls out while holding it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::lease::{Held, Lease, LeaseOver};
use super::task::Renewal;
use super::{Book, Due, Number, Renewed, Schedule, Term};
use crate::consume::receive::{Credit, Event, Monitor, Settled};
use crate::produce::{SendError, SendErrorKind};
use crate::random;

/// The leases of one receiver, shared by their holders and the task that keeps them.
pub(crate) struct Keeper {
    state: Mutex<State>,
    /// The task waits here.
    pub(super) woken: Notify,
    pub(super) monitor: Arc<Monitor>,
}

struct State {
    book: Book<Arc<Held>>,
    abandoned: Vec<Abandoned>,
    /// Messages that are not settled.
    open: usize,
    /// No more will come.
    is_closing: bool,
    /// Nobody keeps leases any more.
    is_dead: bool,
}

/// A message that is to be given back, with the credit that it takes until then.
pub(crate) struct Abandoned {
    pub(crate) lease: Lease,
    pub(crate) credit: Credit,
    /// After this; usually at once.
    pub(crate) delay: Duration,
    /// Given up when it is visible by itself.
    pub(crate) until: Instant,
    /// What it counts as if it turns out to be deleted.
    pub(crate) maybe_gone: Option<Settled>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("open", &self.state.lock().open).finish_non_exhaustive()
    }
}

impl Keeper {
    pub(crate) fn new(schedule: Schedule, monitor: Arc<Monitor>) -> Self {
        let book = Book::new(schedule);
        let state = State { book, abandoned: Vec::new(), open: 0, is_closing: false, is_dead: false };
        Self { state: Mutex::new(state), woken: Notify::new(), monitor }
    }

    /// Opens the leases of messages, given by id and receipt handle, that came with an answer of this moment.
    pub(crate) fn open(self: &Arc<Self>, now: Instant, messages: &[(Arc<str>, Arc<str>)]) -> Vec<Lease> {
        let open = |state: &mut State, (message_id, receipt_handle): &(Arc<str>, Arc<str>)| {
            let held = |number| {
                Arc::new(Held {
                    keeper: Arc::clone(self),
                    number,
                    receipt_handle: Arc::clone(receipt_handle),
                    message_id: Arc::clone(message_id),
                    received: now,
                    is_lost: AtomicBool::new(false),
                    changed: Notify::new(),
                })
            };
            state.open += 1;
            Lease(state.book.open(now, held, random::unit()))
        };
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let leases: Vec<Lease> = messages.iter().map(|message| open(state, message)).collect();
        let is_dead = state.is_dead;
        self.woken.notify_one();
        drop(guard);
        if is_dead {
            self.bury();
        }
        leases
    }

    /// A message is settled, as far as it ever will be.
    pub(crate) fn settled(&self) {
        let mut state = self.state.lock();
        state.open = state.open.saturating_sub(1);
        if state.is_closing {
            self.woken.notify_one();
        }
    }

    /// Gives a message back in the background.
    pub(crate) fn abandon(&self, abandoned: Abandoned) {
        let mut state = self.state.lock();
        if state.is_dead {
            // It comes back when its visibility timeout is over.
            return;
        }
        state.abandoned.push(abandoned);
        self.woken.notify_one();
    }

    /// No more messages come: the task ends when the last one is settled.
    pub(crate) fn close(&self) {
        self.state.lock().is_closing = true;
        self.woken.notify_one();
    }

    /// Nobody keeps leases any more: all are lost.
    pub(super) fn bury(&self) {
        let (leases, abandoned) = {
            let mut state = self.state.lock();
            state.is_dead = true;
            (state.book.clear(), std::mem::take(&mut state.abandoned))
        };
        for held in &leases {
            self.lost(held);
        }
        drop(abandoned);
    }

    pub(super) fn term(&self, number: Number) -> Option<Term> {
        self.state.lock().book.term(number)
    }

    pub(super) fn want(&self, number: Number, wanted: Duration) -> Option<u64> {
        let wish = self.state.lock().book.want(number, wanted, Instant::now());
        self.woken.notify_one();
        wish
    }

    pub(super) fn granted(&self, number: Number, wish: u64) -> Result<Option<Instant>, LeaseOver> {
        self.state.lock().book.granted(number, wish)
    }

    pub(super) fn freshen(&self, number: Number) -> Option<bool> {
        let is_fresh = self.state.lock().book.freshen(number, Instant::now());
        if is_fresh == Some(false) {
            self.woken.notify_one();
        }
        is_fresh
    }

    pub(super) fn end(&self, held: &Held) -> Result<Term, LeaseOver> {
        let now = Instant::now();
        // The lock is not held while others are told.
        let ended = self.state.lock().book.end(held.number, now);
        let Some(term) = ended else {
            self.lost(held);
            return Err(LeaseOver);
        };
        held.changed.notify_waiters();
        Ok(term)
    }

    /// Tells that a lease is lost, once.
    pub(super) fn lost(&self, held: &Held) {
        if held.lose() {
            let (message_id, age) = (&*held.message_id, held.received.elapsed());
            self.monitor.tell(&Event::LeaseLost { message_id, age });
        }
    }

    pub(super) fn due(&self, now: Instant) -> (Vec<Due<Arc<Held>>>, Vec<Abandoned>) {
        let mut state = self.state.lock();
        (state.book.due(now), std::mem::take(&mut state.abandoned))
    }

    pub(super) fn renewed(&self, renewal: &Renewal, result: &Result<(), SendError>) {
        let verdict = match result {
            Ok(()) => Renewed::Done,
            Err(error) if is_refusal(error) => Renewed::Refused,
            Err(error) => {
                let message_id = &*renewal.held.message_id;
                self.monitor.tell(&Event::RenewalFailed { message_id, error });
                Renewed::Failed
            }
        };
        let number = renewal.held.number;
        let asked = (renewal.asked, renewal.seconds);
        let lost = self.state.lock().book.renewed(number, asked, verdict, Instant::now(), random::unit());
        match lost {
            Some(held) => self.lost(&held),
            None => renewal.held.changed.notify_waiters(),
        }
    }

    /// What is left to do: until when nothing, or nothing ever.
    pub(super) fn outlook(&self) -> Outlook {
        let state = self.state.lock();
        if state.is_closing && state.open == 0 && state.abandoned.is_empty() {
            return Outlook::Over;
        }
        Outlook::Until(state.book.next_look())
    }
}

pub(super) enum Outlook {
    Over,
    Until(Option<Instant>),
}

/// Whether the service says that the message is not ours, as opposed to that it cannot be asked now.
fn is_refusal(error: &SendError) -> bool {
    match error.kind() {
        SendErrorKind::LeaseLost | SendErrorKind::Invalid => true,
        SendErrorKind::Rejected => !error.is_retryable(),
        _ => false,
    }
}
