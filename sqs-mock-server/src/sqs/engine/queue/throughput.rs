//! Throughput quotas of one queue.

use sqs_client::wire::service_error::ServiceError;

use super::Queue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::attributes::ThroughputLimit;
use crate::sqs::engine::throughput::{Metered, Throughput, ThroughputQuotas};

impl Queue {
    /// Sets or removes the quotas. Standard queues have none. Changed quotas start a new second.
    pub(crate) fn set_quotas(&mut self, quotas: Option<ThroughputQuotas>) {
        if quotas != self.quotas() {
            let quotas = quotas.filter(|_| self.fifo.is_some());
            self.throughput = quotas.map(|quotas| Box::new(Throughput::new(quotas)));
        }
    }

    /// The quotas, if any.
    pub(crate) fn quotas(&self) -> Option<ThroughputQuotas> {
        self.throughput.as_ref().map(|throughput| throughput.quotas)
    }

    /// Counts a call, of one message or of a batch.
    ///
    /// # Errors
    /// `RequestThrottled` for a call above the quota of its action.
    pub(crate) fn accept_call(&mut self, now: Timestamp, action: Metered) -> Result<(), ServiceError> {
        let is_high = self.has_high_throughput();
        match &mut self.throughput {
            Some(throughput) => throughput.accept_call(self.now.max(now), action, is_high),
            None => Ok(()),
        }
    }

    /// Counts a message that is sent to a group.
    ///
    /// # Errors
    /// `RequestThrottled` for a message above the quota of its group, on a queue with high throughput.
    pub(crate) fn accept_message(&mut self, now: Timestamp, group: Option<&str>) -> Result<(), ServiceError> {
        let is_high = self.has_high_throughput();
        match (&mut self.throughput, group) {
            (Some(throughput), Some(group)) if is_high => throughput.accept_message(self.now.max(now), group),
            _ => Ok(()),
        }
    }

    fn has_high_throughput(&self) -> bool {
        let limit = self.attributes.fifo.map(|fifo| fifo.throughput_limit);
        limit == Some(ThroughputLimit::PerMessageGroupId)
    }
}
