//! Resets a server to its initial state, without a restart.

use super::Service;
use crate::sqs::engine::QuotaTable;

impl Service {
    /// Deletes all queues, ends their long polls, move tasks and faults, and sets the clock to its start.
    /// Incarnations continue, so earlier receipt handles are not valid for later queues.
    pub(crate) fn reset(&self) {
        let shared = &self.shared;
        shared.faults.delays().end();
        // Before the queues, so that no queue is created by the earlier clock: receives that wake may create their queue on demand.
        shared.clock.restart(self.start.time, self.start.frozen);
        for account in shared.accounts.take_all() {
            account.clear(shared.clock.now());
        }
        shared.faults.clear();
        *shared.throughput.write() = QuotaTable::default();
        self.forget_findings();
        shared.queues_changed.notify_waiters();
    }
}
