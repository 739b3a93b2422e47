//! SQS over HTTP, without sockets.

use std::sync::Arc;

use http::request::Parts;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::{Detected, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::Claim;

use super::call::{Call, Ended};
use super::dispatch::{Answered, dispatch};
use super::metrics::{self, Metrics};
use super::observer::Observer;
use super::queue_url::QueueUrlStyle;
use super::respond::{self, Style};
use super::signature;
use crate::http::{Denied, Names, Reply, form_text};
use crate::service::caller::Caller;
use crate::service::journal::{Input, Journal, PendingRecord};
use crate::service::metrics::{Exposition, INJECTED_STATUS};
use crate::service::operation::ServiceName;
use crate::sqs::ops::Service;

/// SQS without a transport.
#[derive(Debug)]
pub(crate) struct Endpoint {
    service: Arc<Service>,
    names: Arc<Names>,
    /// How queue URLs name the region, unless there is a public URL.
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
        let mut observer = self.observe(&request_id, head, style.protocol, input);
        let call = Call::read(&detected, head, body, &form);
        let answered = self.respond(head, body, call, style, &mut observer).await;
        let mut refuse = |error: &ServiceError| {
            observer.refused(&error.code, error.message.as_deref());
            respond::refuse(style, error, &request_id)
        };
        let reply = match answered {
            Ok((Ok(encoded), damage)) => Reply::damaged(respond::answer(encoded), damage),
            Ok((Err(error), damage)) => Reply::damaged(refuse(&error), damage),
            Err(Ended::Refused(error)) => refuse(&error).into(),
            Err(Ended::MethodNotAllowed) => {
                observer.refused(&ErrorCode::from_name("MethodNotAllowed"), None);
                respond::method_not_allowed(style, &request_id).into()
            }
            Err(Ended::NoAction) => {
                observer.refused(&ErrorCode::from_name("NoAction"), None);
                respond::no_action().into()
            }
            Err(Ended::Foreign(status, body)) => {
                observer.refused(&ErrorCode::from_name(INJECTED_STATUS), None);
                Reply::foreign(status, body)
            }
            Err(Ended::Lost) => Reply::Lost,
        };
        observer.end(reply.status(), || reply.body());
        reply
    }

    async fn respond(
        &self,
        head: &Parts,
        body: &[u8],
        call: Result<Call<'_>, Ended>,
        style: Style,
        observer: &mut Observer<'_>,
    ) -> Result<Answered, Ended> {
        let call = call?;
        observer.asked(call.action);
        let claim = self.admit(head, body, call.action)?;
        let caller = claim.as_ref().map_or_else(|| claimed(head, &call), Caller::of_claim);
        let request_id = observer.request_id;
        let context = observer.caller(self.context(head, caller, style.protocol));
        // Changes that cannot be stored would wait in memory without bound.
        if self.service.changes(call.action) {
            self.service.check_store()?;
        }
        let dispatched = dispatch(&self.service, context, call, style, request_id).await;
        let settled = self.service.settled().await;
        let (answer, damage) = match dispatched {
            Err(Ended::Refused(error)) => (Err(error), None),
            other => other?,
        };
        Ok((settled.and(answer), damage))
    }

    /// Begins to observe a request. `input` is the body in AWS JSON, or the form in the Query protocol.
    pub(super) fn observe<'a>(
        &'a self,
        request_id: &'a str,
        head: &'a Parts,
        protocol: Protocol,
        input: &'a [u8],
    ) -> Observer<'a> {
        let input = Input { protocol, path: head.uri.path(), content: input };
        let clock = self.service.clock();
        let pending = PendingRecord::open(&self.journal, clock, ServiceName::Sqs, request_id, Some(input));
        Observer::new(&self.metrics, pending, request_id)
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
        self.metrics.connections.enter()
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

    /// The service.
    pub(crate) fn service(&self) -> &Service {
        &self.service
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
