//! The client below the buffered client.

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::Transport;
use sqs_mock_server::MockSqs;

pub(crate) type BaseClient = sqs_client::Client;

/// Random tests run one of this many seeds.
pub(crate) const SEEDS: u64 = 1;

/// A client that sends through `transport` with these retries and timeouts.
pub(crate) fn base_client(
    server: &MockSqs,
    transport: impl Transport,
    retry: RetryConfig,
    timeouts: TimeoutConfig,
) -> BaseClient {
    let config = server.client_config().transport(transport).retry_config(retry).timeout_config(timeouts);
    BaseClient::from_conf(config.build())
}

/// A client with default settings.
pub(crate) fn default_client(server: &MockSqs, transport: impl Transport) -> BaseClient {
    base_client(server, transport, RetryConfig::standard(), TimeoutConfig::builder().build())
}
