//! The client that the layer runs on.

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::Transport;
use sqs_mock_server::MockSqs;

pub(crate) type BaseClient = aws_sdk_sqs::Client;

/// One whose requests go through `transport`, are repeated as `retry` says and take as long as `timeouts` says.
pub(crate) fn base_client(
    _: &MockSqs,
    transport: impl Transport,
    retry: RetryConfig,
    timeouts: TimeoutConfig,
) -> BaseClient {
    super::in_process::in_process(transport, retry, timeouts)
}
