//! The state that operations and background tasks share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::accounts::{AccountRegion, Accounts};
use super::changes::ChangeReader;
use super::memory::Memory;
use super::quota::QueueQuota;
use super::shared::SharedQueue;
use super::throughput::ThroughputSettings;
use crate::service::arn::QueueArn;
use crate::service::clock::Clock;
use crate::service::faults::Faults;
use crate::service::seed::{Seed, uuid};
use crate::sqs::engine::Settings;
use crate::sqs::findings::{DeniedDeliveries, Findings};

/// The state of a server.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) seed: Seed,
    pub(super) settings: Settings,
    pub(super) accounts: Accounts,
    pub(super) quota: QueueQuota,
    pub(super) memory: Memory,
    pub(super) throughput: ThroughputSettings,
    /// Findings of strict mode; `None` without it.
    pub(super) findings: Option<Arc<Findings>>,
    pub(super) denied_deliveries: DeniedDeliveries,
    pub(super) reader: Option<Arc<dyn ChangeReader>>,
    /// Number of parked receives.
    pub(super) parked: AtomicUsize,
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
            memory: Memory::new(settings.max_memory),
            throughput: ThroughputSettings::default(),
            findings: settings.strict.then(Arc::default),
            denied_deliveries: DeniedDeliveries::default(),
            reader,
            parked: AtomicUsize::new(0),
            ids: Mutex::new(seed.generator("request ids")),
            stop: watch::Sender::new(false),
            faults: Faults::new(seed),
            queues_changed: Notify::new(),
        }
    }

    pub(super) fn account(&self, region: &str, account: &str) -> Option<Arc<AccountRegion>> {
        self.accounts.get(region, account)
    }

    pub(super) fn find(&self, region: &str, account: &str, name: &str) -> Option<Arc<SharedQueue>> {
        self.account(region, account)?.directory.read().get(name).map(Arc::clone)
    }

    pub(super) fn find_arn(&self, arn: &QueueArn) -> Option<Arc<SharedQueue>> {
        self.find(&arn.region, &arn.account, &arn.name)
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

    /// Waits until the service is shut down.
    pub(super) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // There is no error: the sender is in `self` and outlives the wait.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
