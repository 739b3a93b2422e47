//! Receiving messages, with long polls.
//!
//! ```text
//! receive --messages--> return
//!    | none
//!    v
//! park: wait for (shutdown | deadline | arrival | the queue's next change, as watcher) --> receive again
//! ```
//! A receive takes messages and returns them in one step without an await: a receive that is dropped has taken nothing.
//! Each step moves a limited number of dead letters.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::Context;
use super::shared::SharedQueue;
use super::state::Shared;
use crate::service::clock::Timestamp;
use crate::service::stopwatch::Stopwatch;
use crate::sqs::engine::{Delivery, InTransit, Metered, Queue, Receive, Received};

/// A receive in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poll<'a> {
    pub(super) shared: &'a Shared,
    pub(super) context: &'a Context,
    pub(super) queue: &'a Arc<SharedQueue>,
    pub(super) request: Receive<'a>,
}

impl Poll<'_> {
    /// Receives messages, and waits for them as long as the request or the queue says.
    ///
    /// # Cancel safety
    /// A receive that is dropped before it completes has taken no message, and passes its wakeup on to another receive.
    pub(super) async fn receive(self) -> Result<Vec<Delivery>, ServiceError> {
        let Received { messages, wait, is_over_limit, .. } = self.take(Step::First).await?;
        if !messages.is_empty() {
            return Ok(messages);
        }
        if wait.is_zero() {
            return if is_over_limit { Err(over_limit()) } else { Ok(messages) };
        }
        let watch = Stopwatch::start();
        let messages = self.park(wait).await;
        self.context.trace.note_wait(watch.elapsed());
        messages
    }

    async fn park(self, wait: Duration) -> Result<Vec<Delivery>, ServiceError> {
        let Self { shared, queue, .. } = self;
        let mut stopped = pin!(shared.stopped());
        let mut deadline = pin!(shared.clock.sleep_until(shared.clock.now() + wait));
        let _parked = shared.parked.enter();
        let mut watch = None;
        // Enabled before the queue is checked, so that no arrival in between is missed. Kept across iterations, so that
        // the receive keeps its place in line.
        let mut arrival = pin!(queue.arrival.notified());
        loop {
            arrival.as_mut().enable();
            watch = watch.or_else(|| queue.watch.try_lock().ok());
            let Received { messages, wake_at, .. } = self.take(Step::Later).await?;
            if !messages.is_empty() {
                return Ok(self.handing_on(messages));
            }
            let look_again = async {
                tokio::select! {
                    biased;
                    () = arrival.as_mut() => arrival.set(queue.arrival.notified()),
                    guard = queue.watch.lock(), if watch.is_none() => watch = Some(guard),
                    () = next_moment(shared, queue, wake_at), if watch.is_some() => {}
                }
            };
            match end_before(stopped.as_mut(), deadline.as_mut(), look_again).await {
                Some(End::Stopped) => return Ok(Vec::new()),
                // A message that arrives exactly at the deadline is still returned.
                Some(End::Deadline) => return Ok(self.handing_on(self.take(Step::Later).await?.messages)),
                None => {}
            }
        }
    }

    /// Wakes the next receive for messages that this one left in the queue.
    fn handing_on(self, messages: Vec<Delivery>) -> Vec<Delivery> {
        if messages.is_empty() {
            return messages;
        }
        let now = self.shared.clock.now();
        let available = self.queue.look(|queue| queue.counts(now).available);
        if available.is_some_and(|available| available > 0) {
            self.queue.arrival.notify_one();
        }
        messages
    }

    /// Receives available messages. Yields after each step that found only dead letters, so that other requests can
    /// lock the queue.
    ///
    /// # Cancel safety
    /// Dropped between two steps, it has taken no message.
    async fn take(self, mut step: Step) -> Result<Received, ServiceError> {
        loop {
            let mut received = self.step(step)?;
            step = Step::Later;
            let is_cut_short = received.is_cut_short();
            for letter in received.dead_letters.drain(..) {
                forward(self.shared, self.queue, letter);
            }
            if !is_cut_short {
                return Ok(received);
            }
            tokio::task::yield_now().await;
        }
    }

    fn step(self, step: Step) -> Result<Received, ServiceError> {
        let Self { shared, context, queue, request } = self;
        queue.with_room(context, |queue, room| {
            if step == Step::First {
                queue.accept_call(shared.clock.now(), Metered::Receive)?;
            }
            let dead_letter_queue_exists = has_dead_letter_queue(shared, queue);
            queue.receive(shared.clock.now(), &Receive { dead_letter_queue_exists, room, ..request })
        })?
    }
}

/// Steps of a receive. Only the first one counts as a call, however often the receive checks its queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    First,
    Later,
}

/// Why a parked receive ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Stopped,
    Deadline,
}

/// Waits for the end of a parked receive, or for a reason to check the queue again (`None`). The end has priority:
/// while other receives take all arrivals, reasons to check can recur indefinitely. An arrival that this ignores wakes
/// the next receive, because a dropped `Notified` passes it on.
async fn end_before(
    stopped: impl Future<Output = ()>,
    deadline: impl Future<Output = ()>,
    look_again: impl Future<Output = ()>,
) -> Option<End> {
    tokio::select! {
        biased;
        () = stopped => Some(End::Stopped),
        () = deadline => Some(End::Deadline),
        () = look_again => None,
    }
}

/// Waits until the queue can have a message without a request, or until that time has changed.
async fn next_moment(shared: &Shared, queue: &SharedQueue, wake_at: Option<Timestamp>) {
    tokio::select! {
        biased;
        () = queue.sooner.notified() => {}
        () = shared.moment(wake_at) => {}
    }
}

/// On AWS, a queue can be its own dead-letter queue. Here such a policy has no effect: messages would move to the same
/// queue forever.
pub(super) fn has_dead_letter_queue(shared: &Shared, queue: &Queue) -> bool {
    let target = queue.attributes().redrive.as_ref().map(|policy| &policy.target);
    target.is_some_and(|target| target != queue.arn() && shared.find_arn(target).is_some())
}

/// Moves a dead letter to its queue, or back if that queue was deleted.
pub(super) fn forward(shared: &Shared, source: &SharedQueue, letter: InTransit) {
    let now = shared.clock.now();
    let refused = match shared.find_arn(letter.destination()) {
        Some(target) => target.even_deleted(|queue| queue.accept_dead_letter(now, letter)).err(),
        None => Some(letter),
    };
    if let Some(letter) = refused {
        source.even_deleted(|queue| queue.take_back(now, letter));
    }
}

fn over_limit() -> ServiceError {
    let text = "Too many messages have been received without being deleted.";
    ServiceError::new(ErrorCode::OverLimit, text)
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn deadline_has_priority_and_the_arrival_wakes_the_next_receive() {
        let arrivals = Notify::new();
        let (mut first, mut second) = (pin!(arrivals.notified()), pin!(arrivals.notified()));
        first.as_mut().enable();
        second.as_mut().enable();
        arrivals.notify_one();
        assert_eq!(end_before(pending(), ready(()), first.as_mut()).await, Some(End::Deadline));
        first.set(arrivals.notified());
        assert!(second.as_mut().enable(), "the arrival wakes the second receive");
    }

    #[tokio::test]
    async fn shutdown_has_priority_over_deadline_and_arrival() {
        assert_eq!(end_before(ready(()), ready(()), ready(())).await, Some(End::Stopped));
        assert_eq!(end_before(pending(), pending(), ready(())).await, None);
    }
}
