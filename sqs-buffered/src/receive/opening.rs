//! Opens messages under their leases, for consumers and receivers: how long one that does not open is kept.

use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use sqs_client::client::{Execute, OperationError as _, Unopened};
use tokio::time::{Instant, sleep};

use crate::error::Panicked;
use crate::observe::receives::{Observer, ReceiveEvent};
use crate::receive::delivery::Delivery;
use crate::receive::pump::Source;

/// If more messages than this in a row cannot be opened, nothing can be opened.
const MIN_UNOPENED: usize = 10;

/// How long a message that cannot be opened is kept at most, from its receive.
const PATIENCE: Duration = Duration::from_mins(10);

/// A message hangs if opening it takes this many times as long as others take on average.
const HANGS: u32 = 4;

/// No message hangs before this time.
const MIN_HANG: Duration = Duration::from_secs(2);

/// The same, before any message was opened.
const FIRST_HANG: Duration = Duration::from_secs(10);

/// Why a message must not run.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// It could not be opened: what to do with it, and the reason.
    Failed(Unopened, String),
    /// Its lease is lost, or too little is left of it and it is not renewed any more.
    LeaseEnds,
}

/// Opens the messages of one consumer or receiver.
#[derive(Debug, Default)]
pub(crate) struct Opener {
    /// How many messages in a row could not be opened, each at its first attempt. Those that need no opening do not count: they say nothing
    /// about the store.
    failed_in_a_row: AtomicUsize,
    /// A moving average of how long messages took to open.
    mean: Mutex<Option<Duration>>,
}

impl Opener {
    /// Opens a message. Afterwards, enough time of its lease is left for a handler to start. If it hangs, keeps what `hangs` returns until
    /// the end.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is unchanged, or opened.
    pub(crate) async fn open<H: Execute, K>(
        &self,
        source: &Source<H>,
        observer: &Observer,
        delivery: &mut Delivery,
        hangs: impl FnOnce() -> K,
    ) -> Result<(), NotOpened> {
        let (id, lease) = (Arc::clone(delivery.id()), delivery.lease.clone());
        let is_first = delivery.overloads == 0 && delivery.failures == 0;
        // A client below that panics must not end the run.
        let mut opening = pin!(AssertUnwindSafe(delivery.open(source)).catch_unwind());
        let (began, patience) = (Instant::now(), self.patience());
        let in_time = tokio::select! {
            biased;
            opened = &mut opening => Some(opened),
            () = lease.lost() => return Err(NotOpened::LeaseEnds),
            () = sleep(patience) => None,
        };
        let kept = in_time.is_none().then(hangs);
        let opened = if let Some(opened) = in_time {
            opened
        } else {
            tokio::select! {
                biased;
                opened = opening => opened,
                () = lease.lost() => return Err(NotOpened::LeaseEnds),
            }
        };
        drop(kept);
        let failed = |error: &(dyn Error + 'static), policy| {
            self.failed_in_a_row.fetch_add(usize::from(is_first), Relaxed);
            observer.report(&ReceiveEvent::Unopened { message_id: &id, error });
            Err(NotOpened::Failed(policy, error.to_string()))
        };
        match opened {
            Ok(Ok(true)) => {
                self.failed_in_a_row.store(0, Relaxed);
                self.took(began.elapsed(), patience);
            }
            Ok(Ok(false)) => {}
            Ok(Err(error)) => {
                let transient = || if error.is_retryable() { Unopened::Retry } else { Unopened::Release };
                return failed(&error, error.unopened().unwrap_or_else(transient));
            }
            Err(panic) => return failed(&Panicked::of(&*panic), Unopened::Retry),
        }
        // Renewals may have failed while a large payload was loaded.
        lease.refresh().await.map_err(|_| NotOpened::LeaseEnds)
    }

    /// How long opening a message may take before it hangs: then it must not hold up others. Before that, a consumer loads no more payloads
    /// than it has handlers for.
    pub(crate) fn patience(&self) -> Duration {
        self.mean.lock().map_or(FIRST_HANG, |mean| mean.saturating_mul(HANGS).max(MIN_HANG))
    }

    /// Notes how long a message took to open. One that hung counts with twice the patience at most.
    fn took(&self, time: Duration, patience: Duration) {
        let (mut mean, time) = (self.mean.lock(), time.min(patience * 2));
        *mean = Some(mean.map_or(time, |mean| (mean * 7 + time) / 8));
    }

    /// Whether a message of this receive that could not be opened may be kept until the next attempt. Giving it back would count as a
    /// receive, of its whole group: soon SQS would move all of it to the dead-letter queue. `resting` messages wait already.
    pub(crate) fn may_keep(&self, received: Instant, resting: usize, places: usize) -> bool {
        // If nothing can be opened, the others could not start either.
        let is_store_down = self.failed_in_a_row.load(Relaxed) > places.max(MIN_UNOPENED);
        (may_rest(resting, places) || is_store_down) && received.elapsed() < PATIENCE
    }
}

/// Whether another message may wait while `resting` do already: they must leave places for others.
pub(crate) fn may_rest(resting: usize, places: usize) -> bool {
    resting < (places / 2).max(1)
}

/// How many places there are in addition at most, or as many again as there are.
const MAX_EXTRA: usize = 10;

/// The places in addition: one for each message that hangs while it is opened. If failed messages wait in all places, one more is
/// received: it may succeed, and then the others make room. `most` is the number of places without a rate limit.
pub(crate) fn extra_places((failing, hanging): (usize, usize), places: usize, most: usize) -> usize {
    (hanging + (failing + 1).saturating_sub(places)).min(most.max(MAX_EXTRA))
}
