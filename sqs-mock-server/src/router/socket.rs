//! Requests from sockets: reads their bodies.

use std::sync::Arc;

use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
#[cfg(feature = "s3")]
use http_body_util::Either;
use hyper::body::Incoming;

use crate::http::{Admitted, Break, Intake, Limits, Outgoing, Reply, Site};
#[cfg(feature = "s3")]
use crate::s3::Front;
use crate::services::Services;

/// Serves the connections of a server.
pub(crate) struct Router {
    services: Arc<Services>,
    #[cfg(feature = "s3")]
    s3: Option<Arc<Front>>,
    intake: Intake,
}

impl Router {
    pub(crate) fn new(services: Arc<Services>, limits: Limits) -> Self {
        Self {
            services,
            #[cfg(feature = "s3")]
            s3: None,
            intake: Intake::new(limits),
        }
    }

    /// Passes requests to S3 on.
    #[cfg(feature = "s3")]
    pub(crate) fn serve_s3(&mut self, front: Arc<Front>) {
        self.s3 = Some(front);
    }

    async fn serve(&self, head: Parts, incoming: Incoming) -> Reply {
        match self.intake.read(incoming, head.headers.contains_key(EXPECT)).await {
            Ok(Admitted { body, share }) => {
                let reply = super::answer(&self.services, Request::from_parts(head, body)).await;
                drop(share);
                reply
            }
            Err(error) => {
                let mut response = self.services.sqs.refuse_body(&head, error, &self.intake.limits);
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
        let (head, incoming) = request.into_parts();
        #[cfg(feature = "s3")]
        if let Some(front) = &self.s3
            && super::destination::is_s3(&head)
        {
            // Boxed, so that the future of SQS requests stays small.
            let response = Box::pin(front.route(Request::from_parts(head, incoming))).await?;
            return Ok(response.map(Either::Right));
        }
        self.serve(head, incoming).await.into_response()
    }

    fn connected(&self) -> impl Drop + Send {
        self.services.sqs.count_connection()
    }
}
