//! Throughput quotas of a running server.

use super::{MockSqs, QueueView};
use crate::sqs::engine::{QuotaScope, ThroughputQuotas};

impl MockSqs {
    /// Sets throughput quotas of FIFO queues, or with `None` removes them. By default there are none. They apply
    /// immediately and until the next [reset](Self::reset), which restores those of the
    /// [builder](super::MockSqsBuilder::throughput_quotas).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use sqs_client::Client;
    /// use sqs_client::config::retry::RetryConfig;
    /// use sqs_client::types::QueueAttributeName::FifoQueue;
    /// use sqs_mock_server::{MockSqs, QuotaScope, ThroughputQuotas};
    ///
    /// let server = MockSqs::builder().clock_frozen().in_process()?;
    /// server.set_throughput_quotas(QuotaScope::Server, ThroughputQuotas::default());
    ///
    /// let config = server.client_config().retry_config(RetryConfig::disabled()); // otherwise the client retries
    /// let client = Client::from_conf(config.build());
    /// let create = client.create_queue().queue_name("jobs.fifo").attributes(FifoQueue, "true");
    /// let url = create.send().await?.queue_url.unwrap();
    /// for _ in 0..300 {
    ///     client.receive_message().queue_url(&url).send().await?;
    /// }
    /// let refused = client.receive_message().queue_url(&url).send().await.unwrap_err();
    /// assert_eq!(refused.code(), Some("RequestThrottled"));
    ///
    /// server.clock().advance(std::time::Duration::from_secs(1));
    /// client.receive_message().queue_url(&url).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_throughput_quotas(&self, scope: QuotaScope, quotas: impl Into<Option<ThroughputQuotas>>) {
        let quotas = quotas.into();
        self.service.change_quotas(|table| table.set(scope, quotas));
    }

    /// Removes the quotas of this scope, so that those of the next wider scope apply.
    pub fn inherit_throughput_quotas(&self, scope: &QuotaScope) {
        self.service.change_quotas(|table| table.remove(scope));
    }
}

impl QueueView<'_> {
    /// The throughput quotas that apply to the queue; `None` without quotas, and for standard queues.
    pub fn throughput_quotas(&self) -> Option<ThroughputQuotas> {
        self.service.quotas_of(&self.arn)
    }
}
