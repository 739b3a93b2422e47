//! The service as a transport of `sqs-client`, without a socket.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use sqs_client::transport::{Transport, TransportError, TransportErrorKind, TransportFuture};

use crate::http::{Break, Reply};
use crate::services::Services;

/// Hands requests of a client straight to a server in the same process.
///
/// Requests and answers are those of the wire, encoded and signed; only the connection is missing. So tests
/// under tokio's paused clock work, and nothing is lost on the way but by a [fault](crate::service::faults). Once the server has
/// stopped, there is nobody to connect to.
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
            if self.services.sqs.is_shut_down() {
                return Err(TransportError::new(TransportErrorKind::Connect, "the server has stopped"));
            }
            match super::answer(&self.services, request).await {
                Reply::Whole(response) => Ok(response),
                Reply::Truncated(_) | Reply::Lost => {
                    Err(TransportError::new(TransportErrorKind::Broken, Break::Reset))
                }
            }
        })
    }
}
