//! Whose turn it is to start a handler: one waiter at a time, within the pool, the rate, and the pauses of a consumer.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::Execute;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::consume::adaptive::HandlerEnd;
use crate::consume::consumer::Shared;
use crate::consume::pool::{PoolMember, RateLimit};
use crate::observe::meter::Level;
use crate::receive::lease::Lease;
use crate::receive::pump::Stop;

/// Starts handlers of one consumer.
pub(crate) struct Gate(Arc<Inner>);

struct Inner {
    /// First come, first served.
    turn: tokio::sync::Mutex<()>,
    /// Held by the one whose turn it is, or by one that had its turn before and renewed its lease meanwhile.
    front: tokio::sync::Mutex<()>,
    member: PoolMember,
    rate: Option<Mutex<RateLimit>>,
    is_paused: Arc<AtomicBool>,
    stop: Stop,
    /// Rings when it may be this consumer's turn in the pool, or after a pause.
    bell: Notify,
    /// How many wait for their turn.
    waiting: AtomicUsize,
    running: Arc<AtomicUsize>,
    /// Wakes the run: its places depend on running handlers.
    changed: Arc<Notify>,
    running_metric: Level,
}

/// The place of a running handler. Dropping it frees the place.
pub(crate) struct Place {
    gate: Arc<Inner>,
    end: (HandlerEnd, Duration),
}

/// Why a handler does not start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NotStarted {
    /// The consumer stops, or there is no message any more.
    Stopped,
    /// The lease of the message is lost, or too little is left of it, and it is not renewed any more.
    LeaseEnds,
}

/// The lease of the message that is to start, if there still is one.
type Head<'a> = &'a (dyn Fn() -> Option<Lease> + Sync);

/// One that waits for its turn. Without any, other consumers of the pool may start handlers.
struct Waiting<'a>(&'a Inner);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Relaxed) == 1 {
            self.0.member.idle();
        }
    }
}

impl Gate {
    pub(crate) fn new<H: Execute>(shared: &Shared<H>) -> Self {
        // Its bounds were checked when the consumer was built.
        let rate = shared.options.limits.per_second.and_then(|per_second| RateLimit::new(per_second).ok());
        Self(Arc::new(Inner {
            turn: tokio::sync::Mutex::new(()),
            front: tokio::sync::Mutex::new(()),
            member: shared.join_pool(),
            rate: rate.map(Mutex::new),
            is_paused: Arc::clone(&shared.is_paused),
            stop: shared.stop.clone(),
            bell: Notify::new(),
            waiting: AtomicUsize::new(0),
            running: Arc::clone(&shared.running_handlers),
            changed: Arc::clone(&shared.woken),
            running_metric: shared.observer.metrics.handlers_running(),
        }))
    }

    /// Waits until a handler of this number of messages may start. If the lease of the message has little time left by then, it is
    /// renewed first, without blocking others. One that has waited for its turn before goes before all others but the first.
    ///
    /// # Cancel safety
    /// If the future is dropped, no place is taken.
    pub(crate) async fn enter(
        &self,
        messages: usize,
        head: Option<Head<'_>>,
        has_waited: bool,
    ) -> Result<Place, NotStarted> {
        tokio::select! {
            biased;
            () = self.0.stop.finishing() => Err(NotStarted::Stopped),
            place = self.entered(messages, head, has_waited) => place,
        }
    }

    async fn entered(
        &self,
        messages: usize,
        head: Option<Head<'_>>,
        mut has_waited: bool,
    ) -> Result<Place, NotStarted> {
        let gate = &self.0;
        loop {
            if let Some(head) = head {
                let lease = head().ok_or(NotStarted::Stopped)?;
                if !lease.is_fresh() {
                    lease.refresh().await.map_err(|_| NotStarted::LeaseEnds)?;
                    has_waited = true;
                }
            }
            gate.waiting.fetch_add(1, Relaxed);
            let _waiting = Waiting(gate);
            let _turn = if has_waited { None } else { Some(gate.turn.lock().await) };
            let _front = gate.front.lock().await;
            if self.wait_at_front(head).await? {
                break;
            }
        }
        gate.running_metric.set(gate.running.fetch_add(1, Relaxed) + 1);
        self.started(messages);
        gate.changed.notify_one();
        Ok(Place { gate: Arc::clone(gate), end: (HandlerEnd::Stopped, Duration::ZERO) })
    }

    /// Takes a place of the pool when it is free. Returns whether it did: not if the lease needs a renewal first.
    async fn wait_at_front(&self, head: Option<Head<'_>>) -> Result<bool, NotStarted> {
        let gate = &self.0;
        loop {
            if let Some(head) = head
                && !head().ok_or(NotStarted::Stopped)?.is_fresh()
            {
                return Ok(false);
            }
            let now = Instant::now();
            let next_start = gate.rate.as_ref().and_then(|rate| rate.lock().next_start(now));
            if gate.is_paused.load(Relaxed) || next_start.is_some() {
                gate.member.idle();
            } else if gate.member.start(now) {
                return Ok(true);
            }
            tokio::select! {
                biased;
                () = gate.bell.notified() => {}
                () = sleep_until(next_start.unwrap_or(now)), if next_start.is_some() => {}
            }
        }
    }

    /// Counts messages of a handler that has started.
    pub(crate) fn started(&self, messages: usize) {
        if let Some(rate) = &self.0.rate {
            rate.lock().started(messages);
        }
    }

    /// This number of messages of a handler did not start after all.
    pub(crate) fn not_started(&self, messages: usize) {
        if let Some(rate) = &self.0.rate {
            rate.lock().not_started(messages);
            self.ring();
        }
    }

    /// The pool, the rate or the pause has changed.
    pub(crate) fn ring(&self) {
        self.0.bell.notify_one();
    }

    pub(crate) fn running(&self) -> usize {
        self.0.running.load(Relaxed)
    }

    /// How many handlers may run at a time, and when that may change without a notice.
    pub(crate) fn places(&self) -> (usize, Option<Instant>) {
        self.0.member.places(Instant::now())
    }

    /// How many messages may wait to start within the rate; `None` without a rate.
    pub(crate) fn ahead(&self) -> Option<usize> {
        self.0.rate.as_ref().map(|rate| rate.lock().ahead())
    }
}

impl Place {
    /// The handler has ended.
    pub(crate) fn leave(mut self, how: HandlerEnd, elapsed: Duration) {
        self.end = (how, elapsed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (gate, (how, elapsed)) = (&self.gate, self.end);
        gate.running_metric.set(gate.running.fetch_sub(1, Relaxed) - 1);
        gate.member.ended(how, elapsed, Instant::now());
        gate.bell.notify_one();
        gate.changed.notify_one();
    }
}
