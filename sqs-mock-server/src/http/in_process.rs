//! The service as a transport of `sqs-client`, without a socket.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use sqs_client::transport::{Transport, TransportError, TransportErrorKind, TransportFuture};

use super::endpoint::Endpoint;
use super::outgoing::Break;
use super::reply::Reply;

/// Hands requests of a client straight to a server in the same process.
///
/// Requests and answers are those of the wire, encoded and signed; only the connection is missing. So tests
/// under tokio's paused clock work, and nothing can be lost on the way. Once the server has stopped, there is
/// nobody to connect to.
#[derive(Clone, Debug)]
pub struct InProcess {
    endpoint: Arc<Endpoint>,
}

impl InProcess {
    pub(crate) fn new(endpoint: Arc<Endpoint>) -> Self {
        Self { endpoint }
    }
}

impl Transport for InProcess {
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            if self.endpoint.is_shut_down() {
                return Err(TransportError::new(TransportErrorKind::Connect, "the server has stopped"));
            }
            match self.endpoint.handle(request).await {
                Reply::Whole(response) => Ok(response),
                Reply::Truncated(_) | Reply::Lost => {
                    Err(TransportError::new(TransportErrorKind::Broken, Break::Reset))
                }
            }
        })
    }
}
