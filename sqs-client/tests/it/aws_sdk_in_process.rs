//! A client of the AWS SDK without sockets, so that tests can pause the clock. Tests of the layers include this file.

use std::io;
use std::sync::Arc;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_sqs::error::ConnectorError;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use sqs_client::transport::{Transport, TransportErrorKind};

/// A client that sends requests through `transport`, with these retry and timeout settings.
pub(crate) fn in_process(transport: impl Transport, retry: RetryConfig, timeouts: TimeoutConfig) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(Connector { transport: Arc::new(transport) })
        .endpoint_url("http://in-process.invalid")
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .retry_config(retry)
        .timeout_config(timeouts);
    Client::from_conf(config.build())
}

/// A transport as an HTTP client of the AWS SDK.
#[derive(Debug)]
struct Connector<T> {
    transport: Arc<T>,
}

impl<T> Clone for Connector<T> {
    fn clone(&self) -> Self {
        Self { transport: Arc::clone(&self.transport) }
    }
}

impl<T: Transport> HttpClient for Connector<T> {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl<T: Transport> HttpConnector for Connector<T> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let transport = Arc::clone(&self.transport);
        HttpConnectorFuture::new(async move {
            let (parts, body) = request.try_into_http1x().expect("an HTTP request").into_parts();
            let body = ByteStream::new(body).collect().await.expect("a body in memory").into_bytes();
            let response = transport.send(http::Request::from_parts(parts, body)).await.map_err(|error| {
                match error.kind() {
                    TransportErrorKind::Connect => io::Error::new(io::ErrorKind::ConnectionRefused, error),
                    _ => io::Error::new(io::ErrorKind::ConnectionReset, error),
                }
            });
            let response = response.map_err(|error| ConnectorError::io(error.into()))?;
            Ok(HttpResponse::try_from(response.map(SdkBody::from)).expect("an HTTP response"))
        })
    }
}
