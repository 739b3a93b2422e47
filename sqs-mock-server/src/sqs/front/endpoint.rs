//! SQS over HTTP, without sockets.

use std::sync::Arc;

use http::request::Parts;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::{Detected, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::Claim;

use super::dispatch::{Answered, Call, NoOutput, dispatch};
use super::metrics::{self, Metrics};
use super::observer::Observer;
use super::queue_url::{QueueUrlStyle, Styled};
use super::respond::{self, Style};
use crate::http::{Denied, Names, Reply, form_text};
use crate::service::caller::Caller;
use crate::service::journal::{Input, Journal, PendingRecord};
use crate::service::metrics::{Exposition, INJECTED_STATUS};
use crate::service::operation::ServiceName;
use crate::sqs::ops::{Context, Service, Trace};

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
        let reply = match answered {
            Ok((encoded, damage)) => Reply::damaged(respond::answer(encoded), damage),
            Err(NoOutput::Refused(error, damage)) => {
                observer.refused(&error.code, error.message.as_deref());
                Reply::damaged(respond::refuse(style, &error, &request_id), damage)
            }
            Err(NoOutput::MethodNotAllowed) => {
                observer.refused(&ErrorCode::from_name("MethodNotAllowed"), None);
                respond::method_not_allowed(style, &request_id).into()
            }
            Err(NoOutput::NoAction) => {
                observer.refused(&ErrorCode::from_name("NoAction"), None);
                respond::no_action().into()
            }
            Err(NoOutput::Replaced(status, body)) => {
                observer.refused(&ErrorCode::from_name(INJECTED_STATUS), None);
                Reply::foreign(status, body)
            }
            Err(NoOutput::Lost) => Reply::Lost,
        };
        observer.end(reply.status(), || reply.body());
        reply
    }

    async fn respond(
        &self,
        head: &Parts,
        body: &[u8],
        call: Result<Call<'_>, NoOutput>,
        style: Style,
        observer: &mut Observer<'_>,
    ) -> Answered {
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
        match (dispatched, settled) {
            (Ok((_, damage)) | Err(NoOutput::Refused(_, damage)), Err(not_stored)) => {
                Err(NoOutput::Refused(not_stored, damage))
            }
            (dispatched, _) => dispatched,
        }
    }

    /// The base of queue URLs in a region, for callers that use this host.
    pub(crate) fn base_url(&self, host: &str, region: &str) -> String {
        match &self.names.public_url {
            Some(url) => url.clone(),
            None => self.queue_url_style.base(host, region),
        }
    }

    /// The context of an operation. If the caller does not name a region, the host may.
    pub(crate) fn context(&self, head: &Parts, caller: Caller<'_>, protocol: Protocol) -> Context {
        let host = self.names.host(head);
        let of_host = || Some(Styled::of(host)?.region);
        let region = caller.region.or_else(of_host).unwrap_or(&self.names.region);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        let is_query = protocol == Protocol::Query;
        let path = Some(head.uri.path()).filter(|path| is_query && *path != "/");
        Context {
            account: caller.account.unwrap_or(&self.names.account).to_owned(),
            region: region.to_owned(),
            base_url: self.base_url(host, region),
            public_url: self.names.public_url.clone(),
            is_query,
            request_url: path.map(|path| format!("http://{host}{path}")),
            trace_header: trace_header.map(str::to_owned),
            failing: Vec::new(),
            is_retry: self.service.findings().is_some() && is_retry(head),
            redeliver: false,
            trace: Trace::default(),
        }
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
                respond::wrong_signature(&error, Caller::of(head).region.unwrap_or(&self.names.region))
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

/// Whether the request is a retry of an AWS SDK, as in `amz-sdk-request: attempt=2; max=3`.
fn is_retry(head: &Parts) -> bool {
    let request = head.headers.get("amz-sdk-request").and_then(|value| value.to_str().ok());
    let attempt = request.and_then(|text| {
        text.split(';').find_map(|part| part.trim().strip_prefix("attempt=")?.parse::<u32>().ok())
    });
    attempt.is_some_and(|attempt| attempt > 1)
}
