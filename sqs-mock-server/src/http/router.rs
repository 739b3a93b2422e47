//! From a request of a socket to the endpoint: its body is read, or refused.

use std::sync::Arc;

use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

use super::Limits;
use super::endpoint::Endpoint;
use super::intake::{Admitted, Intake};
use super::outgoing::{Break, Outgoing, Part};
use super::reply::Reply;
use super::server::Site;

/// SQS for sockets.
#[derive(Debug)]
pub(crate) struct Router {
    endpoint: Arc<Endpoint>,
    intake: Intake,
}

impl Router {
    pub(crate) fn new(endpoint: Arc<Endpoint>, limits: Limits) -> Self {
        Self { endpoint, intake: Intake::new(limits) }
    }
}

impl Site for Router {
    type Body = Outgoing;

    /// # Cancel safety
    /// Dropped before its end, the request is as if it had not been made, or as if its answer had been lost.
    async fn route(&self, request: Request<Incoming>) -> Result<Response<Outgoing>, Break> {
        match serve(&self.endpoint, &self.intake, request).await {
            Reply::Whole(response) => Ok(response.map(|body| Outgoing::Whole(Full::new(body)))),
            Reply::Truncated(response) => Ok(response.map(|body| Outgoing::Part(Part::Due(body)))),
            Reply::Lost => Err(Break::Reset),
        }
    }

    fn connected(&self) -> impl Drop + Send {
        self.endpoint.count_connection()
    }
}

async fn serve(endpoint: &Endpoint, intake: &Intake, request: Request<Incoming>) -> Reply {
    let (head, incoming) = request.into_parts();
    match intake.read(incoming, head.headers.contains_key(EXPECT)).await {
        Ok(Admitted { body, share }) => {
            let reply = endpoint.handle(Request::from_parts(head, body)).await;
            drop(share);
            reply
        }
        Err(error) => {
            let mut response = endpoint.refuse_body(&head, error, intake.limits());
            endpoint.names().guard.allow_reading(&head, response.headers_mut());
            // What is left of the body would be taken for the next request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response.into()
        }
    }
}
