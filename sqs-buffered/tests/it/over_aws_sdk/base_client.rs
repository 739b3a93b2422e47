//! The client below the buffered client.

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::Transport;
use sqs_mock_server::MockSqs;

pub(crate) type BaseClient = aws_sdk_sqs::Client;

/// Random tests run one of this many seeds: what they test does not depend on the client, and this one takes longer.
pub(crate) const SEEDS: u64 = 5;

/// A client that sends through `transport` with these retries and timeouts.
pub(crate) fn base_client(
    _: &MockSqs,
    transport: impl Transport,
    retry: RetryConfig,
    timeouts: TimeoutConfig,
) -> BaseClient {
    super::in_process::in_process(transport, retry, timeouts)
}

/// A client with default settings.
pub(crate) fn default_client(server: &MockSqs, transport: impl Transport) -> BaseClient {
    base_client(server, transport, RetryConfig::standard(), TimeoutConfig::builder().build())
}
