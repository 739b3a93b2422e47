//! The tasks of a lane.
//!
//! ```text
//! enqueue -> LaneHandle::admit -> Todo -> begin -> send: request, complete, next --+
//!                                  |                 ^---- its next batch ---------+
//!                                  +----> watch: sleeps until a linger, a pause or a deadline ends
//! ```
//! They run on the runtime that enqueues, unless the client has its own. If a task ends early, by a panic or because its runtime
//! ends, its batch ends as aborted. If no task is left to send waiting entries, they end as aborted, too.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::Abortable;
use sqs_client::client::Execute;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::kind::Kind;
use super::lane_handle::{Due, LaneHandle, Todo, Work};
use super::request::Request;

/// Starts the tasks that a change of a lane requires.
pub(crate) fn start<K: Kind, H: Execute>(
    lane: &Arc<LaneHandle<K>>,
    client: &H,
    runtime: &Handle,
    todo: Todo<K>,
) {
    let Todo { starts, due, alarm } = todo;
    let task = |work| Task {
        lane: Arc::clone(lane),
        client: client.clone(),
        runtime: runtime.clone(),
        work: Some(work),
    };
    if starts {
        runtime.spawn(task(Work::Start(runtime.id())).begin());
    }
    for due in due {
        runtime.spawn(task(Work::Batch(due.batch.number)).send(due));
    }
    if let Some((at, ring)) = alarm {
        runtime.spawn(task(Work::Alarm(runtime.id())).watch(at, ring));
    }
}

/// A task of a lane. If it is dropped before its work is done, it informs the lane.
struct Task<K: Kind, H: Execute> {
    lane: Arc<LaneHandle<K>>,
    client: H,
    runtime: Handle,
    work: Option<Work>,
}

impl<K: Kind, H: Execute> Task<K, H> {
    /// Sends what is due.
    async fn begin(mut self) {
        self.work = None;
        let todo = self.lane.begin(self.runtime.id());
        if let Some(first) = self.take_first(todo) {
            self.send(first).await;
        }
    }

    /// Sends a batch, and further ones as long as there are any.
    async fn send(mut self, first: Due<K>) {
        let mut due = Some(first);
        while let Some(Due { batch, given_up }) = due {
            let (number, entries) = (batch.number, batch.size.entries);
            let request = Request::new(&self.lane, batch).send(&self.client);
            if let Ok((answer, loads)) = Abortable::new(request, given_up).await {
                self.lane.complete(number, answer, loads);
            }
            self.work = Some(Work::Answered);
            if entries > 1 {
                // Senders whose tickets have just resolved may have entries for the same batch.
                tokio::task::yield_now().await;
            }
            self.work = None;
            let todo = self.lane.next(self.runtime.id());
            due = self.take_first(todo);
        }
    }

    /// Takes a batch for this task, and starts others for the rest.
    fn take_first(&mut self, mut todo: Todo<K>) -> Option<Due<K>> {
        let first = (!todo.due.is_empty()).then(|| todo.due.remove(0));
        self.work = first.as_ref().map(|due| Work::Batch(due.batch.number));
        start(&self.lane, &self.client, &self.runtime, todo);
        first
    }

    /// Runs the alarm of its runtime.
    async fn watch(mut self, at: Instant, ring: Arc<Notify>) {
        let mut sleep = pin!(sleep_until(at));
        loop {
            tokio::select! {
                () = ring.notified() => {}
                () = &mut sleep => {}
            }
            let (todo, next) = self.lane.alarm(self.runtime.id());
            start(&self.lane, &self.client, &self.runtime, todo);
            match next {
                Some(next) => sleep.as_mut().reset(next),
                None => return self.work = None,
            }
        }
    }
}

impl<K: Kind, H: Execute> Drop for Task<K, H> {
    fn drop(&mut self) {
        if let Some(work) = self.work {
            self.lane.abandon(work);
        }
    }
}
