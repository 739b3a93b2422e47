//! The client that the extended client sends through.

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::Transport;
use sqs_mock_server::MockSqs;

pub(crate) type BaseClient = sqs_client::Client;

/// A client of the server that sends through `transport`.
pub(crate) fn base_client(
    server: &MockSqs,
    transport: impl Transport,
    retry: RetryConfig,
    timeouts: TimeoutConfig,
) -> BaseClient {
    let config = server.client_config().transport(transport).retry_config(retry).timeout_config(timeouts);
    BaseClient::from_conf(config.build())
}
