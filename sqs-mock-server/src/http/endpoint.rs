//! The service as HTTP sees it, without a socket: one request in, one response out.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use sqs_client::protocol::{Detected, Protocol};
use sqs_client::service_error::ServiceError;
use sqs_client::sign::Claim;

use super::Limits;
use super::admin;
use super::auth::{self, Keys};
use super::body::BodyError;
use super::call::{Call, NoCall, form_text};
use super::caller::{self, Caller};
use super::dispatch::{Dispatched, dispatch};
use super::queue_url::{QueueUrlStyle, Styled};
use super::reply::Reply;
use super::respond::{self, Style};
use crate::clock;
use crate::faults::{Ending, Unapplied};
use crate::ops::{Context, Service};

/// What a request does not say about itself.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Account of callers whose access key is not one.
    pub(crate) account: String,
    /// Region of callers that do not sign, and whose host names none.
    pub(crate) region: String,
    /// Base of all queue URLs; without it, the host that the caller used.
    pub(crate) public_url: Option<String>,
    /// How queue URLs name the region, without that base.
    pub(crate) queue_url_style: QueueUrlStyle,
    /// Host in queue URLs for callers that name none.
    pub(crate) own_host: String,
    /// Who may call; anyone when absent.
    pub(crate) keys: Option<Keys>,
}

/// The transport-free core.
#[derive(Debug)]
pub(crate) struct Endpoint {
    service: Arc<Service>,
    names: Names,
}

impl Endpoint {
    /// Puts HTTP in front of a service.
    pub(crate) fn new(service: Arc<Service>, names: Names) -> Self {
        Self { service, names }
    }

    /// Answers a request in its own protocol, and in the form that it accepts.
    ///
    /// # Cancel safety
    /// Dropped while it waits for messages, a receive takes none.
    pub(crate) async fn handle(&self, request: Request<Bytes>) -> Reply {
        let (head, body) = request.into_parts();
        if admin::owns(head.uri.path()) {
            return admin::answer(self, &head, &body).into();
        }
        let request_id = self.service.request_id();
        let detected = Detected::from_headers(&head.headers);
        let style = Style::of(&detected, &head);
        if head.method != Method::POST && head.method != Method::GET {
            return respond::method_not_allowed(style, &request_id).into();
        }
        let form = form_text(&head, &body);
        let call = match Call::read(&detected, &head, &body, &form) {
            Ok(call) => call,
            Err(NoCall::NoAction) => return respond::no_action().into(),
            Err(NoCall::Refused(error)) => return respond::refuse(style, &error, &request_id).into(),
        };
        let action = call.action();
        let claim = match self.admit(&head, &body) {
            Ok(claim) => claim,
            Err(error) => {
                tracing::debug!(%action, %error, "not admitted");
                return respond::refuse(style, &error, &request_id).into();
            }
        };
        let caller = claim.as_ref().map_or_else(|| claimed(&head, &call), Caller::of_claim);
        let mut context = self.context(&head, &call, caller);
        let dispatched = dispatch(&self.service, &mut context, call, style.answer, &request_id).await;
        let (answer, ending) = match dispatched {
            Dispatched::Answered(answer, ending) => (answer, ending),
            Dispatched::Struck(Unapplied::Refused(error)) => (Err(error), Ending::Whole),
            Dispatched::Struck(Unapplied::Status(status, body)) => return Reply::foreign(status, body),
            Dispatched::Struck(Unapplied::Reset) => return Reply::Lost,
        };
        let response = match answer {
            Ok(encoded) => {
                tracing::debug!(%action, account = %context.account, "answered");
                respond::answer(encoded)
            }
            Err(error) => {
                tracing::debug!(%action, account = %context.account, %error, "refused");
                respond::refuse(style, &error, &request_id)
            }
        };
        Reply::spoilt(response, ending)
    }

    /// Checks the signature where signatures are asked for. It is checked by the time of the system: callers sign by
    /// theirs, wherever the clock of the queues stands.
    fn admit(&self, head: &Parts, body: &[u8]) -> Result<Option<Claim>, ServiceError> {
        let Some(keys) = &self.names.keys else { return Ok(None) };
        let region = Caller::of(head).region.unwrap_or(&self.names.region);
        auth::check(keys, head, body, clock::time_of_the_system(), region).map(Some)
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
        respond::refuse_with_status(style, status, code, message, &self.service.request_id())
    }

    /// What it stands in front of.
    pub(super) fn service(&self) -> &Service {
        &self.service
    }

    /// Ends long polls with empty answers, and move tasks.
    pub(crate) fn shut_down(&self) {
        self.service.shut_down();
    }

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(super) fn is_shut_down(&self) -> bool {
        self.service.is_shut_down()
    }

    fn context(&self, head: &Parts, call: &Call<'_>, caller: Caller<'_>) -> Context {
        let host = caller::host(head).unwrap_or(&self.names.own_host);
        let region = caller.region.or_else(|| Some(Styled::of(host)?.region)).unwrap_or(&self.names.region);
        let base_url = match &self.names.public_url {
            Some(url) => url.clone(),
            None => self.names.queue_url_style.base(host, region),
        };
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        let wsdl = call.protocol() == Protocol::Query;
        Context {
            account: caller.account.unwrap_or(&self.names.account).to_owned(),
            region: region.to_owned(),
            base_url,
            wsdl,
            queue_path: Some(head.uri.path()).filter(|path| wsdl && *path != "/").map(str::to_owned),
            trace_header: trace_header.map(str::to_owned),
            failing: Vec::new(),
        }
    }
}

/// What a request says about its caller that nobody verifies.
fn claimed<'a>(head: &'a Parts, call: &'a Call<'_>) -> Caller<'a> {
    let signed_url = call.parameter("X-Amz-Credential").map(Caller::from_credential);
    signed_url.unwrap_or_else(|| Caller::of(head))
}
