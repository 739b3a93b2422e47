//! The client that the extended client sends through.

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::Transport;
use sqs_mock_server::MockSqs;

pub(crate) type BaseClient = aws_sdk_sqs::Client;

/// A client of the server that sends through `transport`.
pub(crate) fn base_client(
    _: &MockSqs,
    transport: impl Transport,
    retry: RetryConfig,
    timeouts: TimeoutConfig,
) -> BaseClient {
    super::in_process::in_process(transport, retry, timeouts)
}
