//! Throughput quotas by scope.

use std::collections::BTreeMap;

use super::ThroughputQuotas;
use crate::service::arn::QueueArn;

/// The scope of throughput quotas. Quotas of a queue take precedence over those of its account, which take precedence
/// over those of the server.
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
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct QuotaTable(BTreeMap<QuotaScope, Option<ThroughputQuotas>>);

impl QuotaTable {
    /// The quotas of a queue.
    pub(crate) fn of(&self, arn: &QueueArn) -> Option<ThroughputQuotas> {
        if self.0.is_empty() || !arn.is_fifo() {
            return None;
        }
        let scopes = [
            QuotaScope::Queue(arn.clone()),
            QuotaScope::Account(arn.account.to_string()),
            QuotaScope::Server,
        ];
        scopes.iter().find_map(|scope| self.0.get(scope).copied()).flatten()
    }

    /// Sets the quotas of a scope.
    pub(crate) fn set(&mut self, scope: QuotaScope, quotas: Option<ThroughputQuotas>) {
        self.0.insert(scope, quotas);
    }

    /// Removes the quotas of a scope, so that those of the next wider scope apply. Returns whether there were any.
    pub(crate) fn remove(&mut self, scope: &QuotaScope) -> bool {
        self.0.remove(scope).is_some()
    }

    /// All quotas, the widest scope first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&QuotaScope, Option<ThroughputQuotas>)> {
        self.0.iter().map(|(scope, quotas)| (scope, *quotas))
    }
}
