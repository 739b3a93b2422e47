//! The client below the tested one: ours by default, that of the AWS SDK in `over_aws_sdk`. Tests of sqs-extended include this
//! file.

use sqs_client::client::Execute;
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::transport::Transport;
use sqs_mock_server::MockSqs;

use super::in_process::in_process;

pub(crate) type BaseClient = sqs_client::Client;

/// A client that sends through `transport` with these retries and timeouts.
pub(crate) trait Base: Execute {
    fn over(server: &MockSqs, transport: impl Transport, retry: RetryConfig, timeouts: TimeoutConfig)
    -> Self;
}

impl Base for BaseClient {
    fn over(
        server: &MockSqs,
        transport: impl Transport,
        retry: RetryConfig,
        timeouts: TimeoutConfig,
    ) -> Self {
        let config = server.client_config().transport(transport).retry_config(retry).timeout_config(timeouts);
        Self::from_conf(config.build())
    }
}

impl Base for aws_sdk_sqs::Client {
    fn over(_: &MockSqs, transport: impl Transport, retry: RetryConfig, timeouts: TimeoutConfig) -> Self {
        in_process(transport, retry, timeouts)
    }
}
