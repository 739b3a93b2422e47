//! The state that operations and background tasks share.

use std::future::pending;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};

use super::accounts::{AccountRegion, Accounts};
use super::changes::ChangeReader;
use super::limits::{Memory, QueueQuota};
use super::shared::SharedQueue;
use crate::service::arn::QueueArn;
use crate::service::clock::{Clock, Timestamp};
use crate::service::faults::Faults;
use crate::service::metrics::Gauge;
use crate::service::seed::{Seed, uuid};
use crate::sqs::engine::{Queue, QuotaTable, Settings};
use crate::sqs::findings::{DeniedDeliveries, Findings};

/// The state of a server.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) seed: Seed,
    pub(super) settings: Settings,
    pub(super) accounts: Accounts,
    pub(super) quota: QueueQuota,
    pub(super) memory: Arc<Memory>,
    /// The throughput quotas that are set. While this is locked, nothing else may be locked. Each queue has a copy of its
    /// quotas, so that requests do not lock this.
    pub(super) throughput: RwLock<QuotaTable>,
    /// Findings of strict mode; `None` without it.
    pub(super) findings: Option<Arc<Findings>>,
    pub(super) denied_deliveries: DeniedDeliveries,
    pub(super) reader: Option<Arc<dyn ChangeReader>>,
    /// Parked receives.
    pub(super) parked: Gauge,
    ids: Mutex<fastrand::Rng>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) faults: Faults,
    /// Wakes waiters for queues whenever a queue is created or deleted.
    pub(super) queues_changed: Notify,
}

impl Shared {
    pub(super) fn new(
        clock: Clock,
        seed: Seed,
        settings: Settings,
        reader: Option<Arc<dyn ChangeReader>>,
    ) -> Self {
        Self {
            clock,
            seed,
            settings,
            accounts: Accounts::new(settings, reader.clone()),
            quota: QueueQuota::new(settings.max_queues),
            memory: Arc::new(Memory::new(settings.max_memory)),
            throughput: RwLock::default(),
            findings: settings.strict.then(Arc::default),
            denied_deliveries: DeniedDeliveries::default(),
            reader,
            parked: Gauge::default(),
            ids: Mutex::new(seed.generator("request ids")),
            stop: watch::Sender::new(false),
            faults: Faults::new(seed),
            queues_changed: Notify::new(),
        }
    }

    pub(super) fn account(&self, region: &str, account: &str) -> Option<Arc<AccountRegion>> {
        self.accounts.get(region, account)
    }

    pub(super) fn account_of(&self, queue: &QueueArn) -> Option<Arc<AccountRegion>> {
        self.account(&queue.region, &queue.account)
    }

    pub(super) fn find(&self, region: &str, account: &str, name: &str) -> Option<Arc<SharedQueue>> {
        self.account(region, account)?.directory.read().get(name).map(Arc::clone)
    }

    pub(super) fn find_arn(&self, arn: &QueueArn) -> Option<Arc<SharedQueue>> {
        self.find(&arn.region, &arn.account, &arn.name)
    }

    /// All queues of all accounts and regions, in no particular order.
    pub(super) fn all_queues(&self) -> Vec<Arc<SharedQueue>> {
        let mut queues = Vec::new();
        for account in self.accounts.all() {
            queues.extend(account.directory.read().all().map(Arc::clone));
        }
        queues
    }

    /// Shares a queue of this server.
    pub(super) fn share(&self, mut queue: Queue, quota_share: OwnedSemaphorePermit) -> SharedQueue {
        queue.set_quotas(self.throughput.read().of(queue.arn()));
        let (reader, findings) = (self.reader.clone(), self.findings.clone());
        SharedQueue::new(queue, Arc::clone(&self.memory), reader, findings, quota_share)
    }

    /// Makes the ids of this process differ from those of earlier ones with the same seed.
    #[cfg(feature = "durable")]
    pub(super) fn continue_ids(&self, starts: u64) {
        if starts > 0 {
            *self.ids.lock() = self.seed.generator(&format!("request ids after {starts}"));
        }
    }

    pub(super) fn new_id(&self) -> crate::service::seed::Uuid {
        uuid(&mut self.ids.lock())
    }

    /// Waits until a time; without one, forever.
    pub(super) async fn moment(&self, moment: Option<Timestamp>) {
        match moment {
            Some(moment) => self.clock.sleep_until(moment).await,
            None => pending().await,
        }
    }

    /// Waits until the service is shut down.
    pub(super) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // There is no error: the sender is in `self` and outlives the wait.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
