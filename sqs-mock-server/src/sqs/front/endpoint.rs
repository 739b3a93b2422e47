//! SQS over HTTP, without sockets.

use std::sync::Arc;

use http::Method;
use http::request::Parts;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::{Detected, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::Claim;

use super::call::{Call, NoCall};
use super::dispatch::{Dispatched, dispatch};
use super::metrics::{self, Metrics};
use super::observer::{Observer, Observers};
use super::queue_url::QueueUrlStyle;
use super::respond::{self, Style};
use super::signature;
use crate::http::{Denied, Names, Reply, form_text};
use crate::service::caller::Caller;
use crate::service::journal::Journal;
use crate::service::metrics::Exposition;
use crate::service::operation::ServiceName;
use crate::sqs::ops::Service;

/// A request before its action is known.
struct Known<'a> {
    head: &'a Parts,
    body: &'a [u8],
    form: &'a [u8],
    detected: Detected,
    style: Style,
}

/// SQS without a transport.
#[derive(Debug)]
pub(crate) struct Endpoint {
    service: Arc<Service>,
    names: Arc<Names>,
    /// The region in queue URLs without a configured base.
    pub(super) queue_url_style: QueueUrlStyle,
    journal: Arc<Journal>,
    metrics: Metrics,
}

impl Endpoint {
    /// Creates the HTTP layer of a service.
    pub(crate) fn new(
        service: Arc<Service>,
        names: Arc<Names>,
        queue_url_style: QueueUrlStyle,
        journal: Arc<Journal>,
    ) -> Self {
        Self { service, names, queue_url_style, journal, metrics: Metrics::new() }
    }

    /// Answers a request in its own protocol, and in the form that it accepts.
    ///
    /// # Cancel safety
    /// If the future is dropped while a receive waits, the receive takes no messages.
    pub(crate) async fn answer(&self, head: &Parts, body: &[u8]) -> Reply {
        let request_id = self.service.request_id();
        let detected = Detected::from_headers(&head.headers);
        let style = Style::of(&detected, head);
        let form = form_text(head, body);
        let input = if style.protocol == Protocol::Query { &*form } else { body };
        let mut observer = Observer::begin(self.observers(), &request_id, head, style.protocol, input);
        let request = Known { head, body, form: &form, detected, style };
        let reply = self.respond(request, &mut observer).await;
        observer.end(&reply);
        reply
    }

    async fn respond(&self, request: Known<'_>, observer: &mut Observer<'_>) -> Reply {
        let Known { head, body, form, detected, style } = request;
        let refuse = |error: &ServiceError, id: &str| respond::refuse(style, error, id);
        if head.method != Method::POST && head.method != Method::GET {
            let code = ErrorCode::from_name("MethodNotAllowed");
            return respond::method_not_allowed(style, observer.refused_as(&code)).into();
        }
        let call = match Call::read(&detected, head, body, form) {
            Ok(call) => call,
            Err(NoCall::NoAction) => {
                observer.refused_as(&ErrorCode::from_name("NoAction"));
                return respond::no_action().into();
            }
            Err(NoCall::Refused(error)) => return refuse(&error, observer.refused(&error)).into(),
        };
        observer.asked(call.action());
        let claim = match self.admit(head, body, call.action()) {
            Ok(claim) => claim,
            Err(error) => return refuse(&error, observer.refused(&error)).into(),
        };
        let caller = claim.as_ref().map_or_else(|| claimed(head, &call), Caller::of_claim);
        let request_id = observer.request_id();
        let context = observer.caller(self.context(head, caller, call.protocol()));
        if let Err(error) = self.check_store(call.action()) {
            return refuse(&error, observer.refused(&error)).into();
        }
        let dispatched = dispatch(&self.service, context, call, style, request_id).await;
        let settled = self.service.settled().await;
        let (answer, damage) = match dispatched {
            Dispatched::Answered(answer, damage) => (settled.and(answer), damage),
            Dispatched::Foreign { status, body } => {
                observer.refused_as(&ErrorCode::from_name("InjectedStatus"));
                return Reply::foreign(status, body);
            }
            Dispatched::Lost => return Reply::Lost,
        };
        let response = match answer {
            Ok(encoded) => {
                observer.answered();
                respond::answer(encoded)
            }
            Err(error) => refuse(&error, observer.refused(&error)),
        };
        Reply::damaged(response, damage)
    }

    /// The observers of requests: metrics, log and journal.
    pub(super) fn observers(&self) -> Observers<'_> {
        Observers { metrics: &self.metrics, journal: &self.journal, clock: self.service.clock() }
    }

    /// The metrics of requests and queues.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn metrics(&self) -> Exposition {
        metrics::render(&self.metrics, &self.service).await
    }

    /// Counts a connection as open until the returned guard is dropped.
    pub(crate) fn count_connection(&self) -> impl Drop + '_ {
        self.metrics.connection()
    }

    /// Rejects pages of other sites, and wrong signatures if signatures are required.
    fn admit(&self, head: &Parts, body: &[u8], action: Action) -> Result<Option<Claim>, ServiceError> {
        let admitted = self.names.admit(ServiceName::Sqs, head, body, self.service.changes(action));
        admitted.map_err(|denied| match denied {
            Denied::Guard(text) => ServiceError::new(ErrorCode::AccessDenied, text),
            Denied::Signature(error) => {
                signature::refusal(&error, Caller::of(head).region.unwrap_or(&self.names.region))
            }
        })
    }

    /// Refuses changes while they cannot be stored: they would wait in memory without bound.
    fn check_store(&self, action: Action) -> Result<(), ServiceError> {
        if self.service.changes(action) { self.service.check_store() } else { Ok(()) }
    }

    /// The service.
    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// Ends move tasks, and long polls with empty responses.
    pub(crate) fn shut_down(&self) {
        self.service.shut_down();
    }

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.service.is_shut_down()
    }

    /// The settings.
    pub(crate) fn names(&self) -> &Arc<Names> {
        &self.names
    }
}

/// The caller according to the request, which is not verified.
fn claimed<'a>(head: &'a Parts, call: &'a Call<'_>) -> Caller<'a> {
    let signed_url = call.parameter("X-Amz-Credential").map(Caller::from_credential);
    signed_url.unwrap_or_else(|| Caller::of(head))
}
