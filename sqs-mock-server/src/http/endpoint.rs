//! The service as HTTP sees it, without a socket: one request in, one response out.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use sqs_client::protocol::{Detected, Protocol};
use sqs_client::service_error::{ErrorCode, ServiceError};

use super::Limits;
use super::auth::{self, Keys};
use super::body::BodyError;
use super::call::{Call, NoCall, form_text};
use super::caller::{self, Caller};
use super::dispatch::dispatch;
use super::metrics::{self, Metrics, Record};
use super::respond::{self, Style};
use crate::clock;
use crate::ops::{Context, Service, Trace};

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

/// The transport-free core.
#[derive(Debug)]
pub(crate) struct Endpoint {
    service: Arc<Service>,
    names: Names,
    metrics: Metrics,
}

impl Endpoint {
    /// Puts HTTP in front of a service.
    pub(crate) fn new(service: Arc<Service>, names: Names) -> Self {
        Self { service, names, metrics: Metrics::new() }
    }

    /// Answers a request in its own protocol, and in the form that it accepts.
    ///
    /// # Cancel safety
    /// Dropped while it waits for messages, a receive takes none.
    pub(crate) async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let request_id = self.service.request_id();
        let mut record = Record::begin(&self.metrics, &request_id);
        let response = self.answer(&head, &body, &mut record).await;
        record.end(response.status());
        response
    }

    async fn answer(&self, head: &Parts, body: &[u8], record: &mut Record<'_>) -> Response<Bytes> {
        let detected = Detected::from_headers(&head.headers);
        let style = Style::of(&detected, head);
        if head.method != Method::POST && head.method != Method::GET {
            return respond::method_not_allowed(
                style,
                record.refused_as(&ErrorCode::from_name("MethodNotAllowed")),
            );
        }
        let form = form_text(head, body);
        let call = match Call::read(&detected, head, body, &form) {
            Ok(call) => call,
            Err(NoCall::NoAction) => {
                record.refused_as(&ErrorCode::from_name("NoAction"));
                return respond::no_action();
            }
            Err(NoCall::Refused(error)) => return respond::refuse(style, &error, record.refused(&error)),
        };
        let context = self.context(head, &call);
        let request_id = record.request_id();
        let context = record.asked(call.action(), context);
        if let Err(error) = self.admit(head, body, context) {
            return respond::refuse(style, &error, record.refused(&error));
        }
        match dispatch(&self.service, context, call, style.answer, request_id).await {
            Ok(encoded) => {
                record.answered();
                respond::answer(encoded)
            }
            Err(error) => respond::refuse(style, &error, record.refused(&error)),
        }
    }

    /// Answers a request for metrics.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    pub(crate) async fn metrics(&self) -> Response<Bytes> {
        metrics::render(&self.metrics, &self.service).await
    }

    /// Counts a connection as open until the answer is dropped.
    pub(super) fn count_connection(&self) -> impl Drop + '_ {
        self.metrics.connection()
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
        self.metrics.count_unread(&ErrorCode::from_name(code));
        let style = Style::of(&Detected::from_headers(&head.headers), head);
        respond::refuse_with_status(style, status, code, message, &self.service.request_id())
    }

    /// Ends long polls with empty answers, and move tasks.
    pub(crate) fn shut_down(&self) {
        self.service.shut_down();
    }

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(super) fn is_shut_down(&self) -> bool {
        self.service.is_shut_down()
    }

    fn context(&self, head: &Parts, call: &Call<'_>) -> Context {
        let signed_url = call.parameter("X-Amz-Credential").map(Caller::from_credential);
        let caller = signed_url.unwrap_or_else(|| Caller::of(head));
        let base_url = match (&self.names.public_url, caller::host(head)) {
            (Some(url), _) => url.clone(),
            (None, Some(host)) => format!("http://{host}"),
            (None, None) => self.names.own_url.clone(),
        };
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        let wsdl = call.protocol() == Protocol::Query;
        Context {
            account: caller.account.unwrap_or(&self.names.account).to_owned(),
            region: caller.region.unwrap_or(&self.names.region).to_owned(),
            base_url,
            wsdl,
            queue_path: Some(head.uri.path()).filter(|path| wsdl && *path != "/").map(str::to_owned),
            trace_header: trace_header.map(str::to_owned),
            trace: Trace::default(),
        }
    }
}
