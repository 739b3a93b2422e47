//! The leases of one receiver, shared by their handles and the renewal task.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::held::Held;
use super::schedule::{LeaseTerm, Schedule};
use super::state::{Due, LeaseOver, Renewed};
use super::table::{LeaseTable, Number};
use crate::consume::credit::Credit;
use crate::consume::observe::{Event, Observer, Settled};
use crate::produce::{SendError, SendErrorKind};
use crate::random;

/// The leases of one receiver. The lock is held for a few instructions, never while waiting or calling a hook.
pub(crate) struct Leases {
    state: Mutex<State>,
    /// Wakes the renewal task.
    pub(super) woken: Notify,
    pub(super) observer: Arc<Observer>,
}

struct State {
    table: LeaseTable<Arc<Held>>,
    abandoned: Vec<Abandoned>,
    /// Messages that are not settled.
    open: usize,
    /// Whether no more messages arrive.
    is_closing: bool,
    /// Whether the renewal task has ended.
    is_dead: bool,
}

/// A message that the renewal task gives back, with the credit that it occupies until then.
pub(crate) struct Abandoned {
    pub(crate) message_id: Arc<str>,
    pub(crate) receipt_handle: Arc<str>,
    pub(crate) received: Instant,
    pub(crate) credit: Credit,
    /// How long the message stays hidden; usually not at all.
    pub(crate) delay: Duration,
    /// When the message becomes visible by itself; giving it back is retried until then.
    pub(crate) until: Instant,
    /// How the delivery counts if the message turns out to be deleted.
    pub(crate) maybe_gone: Option<Settled>,
}

/// What the renewal task does next.
pub(super) enum Outlook {
    /// All messages are settled, and no more arrive.
    Over,
    /// Wait until this time, if there is one, or until woken.
    Until(Option<Instant>),
}

/// A running renewal.
pub(super) struct Renewal {
    pub(super) held: Arc<Held>,
    pub(super) asked: Instant,
    pub(super) seconds: u32,
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("open", &self.state.lock().open).finish_non_exhaustive()
    }
}

/// For the receiving side.
impl Leases {
    pub(crate) fn new(schedule: Schedule, observer: Arc<Observer>) -> Self {
        let table = LeaseTable::new(schedule);
        let state = State { table, abandoned: Vec::new(), open: 0, is_closing: false, is_dead: false };
        Self { state: Mutex::new(state), woken: Notify::new(), observer }
    }

    /// Opens the leases of messages, given by id and receipt handle, whose response arrived at `now`.
    pub(super) fn open(&self, now: Instant, messages: Vec<(Arc<str>, Arc<str>)>) -> Vec<Arc<Held>> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.open += messages.len();
        let open = |(message_id, receipt_handle)| {
            let held = |number| Arc::new(Held::new(number, message_id, receipt_handle, now));
            state.table.open(now, held, random::unit())
        };
        let opened = messages.into_iter().map(open).collect();
        let is_dead = state.is_dead;
        self.woken.notify_one();
        drop(guard);
        if is_dead {
            self.lose_all();
        }
        opened
    }

    /// A message is settled.
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
            // The message becomes visible when its visibility timeout is over.
            return;
        }
        state.abandoned.push(abandoned);
        self.woken.notify_one();
    }

    /// No more messages arrive: the renewal task ends when the last one is settled.
    pub(crate) fn close(&self) {
        self.state.lock().is_closing = true;
        self.woken.notify_one();
    }
}

/// For handles.
impl Leases {
    pub(super) fn term(&self, number: Number) -> Option<LeaseTerm> {
        self.state.lock().table.term(number)
    }

    pub(super) fn extend(&self, number: Number, wanted: Duration) -> Option<u64> {
        let request = self.state.lock().table.extend(number, wanted, Instant::now());
        self.woken.notify_one();
        request
    }

    pub(super) fn granted(&self, number: Number, request: u64) -> Result<Option<Instant>, LeaseOver> {
        self.state.lock().table.granted(number, request)
    }

    pub(super) fn refresh(&self, number: Number) -> Option<bool> {
        let is_fresh = self.state.lock().table.refresh(number, Instant::now());
        if is_fresh == Some(false) {
            self.woken.notify_one();
        }
        is_fresh
    }

    pub(super) fn end(&self, held: &Held) -> Result<LeaseTerm, LeaseOver> {
        let now = Instant::now();
        // The lock is released before others are called.
        let ended = self.state.lock().table.end(held.number, now);
        let Some(term) = ended else {
            self.lost(held);
            return Err(LeaseOver);
        };
        held.changed.notify_waiters();
        Ok(term)
    }

    /// Reports that a lease is lost, once.
    pub(super) fn lost(&self, held: &Held) {
        if held.lose() {
            let (message_id, age) = (&*held.message_id, held.received.elapsed());
            self.observer.report(&Event::LeaseLost { message_id, age });
        }
    }
}

/// For the renewal task.
impl Leases {
    pub(super) fn due(&self, now: Instant) -> (Vec<Due<Arc<Held>>>, Vec<Abandoned>) {
        let mut state = self.state.lock();
        (state.table.due(now), std::mem::take(&mut state.abandoned))
    }

    pub(super) fn renewed(&self, renewal: &Renewal, result: &Result<(), SendError>) {
        let verdict = match result {
            Ok(()) => Renewed::Done,
            Err(error) if is_refusal(error) => Renewed::Refused,
            // The message is being deleted.
            Err(error) if error.kind() == SendErrorKind::Superseded => Renewed::Failed,
            Err(error) => {
                let message_id = &*renewal.held.message_id;
                self.observer.report(&Event::RenewalFailed { message_id, error });
                Renewed::Failed
            }
        };
        let asked = (renewal.asked, renewal.seconds);
        let (number, now) = (renewal.held.number, Instant::now());
        let lost = self.state.lock().table.renewed(number, asked, verdict, now, random::unit());
        match lost {
            Some(held) => self.lost(&held),
            None => renewal.held.changed.notify_waiters(),
        }
    }

    pub(super) fn outlook(&self) -> Outlook {
        let state = self.state.lock();
        if state.is_closing && state.open == 0 && state.abandoned.is_empty() {
            return Outlook::Over;
        }
        Outlook::Until(state.table.next_look())
    }

    /// The renewal task has ended, so all leases are lost.
    pub(super) fn lose_all(&self) {
        let (leases, abandoned) = {
            let mut state = self.state.lock();
            state.is_dead = true;
            (state.table.clear(), std::mem::take(&mut state.abandoned))
        };
        for held in &leases {
            self.lost(held);
        }
        drop(abandoned);
    }
}

/// Whether SQS refused the renewal for good, as opposed to a transient failure.
fn is_refusal(error: &SendError) -> bool {
    match error.kind() {
        SendErrorKind::LeaseLost | SendErrorKind::Invalid => true,
        SendErrorKind::Rejected => !error.is_retryable(),
        _ => false,
    }
}
