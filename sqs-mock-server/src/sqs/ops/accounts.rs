//! The accounts and regions of a server that have queues.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::changes::{Change, ChangeReader};
use super::shared::SharedQueue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::{MoveTasks, QueueDirectory, Settings};

/// Accounts without queues are removed when there are this many accounts.
const MANY: usize = 1024;

/// More queues than are deleted between two resets.
const RESET: u64 = 1 << 32;

/// One account in one region.
#[derive(Debug)]
pub(super) struct AccountRegion {
    /// Held while the redrive policy of a queue and the dead-letter relation of the directory change together, and while a
    /// queue is deleted, so that the relation always agrees with the policies. Locked before all others.
    pub(super) redrive: Mutex<()>,
    /// Its holder locks no queue.
    pub(super) directory: RwLock<QueueDirectory<SharedQueue>>,
    tasks: Mutex<MoveTasks>,
    reader: Option<Arc<dyn ChangeReader>>,
    /// Wakes movers that wait for their next message, when a task is cancelled.
    pub(super) cancelled: Notify,
}

/// All accounts by region. Locked for lookups only; its holder locks no queue.
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
    /// The most deletions of queues in a removed account.
    deletions: u64,
}

impl AccountRegion {
    /// Does something with the move tasks, and passes their changes on.
    pub(super) fn tasks<T>(&self, act: impl FnOnce(&mut MoveTasks) -> T) -> T {
        let mut tasks = self.tasks.lock();
        let result = act(&mut tasks);
        if let Some(reader) = &self.reader {
            tasks.take_changes().into_iter().for_each(|task| reader.read(Change::MoveTask(task)));
        }
        result
    }

    /// Deletes all queues and move tasks. Holders of this account find it empty.
    pub(super) fn clear(&self, now: Timestamp) {
        self.tasks(MoveTasks::forget_all);
        self.cancelled.notify_waiters();
        let names = self.directory.read().list("", None, usize::MAX).names;
        for name in names {
            let deleted = self.directory.write().delete(now, &name);
            if let Some(queue) = deleted {
                queue.close();
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

    /// Adds the account with its first queue.
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
                tasks: Mutex::new(MoveTasks::new(self.reader.is_some())),
                reader: self.reader.clone(),
                cancelled: Notify::new(),
            })
        };
        Arc::clone(accounts.entry(account.into()).or_insert_with(new))
    }

    /// Removes all accounts. Later queues have other incarnations than theirs.
    pub(super) fn take_all(&self) -> Vec<Arc<AccountRegion>> {
        let mut table = self.table.write();
        table.count = 0;
        table.deletions += RESET;
        let by_region = std::mem::take(&mut table.by_region);
        by_region.into_values().flat_map(HashMap::into_values).collect()
    }

    /// All accounts with region and account id, in no order.
    pub(super) fn named(&self) -> Vec<(Box<str>, Box<str>, Arc<AccountRegion>)> {
        let table = self.table.read();
        let by_account = table.by_region.iter();
        let named = by_account.flat_map(|(region, accounts)| accounts.iter().map(move |it| (region, it)));
        named.map(|(region, (id, account))| (region.clone(), id.clone(), Arc::clone(account))).collect()
    }

    /// All accounts, in no order.
    pub(super) fn all(&self) -> Vec<Arc<AccountRegion>> {
        self.table.read().by_region.values().flat_map(HashMap::values).map(Arc::clone).collect()
    }
}

impl Table {
    /// Removes accounts without queues, and forgets which names they block for a minute. Callers choose the account, and
    /// there are 10^12: creating and deleting a queue in each must not fill the memory.
    fn sweep(&mut self) {
        let Self { by_region, count, deletions, .. } = self;
        by_region.retain(|_, accounts| {
            accounts.retain(|_, account| {
                // Another holder, such as a request that creates a queue, got it before this lock.
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
    fn empty_worlds_do_not_pile_up() {
        let accounts = accounts();
        for account in 0..10 * MANY {
            accounts.get_or_new("us-east-1", &account.to_string());
        }
        assert!(accounts.all().len() <= MANY, "{}", accounts.all().len());
    }

    #[test]
    fn world_that_somebody_holds_stays() {
        let accounts = accounts();
        let held = accounts.get_or_new("us-east-1", "held");
        for account in 0..2 * MANY {
            accounts.get_or_new("us-east-1", &account.to_string());
        }
        assert!(accounts.get("us-east-1", "held").is_some_and(|account| Arc::ptr_eq(&account, &held)));
        assert!(accounts.get("us-east-1", "0").is_none());
    }

    #[test]
    fn number_of_realms_is_right_after_sweeps() {
        let accounts = accounts();
        for account in 0..3 * MANY {
            accounts.get_or_new(&format!("region-{}", account % 7), &account.to_string());
        }
        assert_eq!(accounts.table.read().count, accounts.all().len());
    }
}
