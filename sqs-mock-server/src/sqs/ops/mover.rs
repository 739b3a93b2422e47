//! The background task that moves the messages of one move task.
//!
//! ```text
//! StartMessageMoveTask --spawns--> Mover: step? --Move(n)--> source -> (a message as a value) -> destination, n times
//!                                           |--WaitUntil--> clock | cancelled | shutdown
//!                                           |--Ended------> return
//! ```
//! It holds at most one lock at a time, and ends with the service.

use std::sync::Arc;

use super::accounts::AccountRegion;
use super::shared::SharedQueue;
use super::state::Shared;
use crate::service::clock::Timestamp;
use crate::sqs::engine::{FailureReason, MoveStatus, MoveStep, MoveTask};

pub(super) struct Mover {
    pub(super) shared: Arc<Shared>,
    pub(super) account: Arc<AccountRegion>,
    pub(super) source: Arc<SharedQueue>,
    pub(super) task: MoveTask,
}

impl Mover {
    pub(super) fn spawn(self) {
        tokio::spawn(async move {
            let stopped = self.shared.stopped();
            tokio::select! {
                () = stopped => {}
                () = self.run() => {}
            }
        });
    }

    async fn run(&self) {
        loop {
            // Enabled before the step, so that a concurrent cancel is not missed.
            let mut cancelled = std::pin::pin!(self.account.cancelled.notified());
            cancelled.as_mut().enable();
            let now = self.shared.clock.now();
            let step = self.account.tasks(|tasks| tasks.step(now, &self.task.order.source, self.task.id));
            match step {
                MoveStep::Move(messages) => {
                    self.move_messages(now, messages);
                    tokio::task::yield_now().await;
                }
                MoveStep::WaitUntil(moment) => tokio::select! {
                    () = self.shared.clock.sleep_until(moment) => {}
                    () = cancelled => {}
                },
                MoveStep::Ended => return,
            }
        }
    }

    fn move_messages(&self, now: Timestamp, at_most: u64) {
        let (mut moved, mut end) = (0, None);
        while moved < at_most && end.is_none() {
            match self.move_one(now) {
                Ok(()) => moved += 1,
                Err(status) => end = Some(status),
            }
        }
        let (source, id) = (&self.task.order.source, self.task.id);
        self.account.tasks(|tasks| {
            tasks.moved(source, id, moved);
            if let Some(status) = end {
                tasks.end(source, id, status);
            }
        });
    }

    /// Moves a message, or returns the final status of the task.
    fn move_one(&self, now: Timestamp) -> Result<(), MoveStatus> {
        let gone = || MoveStatus::Failed(FailureReason::NonExistentQueue);
        let destination = self.task.order.destination.as_ref();
        let taken = self.source.unless_deleted(|queue| queue.take_for_move(now, destination));
        let moving = taken.ok_or_else(gone)??;
        let refused = match self.shared.find_arn(moving.destination()) {
            Some(destination) => destination.even_deleted(|queue| queue.accept_moving(now, moving)).err(),
            None => Some(moving),
        };
        let Some(moving) = refused else { return Ok(()) };
        self.source.even_deleted(|queue| queue.take_back(now, moving));
        Err(gone())
    }
}
