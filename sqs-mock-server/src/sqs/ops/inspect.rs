//! Inspecting queues without changing them. These are not operations of SQS.

use std::sync::Arc;

use super::Service;
use super::accounts::AccountRegion;
use super::address::Address;
use crate::service::arn::QueueArn;
use crate::sqs::engine::{QueueDescription, WhyEmpty};
use crate::sqs::findings::Finding;

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
        let why = found.and_then(|found| found.look(|queue| queue.why_empty(now)));
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
