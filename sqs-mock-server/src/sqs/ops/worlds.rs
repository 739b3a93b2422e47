//! The worlds of a server: one for each account in each region that has queues.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::changes::{Change, ChangeReader};
use super::shared::SharedQueue;
use crate::sqs::engine::{MoveTasks, Settings, World};

/// From how many worlds on those without queues are looked for.
const MANY: usize = 1024;

/// More queues than are deleted between two resets.
const RESET: u64 = 1 << 32;

/// One account in one region.
#[derive(Debug)]
pub(super) struct Realm {
    /// Held while the redrive policy of a queue and the dead-letter relation of the world change together, and while a
    /// queue is deleted, so that the relation always says what the policies say. Locked before all others.
    pub(super) redrive: Mutex<()>,
    /// Never locked by a holder of a queue's lock.
    pub(super) world: RwLock<World<SharedQueue>>,
    tasks: Mutex<MoveTasks>,
    reader: Option<Arc<dyn ChangeReader>>,
    /// Movers that wait for their next message wait here too, for being cancelled.
    pub(super) cancelled: Notify,
}

/// All realms, by region and account. Locked for lookups only.
#[derive(Debug)]
pub(super) struct Worlds {
    settings: Settings,
    reader: Option<Arc<dyn ChangeReader>>,
    realms: RwLock<Realms>,
}

#[derive(Debug, Default)]
struct Realms {
    by_region: HashMap<Box<str>, HashMap<Box<str>, Arc<Realm>>>,
    count: usize,
    /// No look for empty ones before there are so many.
    sweep_at: usize,
    /// As many queues were deleted in any realm that is gone.
    deletions: u64,
}

impl Realm {
    /// Does something with the move tasks, and passes their changes on.
    pub(super) fn tasks<T>(&self, act: impl FnOnce(&mut MoveTasks) -> T) -> T {
        let mut tasks = self.tasks.lock();
        let result = act(&mut tasks);
        if let Some(reader) = &self.reader {
            tasks.take_changes().into_iter().for_each(|task| reader.read(Change::MoveTask(task)));
        }
        result
    }
}

impl Worlds {
    pub(super) fn new(settings: Settings, reader: Option<Arc<dyn ChangeReader>>) -> Self {
        let realms = Realms { sweep_at: MANY, ..Realms::default() };
        Self { settings, reader, realms: RwLock::new(realms) }
    }

    pub(super) fn get(&self, region: &str, account: &str) -> Option<Arc<Realm>> {
        self.realms.read().by_region.get(region)?.get(account).map(Arc::clone)
    }

    /// A realm comes into being with its first queue.
    pub(super) fn get_or_new(&self, region: &str, account: &str) -> Arc<Realm> {
        if let Some(realm) = self.get(region, account) {
            return realm;
        }
        let mut realms = self.realms.write();
        if realms.count >= realms.sweep_at {
            realms.sweep();
        }
        let Realms { by_region, count, deletions, .. } = &mut *realms;
        let accounts = by_region.entry(region.into()).or_default();
        let new = || {
            *count += 1;
            Arc::new(Realm {
                redrive: Mutex::default(),
                world: RwLock::new(World::after(*deletions, self.settings)),
                tasks: Mutex::new(MoveTasks::new(self.reader.is_some())),
                reader: self.reader.clone(),
                cancelled: Notify::new(),
            })
        };
        Arc::clone(accounts.entry(account.into()).or_insert_with(new))
    }

    /// Takes all realms, which nobody finds any more. Later queues are told apart from theirs.
    pub(super) fn take_all(&self) -> Vec<Arc<Realm>> {
        let mut realms = self.realms.write();
        realms.count = 0;
        realms.deletions += RESET;
        let by_region = std::mem::take(&mut realms.by_region);
        by_region.into_values().flat_map(HashMap::into_values).collect()
    }

    /// All realms of this moment with region and account, in no order.
    pub(super) fn named(&self) -> Vec<(Box<str>, Box<str>, Arc<Realm>)> {
        let realms = self.realms.read();
        let by_account = realms.by_region.iter();
        let named = by_account.flat_map(|(region, accounts)| accounts.iter().map(move |it| (region, it)));
        named.map(|(region, (account, realm))| (region.clone(), account.clone(), Arc::clone(realm))).collect()
    }

    /// All realms of this moment, in no order.
    pub(super) fn all(&self) -> Vec<Arc<Realm>> {
        self.realms.read().by_region.values().flat_map(HashMap::values).map(Arc::clone).collect()
    }
}

impl Realms {
    /// Callers choose account and region, and there are 10^12 accounts: whoever creates and deletes a queue in each
    /// must not fill the memory with empty worlds. What these still know, which names are blocked for a minute, is
    /// forgotten.
    fn sweep(&mut self) {
        let Self { by_region, count, deletions, .. } = self;
        by_region.retain(|_, accounts| {
            accounts.retain(|_, realm| {
                // Whoever holds it besides, such as somebody about to create a queue, got it before this lock.
                let world = realm.world.read();
                let empty = Arc::strong_count(realm) == 1 && world.is_empty();
                if empty {
                    *deletions = world.deletions().max(*deletions);
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

    fn worlds() -> Worlds {
        Worlds::new(Settings::default(), None)
    }

    #[test]
    fn empty_worlds_do_not_pile_up() {
        let worlds = worlds();
        for account in 0..10 * MANY {
            worlds.get_or_new("us-east-1", &account.to_string());
        }
        assert!(worlds.all().len() <= MANY, "{}", worlds.all().len());
    }

    #[test]
    fn world_that_somebody_holds_stays() {
        let worlds = worlds();
        let held = worlds.get_or_new("us-east-1", "held");
        for account in 0..2 * MANY {
            worlds.get_or_new("us-east-1", &account.to_string());
        }
        assert!(worlds.get("us-east-1", "held").is_some_and(|realm| Arc::ptr_eq(&realm, &held)));
        assert!(worlds.get("us-east-1", "0").is_none());
    }

    #[test]
    fn number_of_realms_is_right_after_sweeps() {
        let worlds = worlds();
        for account in 0..3 * MANY {
            worlds.get_or_new(&format!("region-{}", account % 7), &account.to_string());
        }
        assert_eq!(worlds.realms.read().count, worlds.all().len());
    }
}
