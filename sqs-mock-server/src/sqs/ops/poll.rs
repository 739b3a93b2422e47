//! Receiving, now or when something comes.
//!
//! ```text
//! receive --messages--> answer
//!    | nothing
//!    v
//! park: wait for (shutdown | deadline | arrival | the queue's next moment, as watcher) --> receive again
//! ```
//! Taking messages and answering is one step without an await: a receive that is dropped has taken nothing. Each step
//! moves a bounded number of dead letters.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::Context;
use super::shared::SharedQueue;
use super::state::Shared;
use super::usage::Parked;
use crate::service::clock::Timestamp;
use crate::service::stopwatch::Stopwatch;
use crate::sqs::engine::{DeadLetter, Delivery, Metered, Outcome, Queue, Receive, Received};

/// One receive on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poll<'a> {
    pub(super) shared: &'a Shared,
    pub(super) context: &'a Context,
    pub(super) queue: &'a Arc<SharedQueue>,
    pub(super) request: Receive<'a>,
}

impl Poll<'_> {
    /// Receives, and waits as long as the request or the queue says.
    ///
    /// # Cancel safety
    /// Dropped before its end, it has taken no message, and what woke it wakes another receive instead.
    pub(super) async fn receive(self) -> Result<Vec<Delivery>, ServiceError> {
        let Received { outcome, wait, .. } = self.take(Step::First).await?;
        match outcome {
            Outcome::Messages(messages) => Ok(messages),
            Outcome::OverLimit { .. } if wait.is_zero() => Err(over_limit()),
            Outcome::Empty { .. } | Outcome::OverLimit { .. } if wait.is_zero() => Ok(Vec::new()),
            Outcome::Empty { .. } | Outcome::OverLimit { .. } => {
                let watch = Stopwatch::start();
                let messages = self.park(wait).await;
                self.context.trace.note_wait(watch.elapsed());
                messages
            }
        }
    }

    async fn park(self, wait: Duration) -> Result<Vec<Delivery>, ServiceError> {
        let Self { shared, queue, .. } = self;
        let mut stopped = pin!(shared.stopped());
        let mut deadline = pin!(shared.clock.sleep_until(shared.clock.now() + wait));
        let _parked = Parked::new(&shared.parked);
        let mut watch = None;
        // Listening starts before the queue is asked, so that no arrival in between is missed, and goes on
        // whatever else happens, so that nobody loses their place.
        let mut arrival = pin!(queue.arrival.notified());
        loop {
            arrival.as_mut().enable();
            watch = watch.or_else(|| queue.watch.try_lock().ok());
            let wake_at = match self.take(Step::Later).await?.outcome {
                Outcome::Messages(messages) => return Ok(self.handing_on(messages)),
                Outcome::Empty { wake_at } | Outcome::OverLimit { wake_at } => wake_at,
            };
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
                Some(End::Deadline) => return self.last_chance().await,
                None => {}
            }
        }
    }

    /// What comes at the very moment of the deadline is still in time.
    async fn last_chance(self) -> Result<Vec<Delivery>, ServiceError> {
        match self.take(Step::Later).await?.outcome {
            Outcome::Messages(messages) => Ok(self.handing_on(messages)),
            Outcome::Empty { .. } | Outcome::OverLimit { .. } => Ok(Vec::new()),
        }
    }

    /// What a woken receive leaves behind is for the next one.
    fn handing_on(self, messages: Vec<Delivery>) -> Vec<Delivery> {
        let now = self.shared.clock.now();
        let available = self.queue.unless_deleted(|queue| queue.counts(now).available);
        if available.is_some_and(|available| available > 0) {
            self.queue.arrival.notify_one();
        }
        messages
    }

    /// Takes what is there. Between steps that find nothing but dead letters, others have their turn at the queue.
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

/// A receive is one call, however often it looks at its queue.
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

/// Waits for the end of a parked receive or for a reason to look again, which gives `None`. The end comes first:
/// where others take whatever arrives, there can always be another reason. An arrival that this passes over goes
/// to the next receive, since `Notified` hands on when it is dropped.
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

/// A queue can be its own dead-letter queue on AWS. It has none here: its messages would move for ever.
fn has_dead_letter_queue(shared: &Shared, queue: &Queue) -> bool {
    let target = queue.attributes().redrive.as_ref().map(|policy| &policy.target);
    target.is_some_and(|target| target != queue.arn() && shared.find_arn(target).is_some())
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
    let text = "Too many messages have been received without being deleted.";
    ServiceError::new(ErrorCode::OverLimit, text)
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn deadline_comes_before_an_arrival_which_goes_to_the_next() {
        let arrivals = Notify::new();
        let (mut first, mut second) = (pin!(arrivals.notified()), pin!(arrivals.notified()));
        first.as_mut().enable();
        second.as_mut().enable();
        arrivals.notify_one();
        assert_eq!(end_before(pending(), ready(()), first.as_mut()).await, Some(End::Deadline));
        first.set(arrivals.notified());
        assert!(second.as_mut().enable(), "the arrival was handed on");
    }

    #[tokio::test]
    async fn shutdown_comes_before_everything() {
        assert_eq!(end_before(ready(()), ready(()), ready(())).await, Some(End::Stopped));
        assert_eq!(end_before(pending(), pending(), ready(())).await, None);
    }
}
