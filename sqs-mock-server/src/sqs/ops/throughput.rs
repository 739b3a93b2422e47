//! The throughput quotas of a server.
//!
//! Each queue has a copy of its quotas, so that requests do not lock these settings.

use parking_lot::RwLock;

use crate::service::arn::QueueArn;
use crate::sqs::engine::{QuotaTable, ThroughputQuotas};

/// All quotas that are set. While this is locked, nothing else may be locked.
#[derive(Debug, Default)]
pub(super) struct ThroughputSettings(RwLock<QuotaTable>);

impl ThroughputSettings {
    /// The quotas of a queue.
    pub(super) fn of(&self, arn: &QueueArn) -> Option<ThroughputQuotas> {
        self.0.read().of(arn)
    }

    /// All quotas.
    pub(super) fn table(&self) -> QuotaTable {
        self.0.read().clone()
    }

    /// Changes quotas, but not the copies in queues.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut QuotaTable) -> T) -> T {
        change(&mut self.0.write())
    }
}
