//! Requests from sockets: reads their bodies.

use std::sync::Arc;

use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

use crate::http::{Admitted, Break, Intake, Limits, Outgoing, Part, Reply, Site};
use crate::services::Services;

/// Serves the connections of a server.
#[derive(Debug)]
pub(crate) struct Router {
    services: Arc<Services>,
    intake: Intake,
}

impl Router {
    pub(crate) fn new(services: Arc<Services>, limits: Limits) -> Self {
        Self { services, intake: Intake::new(limits) }
    }

    async fn serve(&self, request: Request<Incoming>) -> Reply {
        let (head, incoming) = request.into_parts();
        match self.intake.read(incoming, head.headers.contains_key(EXPECT)).await {
            Ok(Admitted { body, share }) => {
                let reply = super::answer(&self.services, Request::from_parts(head, body)).await;
                drop(share);
                reply
            }
            Err(error) => {
                let mut response = self.services.sqs.refuse_body(&head, error, self.intake.limits());
                self.services.guard().allow_reading(&head, response.headers_mut());
                // Otherwise the rest of the body would be read as the next request.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response.into()
            }
        }
    }
}

impl Site for Router {
    type Body = Outgoing;

    /// # Cancel safety
    /// If the future is dropped, the request is either not applied, or applied as if its response was lost.
    async fn route(&self, request: Request<Incoming>) -> Result<Response<Outgoing>, Break> {
        match self.serve(request).await {
            Reply::Whole(response) => Ok(response.map(|body| Outgoing::Whole(Full::new(body)))),
            Reply::Truncated(response) => Ok(response.map(|body| Outgoing::Part(Part::Due(body)))),
            Reply::Lost => Err(Break::Reset),
        }
    }

    fn connected(&self) -> impl Drop + Send {
        self.services.sqs.count_connection()
    }
}
