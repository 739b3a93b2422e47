//! Routes requests to the admin API or to SQS.
//!
//! ```text
//! socket -> Router (reads the body) --+
//!                                     +-> answer: preflight of a browser? -> guard; path of the admin API? -> admin; else -> SQS
//! InProcess --------------------------+
//! ```

mod in_process;
mod socket;

use bytes::Bytes;
use http::Request;

use crate::admin;
use crate::http::Reply;
use crate::services::Services;

pub use in_process::InProcess;
pub(crate) use socket::Router;

/// Answers a request in its own protocol and in the form that it accepts.
///
/// # Cancel safety
/// If the future is dropped while a receive waits, the receive takes no messages.
async fn answer(services: &Services, request: Request<Bytes>) -> Reply {
    let (head, body) = request.into_parts();
    if let Some(answer) = services.guard().preflight(&head) {
        return answer.into();
    }
    let mut reply = if admin::owns(head.uri.path()) {
        // Boxed, so that the future of SQS requests stays small.
        Box::pin(admin::answer(services, &head, &body)).await.into()
    } else {
        services.sqs.answer(&head, &body).await
    };
    if let Some(headers) = reply.headers_mut() {
        services.guard().allow_reading(&head, headers);
    }
    reply
}
