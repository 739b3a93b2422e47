//! Receiving, now or when something comes.
//!
//! ```text
//! receive --messages--> answer
//!    | nothing
//!    v
//! park: wait for (arrival | the queue's next moment, as watcher | deadline | shutdown) --> receive again
//! ```
//! Taking messages and answering is one step without an await: a receive that is dropped has taken nothing.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::service_error::{ErrorCode, ServiceError};

use super::service::Shared;
use super::shared::SharedQueue;
use crate::clock::Timestamp;
use crate::engine::{DeadLetter, Delivery, Outcome, Receive};

/// Receives from a queue, waiting at most for `wait`.
///
/// # Cancel safety
/// Dropped before its end, it has taken no message, and what woke it wakes another receive instead.
pub(super) async fn receive(
    shared: &Shared,
    queue: &Arc<SharedQueue>,
    request: Receive<'_>,
    wait: Duration,
) -> Result<Vec<Delivery>, ServiceError> {
    match take(shared, queue, request)? {
        Outcome::Messages(messages) => Ok(messages),
        Outcome::OverLimit { .. } if wait.is_zero() => Err(over_limit()),
        Outcome::Empty { .. } | Outcome::OverLimit { .. } if wait.is_zero() => Ok(Vec::new()),
        Outcome::Empty { .. } | Outcome::OverLimit { .. } => park(shared, queue, request, wait).await,
    }
}

async fn park(
    shared: &Shared,
    queue: &Arc<SharedQueue>,
    request: Receive<'_>,
    wait: Duration,
) -> Result<Vec<Delivery>, ServiceError> {
    let mut deadline = pin!(shared.clock.sleep_until(shared.clock.now() + wait));
    let mut stopped = pin!(shared.stopped());
    let mut watch = None;
    // Listening starts before the queue is asked, so that no arrival in between is missed, and goes on whatever
    // else happens, so that nobody loses their place.
    let mut arrival = pin!(queue.arrival.notified());
    loop {
        arrival.as_mut().enable();
        watch = watch.or_else(|| queue.watch.try_lock().ok());
        let wake_at = match take(shared, queue, request)? {
            Outcome::Messages(messages) => {
                hand_on(shared, queue);
                return Ok(messages);
            }
            Outcome::Empty { wake_at } | Outcome::OverLimit { wake_at } => wake_at,
        };
        tokio::select! {
            biased;
            () = &mut stopped => return Ok(Vec::new()),
            () = arrival.as_mut() => arrival.set(queue.arrival.notified()),
            guard = queue.watch.lock(), if watch.is_none() => watch = Some(guard),
            () = next_moment(shared, queue, wake_at), if watch.is_some() => {}
            () = &mut deadline => return last_chance(shared, queue, request),
        }
    }
}

/// Waits until the queue may have something by itself, or has to be asked again for when that is.
async fn next_moment(shared: &Shared, queue: &SharedQueue, wake_at: Option<Timestamp>) {
    let moment = async {
        match wake_at {
            Some(moment) => shared.clock.sleep_until(moment).await,
            None => pending().await,
        }
    };
    tokio::select! {
        biased;
        () = queue.sooner.notified() => {}
        () = moment => {}
    }
}

/// What comes at the very moment of the deadline is still in time.
fn last_chance(
    shared: &Shared,
    queue: &Arc<SharedQueue>,
    request: Receive<'_>,
) -> Result<Vec<Delivery>, ServiceError> {
    match take(shared, queue, request)? {
        Outcome::Messages(messages) => Ok(messages),
        Outcome::Empty { .. } | Outcome::OverLimit { .. } => Ok(Vec::new()),
    }
}

/// What a woken receive leaves behind is for the next one.
fn hand_on(shared: &Shared, queue: &SharedQueue) {
    if queue.with(|queue| queue.counts(shared.clock.now()).available).is_ok_and(|available| available > 0) {
        queue.arrival.notify_one();
    }
}

/// Takes what is there. Messages that were delivered too often go on to their dead-letter queue, after the lock
/// of their own was let go.
fn take(shared: &Shared, queue: &Arc<SharedQueue>, request: Receive<'_>) -> Result<Outcome, ServiceError> {
    let dead_letter_queue_exists = has_dead_letter_queue(shared, queue);
    let request = Receive { dead_letter_queue_exists, ..request };
    let received = queue.with(|queue| queue.receive(shared.clock.now(), &request))?;
    for letter in received.dead_letters {
        forward(shared, queue, letter);
    }
    Ok(received.outcome)
}

/// A queue that is its own dead-letter queue, which AWS accepts, would bury the same messages again and again.
fn has_dead_letter_queue(shared: &Shared, queue: &Arc<SharedQueue>) -> bool {
    let target =
        queue.attribute(|attributes| attributes.redrive.as_ref().map(|policy| Arc::clone(&policy.target)));
    target.and_then(|target| shared.find_arn(&target)).is_some_and(|target| !Arc::ptr_eq(&target, queue))
}

/// Brings a dead letter to its queue, or back when that queue is gone.
pub(super) fn forward(shared: &Shared, source: &SharedQueue, letter: DeadLetter) {
    let now = shared.clock.now();
    let refused = match shared.find_arn(letter.target()) {
        Some(target) => target.even_deleted(|queue| queue.accept_dead_letter(now, letter)).err(),
        None => Some(letter),
    };
    if let Some(letter) = refused {
        source.even_deleted(|queue| queue.take_back(now, letter));
    }
}

fn over_limit() -> ServiceError {
    ServiceError::new(ErrorCode::OverLimit, "The maximum number of messages in flight has been reached.")
}
