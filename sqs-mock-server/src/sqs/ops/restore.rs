//! Restores the state that a store kept.

use std::io;
use std::sync::Arc;

use crate::control::arn::QueueArn;
use crate::control::clock::ClockSetting;
use crate::control::clock::Timestamp;
use crate::sqs::engine::change::QueueId;
use crate::sqs::engine::move_task::MoveTask;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::state::QueueState;
use crate::sqs::ops::move_task::Mover;
use crate::sqs::service::Service;

/// The state of a server of an earlier process.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    /// How the clock was set; `None` if there was no such process.
    pub(crate) clock: Option<ClockSetting>,
    /// The queues.
    pub(crate) queues: Vec<(QueueId, QueueState)>,
    /// Queues that were deleted, and when.
    pub(crate) deleted: Vec<(QueueArn, Timestamp)>,
    /// The move tasks, in the order of their start.
    pub(crate) tasks: Vec<MoveTask>,
    /// Later queues have incarnations from this number on.
    pub(crate) deletions: u64,
    /// Number of earlier processes.
    pub(crate) starts: u64,
}

impl Service {
    /// Restores the state of an earlier process, before the first request. Active move tasks continue if this is called
    /// within a runtime of tokio.
    ///
    /// # Errors
    /// There are more queues than the limit allows.
    pub(crate) fn restore(&self, restored: Restored) -> io::Result<()> {
        let shared = &self.shared;
        if let Some(setting) = restored.clock {
            shared.clock.restore(setting);
        }
        shared.continue_ids(restored.starts);
        shared.accounts.continue_after(restored.deletions);
        let now = shared.clock.now();
        for (id, state) in restored.queues {
            self.restore_queue(now, id, state)?;
        }
        for (arn, deleted) in restored.deleted {
            let account = shared.accounts.get_or_new(&arn.region, &arn.account);
            account.directory.write().restore_deletion(deleted, &arn.name);
        }
        for task in restored.tasks {
            self.restore_task(task);
        }
        Ok(())
    }

    /// Allows a name that an earlier process has deleted.
    pub(crate) fn unblock(&self, arn: &QueueArn) {
        if let Some(account) = self.shared.account_of(arn) {
            account.directory.write().unblock(&arn.name);
        }
    }

    fn restore_queue(&self, now: Timestamp, id: QueueId, state: QueueState) -> io::Result<()> {
        let shared = &self.shared;
        let arn = Arc::clone(&id.arn);
        let quota_share = shared.quota.take().map_err(|_| {
            let limit = shared.settings.max_queues;
            let text = format!("the data directory has more queues than the {limit} that max_queues allows");
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })?;
        let dead_letter_queue = state.attributes.redrive.as_ref().map(|policy| policy.target.name.clone());
        let queue = shared.share(Queue::restore(now, id, state, shared.settings), quota_share);
        // Counts its memory.
        queue.look(|_| ());
        let account = shared.accounts.get_or_new(&arn.region, &arn.account);
        let mut directory = account.directory.write();
        directory.restore(&arn.name, queue);
        directory.set_dead_letter_queue(&arn.name, dead_letter_queue.as_deref());
        Ok(())
    }

    fn restore_task(&self, task: MoveTask) {
        let shared = &self.shared;
        let source = &task.order.source;
        let Some(queue) = shared.find_arn(source) else { return };
        let account = shared.accounts.get_or_new(&source.region, &source.account);
        account.tasks(|tasks| tasks.restore(task.clone()));
        if task.status.is_active() && tokio::runtime::Handle::try_current().is_ok() {
            Mover { shared: Arc::clone(shared), account, source: queue, task }.spawn();
        }
    }
}
