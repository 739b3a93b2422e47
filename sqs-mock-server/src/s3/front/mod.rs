//! The HTTP layer around s3s.
//!
//! ```text
//! connection -> guard -> Front: request_body (timeout, pace) -> strip_signature (without --auth) -> s3s -> Gate -> operations
//!                               response_body (pace, truncate, corrupt) <-------------------------------+
//! ```
//! A `RequestContext` among the extensions of the request carries what the operations report besides their output.
//! `Gate` computes the fault plan once s3s knows the operation, and stores it there, where the bodies and `Front` find it.

mod access;
mod observer;
mod request_body;
mod response_body;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use http::header::{EXPECT, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use parking_lot::Mutex;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Error, S3ErrorCode};
use tokio::time::timeout;

use super::Host;
use super::ops::Operations;
use super::outbox::{Outbox, Unanswered};
use crate::http::{Break, Live, Site};
use crate::service::faults::{Damage, Rejection};
use crate::service::seed;

use access::Gate;
use observer::Observer;

pub(super) use observer::Metrics;

/// How long the events of all requests wait for a client that holds back its body after the change.
const EVENTS_WAIT: Duration = Duration::from_secs(2);

/// Serves connections, and requests to S3 on those of the SQS server.
pub(crate) struct Front {
    service: S3Service,
    outbox: Arc<Outbox>,
    metrics: Arc<Metrics>,
    host: Arc<Host>,
    ids: Mutex<Rng>,
}

impl Front {
    pub(super) fn new(operations: Operations, metrics: Arc<Metrics>, host: Arc<Host>) -> Self {
        let outbox = Arc::clone(&operations.outbox);
        let gate = Gate { host: Arc::clone(&host), store: Arc::clone(&operations.store) };
        let mut builder = S3ServiceBuilder::new(operations);
        builder.set_host(gate.clone());
        builder.set_auth(gate.clone());
        builder.set_access(gate);
        let ids = Mutex::new(host.seed.generator("request ids of S3"));
        Self { service: builder.build(), outbox, metrics, host, ids }
    }

    /// Handles a request after the rules for browsers.
    async fn guarded(&self, request: Request<Incoming>, unanswered: &Unanswered) -> Response<Body> {
        let (head, incoming) = request.into_parts();
        let guard = &self.host.names.guard;
        if let Some(answer) = guard.preflight(&head) {
            return answer.map(Body::from);
        }
        if let Err(text) = guard.check_s3(&head, self.host.names.keys.is_none()) {
            let denied = S3Error::with_message(S3ErrorCode::AccessDenied, text).to_http_response();
            return denied.unwrap_or_else(|_| status(StatusCode::FORBIDDEN, String::new()));
        }
        let reader = guard.listed_origin(&head).cloned();
        let mut response = self.answer(Request::from_parts(head, incoming), unanswered).await;
        guard.allow_reader(reader, response.headers_mut());
        response
    }

    async fn answer(&self, request: Request<Incoming>, unanswered: &Unanswered) -> Response<Body> {
        let context = &unanswered.context;
        let (mut head, incoming) = request.into_parts();
        let (limit, expects_continue) = (self.host.limits.body_timeout, head.headers.contains_key(EXPECT));
        let body = request_body::limited(incoming, Arc::clone(context), limit, expects_continue);
        if self.host.names.keys.is_none() {
            access::strip_signature(&mut head);
        }
        let answered = self.service.call(Request::from_parts(head, body)).await;
        // A client that still sends its body would lose the response if the connection closed now.
        let mut drained = pin!(request_body::drain(context, limit));
        if timeout(EVENTS_WAIT, drained.as_mut()).await.is_err() {
            unanswered.release();
            drained.await;
        }
        answered.unwrap_or_else(|error| {
            tracing::error!(?error, "cannot build a response of S3");
            status(StatusCode::INTERNAL_SERVER_ERROR, String::new())
        })
    }
}

impl Site for Front {
    type Body = Live;

    /// # Cancel safety
    /// A request that is dropped is applied as a whole or not at all.
    async fn route(&self, mut request: Request<Incoming>) -> Result<Response<Live>, Break> {
        let id = seed::uuid(&mut self.ids.lock()).to_string();
        let trace_header = request.headers().get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        // Dropped at the end, also if the caller disconnects.
        let unanswered = self.outbox.begin(id, trace_header.map(str::to_owned));
        let context = &unanswered.context;
        request.extensions_mut().insert(Arc::clone(context));
        let mut observer = Observer::begin(&self.metrics, &self.host, context);
        let is_head = request.method() == Method::HEAD;
        let response = self.guarded(request, &unanswered).await;
        let mut response = response_body::complete_error(response, context);
        for (name, value) in [("x-amz-request-id", &context.id), ("x-amz-id-2", &context.host_id())] {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        let plan = context.plan.get();
        let damage = plan.and_then(|plan| plan.damage);
        let rejection = plan.and_then(|plan| plan.rejection.as_ref());
        if let Some(Rejection::Status(code, body)) = rejection {
            let code = StatusCode::from_u16(*code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            response = status(code, body.clone());
        }
        let has_body =
            !is_head && ![StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status());
        let is_reset = match damage {
            Some(Damage::Lost) => true,
            Some(Damage::Truncated) if !has_body => true,
            _ => matches!(rejection, Some(Rejection::Reset)),
        };
        if is_reset {
            observer.pending.answered(None);
            return Err(Break::Reset);
        }
        observer.pending.answered(Some(response.status()));
        Ok(response_body::damaged(response, damage, plan.and_then(|plan| plan.pace)))
    }

    fn connected(&self) -> impl Drop + Send {
        self.metrics.connections.enter()
    }
}

fn status(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
}

/// How long a number of bytes takes at a rate.
fn pace(bytes: usize, per_second: u64) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "the error is far below the resolution of the timer")]
    let seconds = bytes as f64 / per_second.max(1) as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
