//! A transport of `sqs-client` that calls the server without a socket.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use sqs_client::transport::{Transport, TransportError, TransportErrorKind, TransportFuture};

use crate::http::{Break, Reply};
use crate::services::Services;

/// A transport that passes requests of a client to a server in the same process.
///
/// Requests and responses are encoded and signed as over HTTP; only the connection is missing. Tests can therefore use
/// tokio's paused clock, and only a [fault](crate::service::faults) can lose a request or a response. After the server
/// has stopped, requests fail with a connection error.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// use sqs_client::Client;
/// use sqs_client::config::{Config, Credentials, Region};
///
/// let server = MockSqs::in_process();
/// let config = Config::builder() // or server.client_config(), which has all of this
///     .region(Region::new("us-east-1"))
///     .credentials_provider(Credentials::new("test", "test", None, None, "example"))
///     .endpoint_url(server.endpoint_url())
///     .transport(server.transport());
/// Client::from_conf(config.build()).list_queues().send().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InProcess {
    services: Arc<Services>,
}

impl InProcess {
    pub(crate) fn new(services: Arc<Services>) -> Self {
        Self { services }
    }
}

impl Transport for InProcess {
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            if self.services.sqs.service().is_shut_down() {
                return Err(TransportError::new(TransportErrorKind::Connect, "the server has stopped"));
            }
            match super::answer(&self.services, request).await {
                Reply::Whole(response) => Ok(response),
                Reply::Live(_) => {
                    let text = "a response that does not end requires a socket";
                    Err(TransportError::new(TransportErrorKind::Invalid, text))
                }
                Reply::Truncated(_) | Reply::Lost => {
                    Err(TransportError::new(TransportErrorKind::Broken, Break::Reset))
                }
            }
        })
    }
}
