//! Routes requests to the admin API or to their service.
//!
//! ```text
//! socket -> Router: a request to S3? -> its front, which streams the body
//!                   else reads the body --+
//!                                         +-> answer: preflight of a browser? -> guard; path of the admin API? -> admin; else -> destination: a service
//! InProcess ------------------------------+
//! ```

mod destination;
mod in_process;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
#[cfg(feature = "s3")]
use http_body_util::Either;
use hyper::body::Incoming;

use crate::admin::{self, Answer};
use crate::http::{Admitted, Break, Intake, Limits, Outgoing, Reply, Site};
#[cfg(feature = "s3")]
use crate::s3::Front;
use crate::service::caller;
use crate::service::operation::ServiceName;
use crate::services::Services;
use crate::sts::Sts;

use destination::Destination;

pub use in_process::InProcess;

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
                let reply = answer(&self.services, Request::from_parts(head, body)).await;
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
            && destination::is_s3(&head)
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

/// Answers a request in its own protocol and in the form that it accepts.
///
/// # Cancel safety
/// If the future is dropped while a receive waits, the receive takes no messages.
async fn answer(services: &Arc<Services>, request: Request<Bytes>) -> Reply {
    let (mut head, body) = request.into_parts();
    if let Some(answer) = services.guard().preflight(&head) {
        return answer.into();
    }
    let mut reply = if admin::owns(head.uri.path()) {
        // Boxed, so that the future of SQS requests stays small.
        match Box::pin(admin::answer(services, &head, &body)).await {
            Answer::Reply(reply) => reply,
            Answer::Action => {
                caller::trust(&mut head);
                Box::pin(answer_action(services, &head, &body)).await
            }
        }
    } else {
        if admin::is_of_address_bar(services, &head) {
            return admin::to_console().into();
        }
        answer_action(services, &head, &body).await
    };
    if let Some(headers) = reply.headers_mut() {
        services.guard().allow_reading(&head, headers);
    }
    reply
}

async fn answer_action(services: &Services, head: &Parts, body: &[u8]) -> Reply {
    match destination::of(head, body) {
        Destination::Service(ServiceName::Sqs) => services.sqs.answer(head, body).await,
        other => Box::pin(answer_other(services, other, head, body)).await,
    }
}

/// Answers a request that is not for SQS.
async fn answer_other(services: &Services, destination: Destination, head: &Parts, body: &[u8]) -> Reply {
    match destination {
        Destination::Service(ServiceName::Sns) => {
            services.topics.front.answer(&*services.topics.sns, head, body).await
        }
        Destination::Service(ServiceName::Sts) => services.topics.front.answer(&Sts, head, body).await,
        Destination::Certificate => crate::sns::certificate::response().into(),
        Destination::Service(_) => services.sqs.answer(head, body).await,
        Destination::Unknown(foreign) => {
            let (protocol, message) = (foreign.protocol(head, body), foreign.refusal(services.has_s3()));
            services.sqs.refuse_service(head, &protocol, message).into()
        }
    }
}
