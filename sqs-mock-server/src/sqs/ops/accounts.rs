//! The accounts and regions of a server that have queues.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::changes::{Change, ChangeReader};
use super::shared::SharedQueue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::{MoveTasks, QueueDirectory, Settings};

/// Accounts without queues are swept when there are this many accounts.
const MANY: usize = 1024;

/// More deletions of queues than can happen between two resets.
const RESET: u64 = 1 << 32;

/// One account in one region.
#[derive(Debug)]
pub(super) struct AccountRegion {
    /// Locked while the redrive policy of a queue and the dead-letter relation of the directory change together, and
    /// while a queue is deleted, so that both always agree. Locked before all other locks.
    pub(super) redrive: Mutex<()>,
    /// While it is locked, no queue may be locked.
    pub(super) directory: RwLock<QueueDirectory<SharedQueue>>,
    /// Set with the directory locked, before its queues are deleted for good.
    closed: AtomicBool,
    tasks: Mutex<MoveTasks>,
    reader: Option<Arc<dyn ChangeReader>>,
    /// Wakes movers that wait for their next message when a task is cancelled.
    pub(super) cancelled: Notify,
}

/// All accounts by region. Locked for lookups only; while it is locked, no queue may be locked.
#[derive(Debug)]
pub(super) struct Accounts {
    settings: Settings,
    reader: Option<Arc<dyn ChangeReader>>,
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    by_region: HashMap<Box<str>, HashMap<Box<str>, Arc<AccountRegion>>>,
    count: usize,
    sweep_at: usize,
    /// Maximum number of queue deletions among the removed accounts.
    deletions: u64,
}

impl AccountRegion {
    /// Runs `act` on the move tasks, and passes their changes to the reader.
    pub(super) fn tasks<T>(&self, act: impl FnOnce(&mut MoveTasks) -> T) -> T {
        let mut tasks = self.tasks.lock();
        let result = act(&mut tasks);
        if let Some(reader) = &self.reader {
            tasks.take_changes().into_iter().for_each(|change| reader.read(Change::MoveTask(change)));
        }
        result
    }

    /// Whether the account was cleared: a queue that is created in it is lost. Stable while the directory is locked.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Deletes all queues and move tasks for good. Callers that still hold this account find it empty.
    pub(super) fn clear(&self, now: Timestamp) {
        self.tasks(MoveTasks::forget_all);
        self.cancelled.notify_waiters();
        let names = {
            let directory = self.directory.write();
            self.closed.store(true, Ordering::Release);
            directory.list("", None, usize::MAX).names
        };
        for name in names {
            let deleted = self.directory.write().delete(now, &name);
            if let Some(queue) = deleted {
                queue.close(now);
            }
        }
    }
}

impl Accounts {
    pub(super) fn new(settings: Settings, reader: Option<Arc<dyn ChangeReader>>) -> Self {
        let table = Table { sweep_at: MANY, ..Table::default() };
        Self { settings, reader, table: RwLock::new(table) }
    }

    pub(super) fn get(&self, region: &str, account: &str) -> Option<Arc<AccountRegion>> {
        self.table.read().by_region.get(region)?.get(account).map(Arc::clone)
    }

    /// Finds or adds an account. Callers add one with its first queue.
    pub(super) fn get_or_new(&self, region: &str, account: &str) -> Arc<AccountRegion> {
        if let Some(account) = self.get(region, account) {
            return account;
        }
        let mut table = self.table.write();
        if table.count >= table.sweep_at {
            table.sweep();
        }
        let Table { by_region, count, deletions, .. } = &mut *table;
        let accounts = by_region.entry(region.into()).or_default();
        let new = || {
            *count += 1;
            Arc::new(AccountRegion {
                redrive: Mutex::default(),
                directory: RwLock::new(QueueDirectory::after(*deletions, self.settings)),
                closed: AtomicBool::new(false),
                tasks: Mutex::new(MoveTasks::new(self.reader.is_some())),
                reader: self.reader.clone(),
                cancelled: Notify::new(),
            })
        };
        Arc::clone(accounts.entry(account.into()).or_insert_with(new))
    }

    /// Removes all accounts. Later queues have other incarnations.
    pub(super) fn take_all(&self) -> Vec<Arc<AccountRegion>> {
        let mut table = self.table.write();
        table.count = 0;
        table.deletions += RESET;
        // Under the lock: later queues are in new accounts, so their changes follow.
        self.reader.iter().for_each(|reader| reader.read(Change::Reset));
        let by_region = std::mem::take(&mut table.by_region);
        by_region.into_values().flat_map(HashMap::into_values).collect()
    }

    /// Continues after the queues of an earlier process: later queues have other incarnations.
    #[cfg(feature = "durable")]
    pub(super) fn continue_after(&self, deletions: u64) {
        self.table.write().deletions = deletions;
    }

    /// All accounts, in no particular order.
    pub(super) fn all(&self) -> Vec<Arc<AccountRegion>> {
        self.table.read().by_region.values().flat_map(HashMap::values).map(Arc::clone).collect()
    }
}

impl Table {
    /// Removes accounts without queues, and their names that are blocked for 60 seconds. Callers choose the account,
    /// and there are 10^12: creating and deleting a queue in each must not exhaust the memory.
    fn sweep(&mut self) {
        let Self { by_region, count, deletions, .. } = self;
        by_region.retain(|_, accounts| {
            accounts.retain(|_, account| {
                // Other holders, such as a request that creates a queue, got the account before the table was locked.
                let directory = account.directory.read();
                let empty = Arc::strong_count(account) == 1 && directory.is_empty();
                if empty {
                    *deletions = directory.deletions().max(*deletions);
                    *count -= 1;
                }
                !empty
            });
            !accounts.is_empty()
        });
        self.sweep_at = MANY.max(2 * self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts() -> Accounts {
        Accounts::new(Settings::default(), None)
    }

    #[test]
    fn number_of_accounts_without_queues_is_bounded() {
        let accounts = accounts();
        for account in 0..10 * MANY {
            accounts.get_or_new("us-east-1", &account.to_string());
        }
        assert!(accounts.all().len() <= MANY, "{}", accounts.all().len());
    }

    #[test]
    fn account_in_use_is_not_removed() {
        let accounts = accounts();
        let held = accounts.get_or_new("us-east-1", "held");
        for account in 0..2 * MANY {
            accounts.get_or_new("us-east-1", &account.to_string());
        }
        assert!(accounts.get("us-east-1", "held").is_some_and(|account| Arc::ptr_eq(&account, &held)));
        assert!(accounts.get("us-east-1", "0").is_none());
    }

    #[test]
    fn number_of_accounts_is_exact_after_sweeps() {
        let accounts = accounts();
        for account in 0..3 * MANY {
            accounts.get_or_new(&format!("region-{}", account % 7), &account.to_string());
        }
        assert_eq!(accounts.table.read().count, accounts.all().len());
    }
}
