//! Routes requests to the admin API or to their service.
//!
//! ```text
//! socket -> Router: a request to S3? -> its front, which streams the body
//!                   else reads the body --+
//!                                         +-> answer: preflight of a browser? -> guard; path of the admin API? -> admin; else -> destination: a service
//! InProcess ------------------------------+
//! ```

mod destination;
mod foreign;
mod in_process;
mod socket;

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http::request::Parts;

use crate::admin::{self, Answer};
use crate::http::Reply;
use crate::service::caller;
use crate::service::operation::ServiceName;
use crate::services::Services;
#[cfg(feature = "sns")]
use crate::sts::Sts;

use destination::Destination;

pub use in_process::InProcess;
pub(crate) use socket::Router;

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
        #[cfg(feature = "console")]
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
        #[cfg(feature = "sns")]
        Destination::Service(ServiceName::Sns) => {
            services.topics.front.answer(&*services.topics.sns, head, body).await
        }
        #[cfg(feature = "sns")]
        Destination::Service(ServiceName::Sts) => services.topics.front.answer(&Sts, head, body).await,
        #[cfg(feature = "sns")]
        Destination::Certificate => crate::sns::signing::certificate().into(),
        Destination::Service(_) => services.sqs.answer(head, body).await,
        Destination::Unknown(foreign) => {
            let (protocol, message) = (foreign.protocol(head, body), foreign.refusal(services.has_s3()));
            services.sqs.refuse_service(head, &protocol, message).into()
        }
    }
}
