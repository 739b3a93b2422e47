//! Which throughput quotas apply to which queue.
//!
//! Each queue has a copy of its quotas, so that requests do not look here. A change here is copied to all queues.

use std::collections::BTreeMap;

use parking_lot::RwLock;

use crate::service::arn::QueueArn;
use crate::sqs::engine::ThroughputQuotas;

/// What throughput quotas are set for. The quotas of a queue take precedence over those of its account, and these over
/// those of the server.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum QuotaScope {
    /// All queues.
    Server,
    /// The queues of an account, given by its 12 digits.
    Account(String),
    /// One queue, whether it exists or not.
    Queue(QueueArn),
}

/// Quotas by scope; `None` for no quotas.
pub(crate) type QuotaTable = BTreeMap<QuotaScope, Option<ThroughputQuotas>>;

/// The quotas of a server.
#[derive(Debug, Default)]
pub(super) struct ThroughputSettings(RwLock<QuotaTable>);

impl ThroughputSettings {
    /// The quotas of a queue.
    pub(super) fn of(&self, arn: &QueueArn) -> Option<ThroughputQuotas> {
        let table = self.0.read();
        if table.is_empty() {
            return None;
        }
        let scopes = [
            QuotaScope::Queue(arn.clone()),
            QuotaScope::Account(arn.account.to_string()),
            QuotaScope::Server,
        ];
        scopes.iter().find_map(|scope| table.get(scope).copied()).flatten()
    }

    /// All quotas that are set.
    pub(super) fn table(&self) -> QuotaTable {
        self.0.read().clone()
    }

    /// Changes quotas, but not yet the copies of the queues.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut QuotaTable) -> T) -> T {
        change(&mut self.0.write())
    }
}
