//! Inspecting queues, and the usage of a server, without changing them. These are not operations of SQS.

use std::sync::Arc;
use std::time::Duration;

use super::Service;
use super::accounts::AccountRegion;
use super::address::Address;
use super::poll::has_dead_letter_queue;
use super::shared::SharedQueue;
use crate::service::arn::QueueArn;
use crate::sqs::engine::{Counts, QueueDescription, WhyEmpty};
use crate::sqs::findings::Finding;

/// Number of queues that are visited between yields.
const AT_ONCE: usize = 64;

/// Total usage of all queues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Usage {
    /// Queues in all accounts and regions.
    pub(crate) queues: usize,
    /// Parked receives.
    pub(crate) parked: usize,
    /// Bytes of all messages.
    pub(crate) stored_bytes: usize,
    /// The limit for bytes of all messages.
    pub(crate) max_memory: usize,
}

/// Usage of one queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct QueueUsage {
    pub(crate) arn: Arc<QueueArn>,
    pub(crate) counts: Counts,
    /// The age of its oldest message; zero without messages.
    pub(crate) oldest_age: Duration,
    pub(crate) stored_bytes: usize,
}

impl Service {
    /// All queues of all accounts and regions, sorted.
    pub(crate) fn queues(&self) -> Vec<QueueArn> {
        let mut arns: Vec<_> =
            self.shared.all_queues().iter().map(|queue| QueueArn::clone(queue.arn())).collect();
        arns.sort_unstable();
        arns
    }

    /// A description of a queue without its messages.
    pub(crate) fn describe(&self, queue: &QueueArn) -> Option<QueueDescription> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.look(|queue| queue.describe(now))
    }

    /// Why a receive would return nothing now.
    pub(crate) fn why_empty(&self, queue: &QueueArn) -> WhyEmpty {
        let now = self.clock().now();
        let found = self.shared.find_arn(queue);
        let why = found.and_then(|found| {
            found.look(|queue| queue.why_empty(now, has_dead_letter_queue(&self.shared, queue)))
        });
        match why.unwrap_or(WhyEmpty::NoSuchQueue) {
            WhyEmpty::NoMessages => {
                let denied = self.shared.denied_deliveries.latest(queue);
                denied.map_or(WhyEmpty::NoMessages, |why| WhyEmpty::Denied { why })
            }
            other => other,
        }
    }

    /// The findings of strict mode, and the number of further ones that were not stored; `None` without strict mode.
    /// First settles all queues, which finds messages that were not deleted in time.
    pub(crate) fn all_findings(&self) -> Option<(Vec<Arc<Finding>>, usize)> {
        let findings = self.findings()?;
        for queue in self.queues() {
            self.counts(&queue);
        }
        Some(findings.all())
    }

    /// Removes all findings. Denied deliveries are reported again.
    pub(crate) fn forget_findings(&self) {
        self.shared.denied_deliveries.clear();
        if let Some(findings) = self.findings() {
            findings.clear();
        }
    }

    /// Names of the queues whose dead-letter queue is `queue`.
    pub(crate) fn dead_letter_sources(&self, queue: &QueueArn) -> Vec<Arc<str>> {
        let account = self.shared.account_of(queue);
        let sources = |account: Arc<AccountRegion>| {
            account.directory.read().sources_of(&queue.name, None, usize::MAX).names
        };
        account.map(sources).unwrap_or_default()
    }

    /// Total usage of all queues.
    pub(crate) fn usage(&self) -> Usage {
        let shared = &self.shared;
        Usage {
            queues: shared.quota.used(),
            parked: shared.parked.count(),
            stored_bytes: shared.memory.used(),
            max_memory: shared.memory.ceiling,
        }
    }

    /// Usage of each queue, sorted by ARN. Queues are locked one at a time, so the figures of two queues can be from
    /// different times. Yields to other tasks in between.
    ///
    /// # Cancel safety
    /// Changes nothing.
    pub(crate) async fn usage_by_queue(&self) -> Vec<QueueUsage> {
        let mut queues = self.shared.all_queues();
        queues.sort_unstable_by(|a, b| a.arn().cmp(b.arn()));
        let mut usage = Vec::with_capacity(queues.len());
        for some in queues.chunks(AT_ONCE) {
            usage.extend(some.iter().filter_map(|queue| self.usage_of(queue)));
            tokio::task::yield_now().await;
        }
        usage
    }

    fn usage_of(&self, queue: &SharedQueue) -> Option<QueueUsage> {
        let now = self.clock().now();
        queue.look(|queue| QueueUsage {
            arn: Arc::clone(queue.arn()),
            counts: queue.counts(now),
            oldest_age: queue.oldest(now).map(|oldest| now.saturating_since(oldest)).unwrap_or_default(),
            stored_bytes: queue.stored_bytes(),
        })
    }
}

impl QueueArn {
    /// The queue of an ARN, a URL, or a name in this account and region.
    pub(crate) fn named(text: &str, region: &str, account: &str) -> Self {
        text.parse().unwrap_or_else(|_| {
            let Address { account, name } = Address::parse(text, account);
            Self::new(region, account, name)
        })
    }
}
