//! The service as HTTP sees it, without a socket: one request in, one response out.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use sqs_client::protocol::{Detected, Protocol};
use sqs_client::service_error::{ErrorCode, ServiceError};

use super::Limits;
use super::admin;
use super::auth::{self, Keys};
use super::body::BodyError;
use super::call::{Call, NoCall, form_text};
use super::dispatch::dispatch;
use super::respond::{self, Style};
use crate::clock;
use crate::journal::{Entry, Journal};
use crate::ops::{Context, Service};

/// What a request does not say about itself.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Account of callers whose access key is not one.
    pub(crate) account: String,
    /// Region of callers that do not sign.
    pub(crate) region: String,
    /// Base of all queue URLs; without it, the host that the caller used.
    pub(crate) public_url: Option<String>,
    /// Base of queue URLs for callers that name no host.
    pub(crate) own_url: String,
    /// Who may call; anyone when absent.
    pub(crate) keys: Option<Keys>,
}

/// A request, and what is known of it before its action is.
struct Known<'a> {
    head: &'a Parts,
    body: &'a [u8],
    form: &'a [u8],
    detected: Detected,
    style: Style,
    id: &'a str,
}

/// The transport-free core.
#[derive(Debug)]
pub(crate) struct Endpoint {
    service: Arc<Service>,
    names: Names,
    journal: Journal,
}

impl Endpoint {
    /// Puts HTTP in front of a service.
    pub(crate) fn new(service: Arc<Service>, names: Names, journal: Journal) -> Self {
        Self { service, names, journal }
    }

    /// Answers a request in its own protocol, and in the form that it accepts.
    ///
    /// # Cancel safety
    /// Dropped while it waits for messages, a receive takes none.
    pub(crate) async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        if admin::owns(head.uri.path()) {
            // Boxed, so that the future of other requests does not grow by it.
            return Box::pin(admin::answer(self, &head, &body)).await;
        }
        let request_id = self.service.request_id();
        let detected = Detected::from_headers(&head.headers);
        let style = Style::of(&detected, &head);
        let form = form_text(&head, &body);
        let input = if style.protocol == Protocol::Query { &*form } else { &*body };
        let clock = self.service.clock();
        let mut entry =
            Entry::open(&self.journal, clock, &request_id, style.protocol, head.uri.path(), input);
        let request = Known { head: &head, body: &body, form: &form, detected, style, id: &request_id };
        let response = self.respond(request, &mut entry).await;
        entry.answered(response.status());
        response
    }

    async fn respond(&self, request: Known<'_>, entry: &mut Entry<'_>) -> Response<Bytes> {
        let Known { head, body, form, detected, style, id: request_id } = request;
        if head.method != Method::POST && head.method != Method::GET {
            return respond::method_not_allowed(style, request_id);
        }
        let call = match Call::read(&detected, head, body, form) {
            Ok(call) => call,
            Err(NoCall::NoAction) => return respond::no_action(),
            Err(NoCall::Refused(error)) => {
                entry.refused(&error.code);
                return respond::refuse(style, &error, request_id);
            }
        };
        let action = call.action();
        entry.action(action);
        let context = self.context(head, &call);
        entry.caller(&context.region, &context.account);
        if let Err(error) = self.admit(head, body, &context) {
            entry.refused(&error.code);
            tracing::debug!(%action, %error, "not admitted");
            return respond::refuse(style, &error, request_id);
        }
        let answer = dispatch(&self.service, &context, call, style.answer, request_id).await;
        match answer {
            Ok(encoded) => {
                tracing::debug!(%action, account = %context.account, "answered");
                respond::answer(encoded)
            }
            Err(error) => {
                tracing::debug!(%action, account = %context.account, %error, "refused");
                entry.refused(&error.code);
                respond::refuse(style, &error, request_id)
            }
        }
    }

    /// Checks the signature where signatures are asked for. It is checked by the time of the system: callers sign by
    /// theirs, wherever the clock of the queues stands.
    fn admit(&self, head: &Parts, body: &[u8], context: &Context) -> Result<(), ServiceError> {
        match &self.names.keys {
            Some(keys) => auth::check(keys, head, body, clock::time_of_the_system(), &context.region),
            None => Ok(()),
        }
    }

    /// Answers a request whose body could not be read.
    pub(super) fn refuse_body(&self, head: &Parts, error: BodyError, limits: &Limits) -> Response<Bytes> {
        let (status, code, message) = match error {
            BodyError::TooLong => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestEntityTooLarge",
                format!("Request bodies must not be longer than {} bytes.", limits.max_body),
            ),
            BodyError::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "RequestTimeout",
                "The request body did not arrive in time.".to_owned(),
            ),
            BodyError::Broken => (
                StatusCode::BAD_REQUEST,
                "MalformedInput",
                "The request body is cut or malformed.".to_owned(),
            ),
            BodyError::NoRoom => (
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "Too many large requests are under way.".to_owned(),
            ),
        };
        let style = Style::of(&Detected::from_headers(&head.headers), head);
        let request_id = self.service.request_id();
        let (clock, path) = (self.service.clock(), head.uri.path());
        let mut entry = Entry::open(&self.journal, clock, &request_id, style.protocol, path, b"");
        entry.refused(&ErrorCode::from_name(code));
        entry.answered(status);
        respond::refuse_with_status(style, status, code, message, &request_id)
    }

    /// What it stands in front of.
    pub(super) fn service(&self) -> &Service {
        &self.service
    }

    /// Makes all begin anew: queues, move tasks and what waits for messages end, the clock is where it was, the
    /// journal is empty.
    pub(crate) fn reset(&self) {
        self.service.reset();
        self.journal.clear();
    }

    /// What it was asked.
    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Ends long polls with empty answers, and move tasks.
    pub(crate) fn shut_down(&self) {
        self.service.shut_down();
    }

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(super) fn is_shut_down(&self) -> bool {
        self.service.is_shut_down()
    }

    /// What the server is called.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }
}
