//! The HTTP layer around s3s.
//!
//! ```text
//! connection -> guard -> Front: RequestBody (timeout, pace) -> anonymous (without --auth) -> s3s -> Access -> operations
//!                               ResponseBody (pace, truncate, corrupt) <--------------------------------+
//! ```
//! A [`RequestContext`] among the extensions of the request carries what the operations report besides their output.
//! `Access` computes the fault plan once s3s knows the operation, and stores it in the [`RequestState`], where the
//! bodies and `Front` find it.

mod access;
mod anonymous;
mod chunked;
mod error_body;
mod hosts;
mod observer;
mod pace;
mod request_body;
mod response_body;
mod state;

use std::sync::Arc;

use fastrand::Rng;
use http::header::{CONTENT_LENGTH, EXPECT, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use parking_lot::Mutex;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Error, S3ErrorCode};

use super::ops::Operations;
use super::request_context::RequestContext;
use super::store::Store;
use crate::http::{Break, Guard, Limits, Site};
use crate::service::faults::{Damage, Rejection};
use crate::service::keys::Keys;
use crate::service::seed;

pub(super) use access::Access;
use access::KnownKeys;
use hosts::Hosts;
pub(super) use observer::Observers;
use request_body::RequestBody;
pub(crate) use response_body::ResponseBody;
use state::RequestState;

/// The arguments of [`Front::new`].
pub(super) struct FrontSettings {
    pub(super) store: Arc<Store>,
    pub(super) operations: Operations,
    pub(super) access: Access,
    pub(super) observers: Observers,
    pub(super) limits: Limits,
    /// The accepted access keys; `None` accepts any credentials.
    pub(super) keys: Option<Keys>,
    /// The rules for requests of browsers.
    pub(super) guard: Guard,
    pub(super) ids: Rng,
}

/// Serves connections, and requests to S3 on those of the SQS server.
pub(crate) struct Front {
    service: S3Service,
    observers: Observers,
    limits: Limits,
    guard: Guard,
    allows_anonymous: bool,
    ids: Mutex<Rng>,
}

impl Front {
    pub(super) fn new(settings: FrontSettings) -> Self {
        let allows_anonymous = settings.access.allows_anonymous;
        let mut builder = S3ServiceBuilder::new(settings.operations);
        builder.set_host(Hosts::new(settings.store));
        builder.set_auth(KnownKeys(settings.keys.unwrap_or_default()));
        builder.set_access(settings.access);
        Self {
            service: builder.build(),
            observers: settings.observers,
            limits: settings.limits,
            guard: settings.guard,
            allows_anonymous,
            ids: Mutex::new(settings.ids),
        }
    }

    /// Handles a request after the rules for browsers.
    async fn guarded(&self, request: Request<Incoming>, state: &RequestState) -> Response<Body> {
        let (head, incoming) = request.into_parts();
        if let Some(answer) = self.guard.preflight(&head) {
            return answer.map(Body::from);
        }
        if let Err(text) = self.guard.check_s3(&head, self.allows_anonymous) {
            let denied = S3Error::with_message(S3ErrorCode::AccessDenied, text).to_http_response();
            return denied.unwrap_or_else(|_| status(StatusCode::FORBIDDEN, String::new()));
        }
        let reader = self.guard.listed_origin(&head).cloned();
        let mut response = self.answer(Request::from_parts(head, incoming), state).await;
        self.guard.allow_reader(reader, response.headers_mut());
        response
    }

    async fn answer(&self, request: Request<Incoming>, state: &RequestState) -> Response<Body> {
        let (mut head, incoming) = request.into_parts();
        let expects_continue = head.headers.contains_key(EXPECT);
        let body = RequestBody::new(incoming, state.clone(), self.limits.body_timeout, expects_continue);
        let body = if self.allows_anonymous {
            anonymous::strip_signature(&mut head, body)
        } else {
            Ok(Body::http_body_unsync(body))
        };
        head.extensions.insert(state.clone());
        let answered = match body {
            Ok(body) => {
                self.service.call(Request::from_parts(head, body)).await.map_err(|error| format!("{error:?}"))
            }
            Err(error) => error.to_http_response().map_err(|error| error.to_string()),
        };
        // A client that still sends its body would lose the response if the connection closed now.
        state.drain(self.limits.body_timeout).await;
        answered.unwrap_or_else(|error| {
            tracing::error!(error, "cannot build a response of S3");
            status(StatusCode::INTERNAL_SERVER_ERROR, String::new())
        })
    }
}

impl Site for Front {
    type Body = ResponseBody;

    /// # Cancel safety
    /// A request that is dropped is applied as a whole or not at all.
    async fn route(&self, mut request: Request<Incoming>) -> Result<Response<ResponseBody>, Break> {
        let state = RequestState::default();
        let id = seed::uuid(&mut self.ids.lock()).to_string();
        let trace_header = request.headers().get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        // Dropped at the end, also if the caller disconnects.
        let (context, _unanswered) = RequestContext::new(&id, trace_header);
        request.extensions_mut().insert(Arc::clone(&context));
        let mut observer = self.observers.begin(&context, &state);
        let is_head = request.method() == Method::HEAD;
        let response = self.guarded(request, &state).await;
        let mut response = error_body::complete(response, &context);
        for (name, value) in [("x-amz-request-id", &context.id), ("x-amz-id-2", &context.host_id())] {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        let damage = state.damage();
        let is_reset = match state.rejection() {
            Some(Rejection::Reset) => true,
            Some(Rejection::Status(code, body)) => {
                response = status(
                    StatusCode::from_u16(*code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                    body.clone(),
                );
                false
            }
            Some(Rejection::Error(_)) | None => false,
        };
        let has_body =
            !is_head && ![StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status());
        if is_reset || damage == Some(Damage::Lost) || (damage == Some(Damage::Truncated) && !has_body) {
            observer.pending.answered(None);
            return Err(Break::Reset);
        }
        observer.pending.answered(Some(response.status()));
        Ok(damaged(response, damage, state.pace()))
    }

    fn connected(&self) -> impl Drop + Send {
        self.observers.metrics.connections.enter()
    }
}

/// Applies the part of a fault plan that changes the response.
fn damaged(
    mut response: Response<Body>,
    damage: Option<Damage>,
    pace: Option<u64>,
) -> Response<ResponseBody> {
    let announced =
        response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length = announced.or_else(|| response.body().size_hint().exact());
    if damage == Some(Damage::Truncated) {
        // An empty body could not be truncated.
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length.unwrap_or(0).max(1)));
    }
    response.map(|body| ResponseBody::new(body, damage, length, pace))
}

fn status(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
}

/// The error for a request that is not valid.
fn malformed(text: &'static str) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidRequest, text)
}
