//! The Query protocol of services that have no other: forms in, XML out. SQS has its own front, since it also speaks AWS
//! JSON, and its lists have other names.
//!
//! ```text
//! request -> front: form -> action -> signature -> faults -> api (a service) -> output -> XML
//! ```

pub(crate) mod form;
pub(crate) mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Method, Response};
use parking_lot::Mutex;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::sign::{Claim, VerifyError};
use tracing::Level;

use crate::control::arn::{Resource, TopicArn};
use crate::control::caller::{Caller, is_region, is_trusted};
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::faults::fault::{Damage, FailingEntry, Failure, Plan, Rejection};
use crate::control::faults::{Entry, Faults, Request};
use crate::control::journal;
use crate::control::journal::{Input, Journal, PendingRecord, Record};
use crate::control::metrics::{Counters, Exposition, INJECTED_STATUS, Kind, Stopwatch, UNKNOWN};
use crate::control::operation::ServiceName;
use crate::control::seed::{Seed, uuid};
use crate::http::body::form_text;
use crate::http::guard::{Denied, Names};
use crate::http::reply::Reply;
use crate::query::form::Form;
use crate::query::xml::{Document, Xml};

/// The actions of a service.
pub(crate) trait Api: Sync {
    /// The name in credential scopes.
    const SERVICE: ServiceName;
    /// The XML namespace of responses.
    const NAMESPACE: &'static str;
    /// One of the actions.
    type Kind: Copy + Send + Sync;

    /// Finds an action.
    fn action(name: &str) -> Option<Action<Self::Kind>>;

    /// The resource that a request addresses.
    fn resource(_: &Call<'_>) -> Option<Resource> {
        None
    }

    /// The entries of a batch, for faults. Other requests have none.
    fn entries(_: Self::Kind, _: &Form) -> Vec<Entry<'_>> {
        Vec::new()
    }

    /// Runs an action.
    fn serve(
        &self,
        action: Action<Self::Kind>,
        call: &Call<'_>,
    ) -> impl Future<Output = Result<Output, QueryError>> + Send;
}

/// An action of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action<K> {
    pub(crate) kind: K,
    pub(crate) name: &'static str,
    pub(crate) access: Access,
}

/// Who may call an action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    /// It changes nothing, so that a browser may call it by GET.
    Read,
    /// It changes something.
    Change,
    /// It also works as a link, without a signature: a parameter is a secret.
    Link,
}

/// A request whose caller is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) form: &'a Form,
    /// 12 digits.
    pub(crate) account: &'a str,
    pub(crate) region: &'a str,
    pub(crate) origin: Origin<'a>,
    /// Whether the request has a signature, valid or not.
    pub(crate) is_signed: bool,
    /// Entries of its batch that fail by a fault.
    pub(crate) failing: &'a [FailingEntry],
    /// Ids of entries that the response leaves out, by a fault.
    pub(crate) omitted: &'a [String],
}

/// What a message tells about the request that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The URL of this server for the caller, without a slash at the end.
    pub(crate) base_url: &'a str,
    /// The header `X-Amzn-Trace-Id`.
    pub(crate) trace_header: Option<&'a str>,
}

/// A successful response. The default has no result element.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The content of the result element. `None` for actions without one.
    pub(crate) result: Option<Xml>,
    /// What the recorded request says about its effects.
    pub(crate) notes: Vec<String>,
}

impl Output {
    /// A response with a result.
    pub(crate) fn of(write: impl FnOnce(&mut Xml)) -> Self {
        let mut xml = Xml::default();
        write(&mut xml);
        Self { result: Some(xml), notes: Vec::new() }
    }
}

/// The HTTP layer of the services with the Query protocol.
#[derive(Debug)]
pub(crate) struct Front {
    names: Arc<Names>,
    journal: Arc<Journal>,
    /// Requests by action and code.
    sns: Counters<2>,
    sts: Counters<2>,
    clock: Clock,
    faults: Faults,
    /// Held only to draw an id.
    ids: Mutex<fastrand::Rng>,
}

/// Why a request has no output.
enum Failed {
    Error(QueryError),
    /// A fault replaces the response, as if by a proxy.
    Status(u16, String),
    /// A fault breaks the connection.
    Reset,
}

impl From<QueryError> for Failed {
    fn from(error: QueryError) -> Self {
        Self::Error(error)
    }
}

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
struct Observer<'a> {
    requests: &'a Counters<2>,
    pending: PendingRecord<'a>,
    service: ServiceName,
    request_id: &'a str,
    watch: Stopwatch,
    logged: Logged,
}

/// What only the log has.
#[derive(Debug, Default)]
struct Logged {
    account: Option<String>,
    region: Option<String>,
    topic: Option<TopicArn>,
    error: Option<String>,
    notes: Vec<String>,
}

impl Observer<'_> {
    /// Sets the error.
    fn refused(&mut self, code: &ErrorCode, text: Option<String>) {
        self.pending.refused(code);
        self.logged.error = text;
    }

    /// Logs failures of the server as warnings, for its operator, and all other requests at debug level.
    fn log(&self) {
        let (ending, logged) = (self.pending.ending(), &self.logged);
        macro_rules! event {
            ($level:expr) => {
                tracing::event!(
                    $level,
                    service = self.service.as_str(),
                    request_id = self.request_id,
                    action = self.pending.operation.as_deref(),
                    account = logged.account,
                    region = logged.region,
                    topic = logged.topic.as_ref().map(tracing::field::display),
                    status = ending.status(),
                    code = ending.code(),
                    error = logged.error,
                    notes = (!logged.notes.is_empty()).then(|| tracing::field::debug(&logged.notes)),
                    took_us = u64::try_from(self.watch.elapsed().as_micros()).unwrap_or(u64::MAX),
                    "request"
                )
            };
        }
        let is_failure = ending.status().is_some_and(|status| status >= 500);
        if is_failure { event!(Level::WARN) } else { event!(Level::DEBUG) }
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let action = self.pending.operation.clone().unwrap_or(UNKNOWN.into());
        self.requests.count([action, self.pending.ending().code().to_owned().into()]);
        self.log();
    }
}

impl Front {
    /// Creates the HTTP layer.
    pub(crate) fn new(
        names: Arc<Names>,
        journal: Arc<Journal>,
        clock: Clock,
        faults: Faults,
        seed: Seed,
    ) -> Self {
        let ids = Mutex::new(seed.generator("request ids of the Query protocol"));
        let requests = || Counters::new(["action", "code"]);
        Self { names, journal, sns: requests(), sts: requests(), clock, faults, ids }
    }

    /// Writes the metrics of requests.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        for (service, requests) in [(ServiceName::Sns, &self.sns), (ServiceName::Sts, &self.sts)] {
            let name = format!("sqs_mock_{}_requests_total", service.as_str());
            let help = format!(
                "Requests to {service} by action and error code; the code of successful requests is OK."
            );
            text.family(&name, Kind::Counter, &help);
            requests.write(text, &name);
        }
    }

    /// Answers a request.
    ///
    /// # Cancel safety
    /// If the future is dropped, the request is either not applied, or applied as if its response was lost.
    pub(crate) async fn answer<A: Api>(&self, api: &A, head: &Parts, body: &[u8]) -> Reply {
        let request_id = uuid(&mut self.ids.lock()).to_string();
        let form = form_text(head, body);
        let input = Input { protocol: Protocol::Query, path: head.uri.path(), content: &form };
        let pending = PendingRecord::open(&self.journal, &self.clock, A::SERVICE, &request_id, Some(input));
        let requests = if A::SERVICE == ServiceName::Sts { &self.sts } else { &self.sns };
        let mut observer = Observer {
            requests,
            pending,
            service: A::SERVICE,
            request_id: &request_id,
            watch: Stopwatch::start(),
            logged: Logged::default(),
        };
        let document = Document { namespace: A::NAMESPACE, request_id: &request_id };
        let reply = match self.respond(api, head, (body, &form), document, &mut observer).await {
            Ok((response, damage)) => Reply::damaged(response, damage),
            Err(Failed::Error(error)) => {
                // Not one of SQS, which has other names for some of these codes.
                observer.refused(&ErrorCode::Other(error.code.to_string()), Some(error.message.clone()));
                document.error(&error).into()
            }
            Err(Failed::Status(status, body)) => {
                observer.refused(&ErrorCode::from_name(INJECTED_STATUS), None);
                Reply::foreign(status, body)
            }
            Err(Failed::Reset) => Reply::Lost,
        };
        let pending = &mut observer.pending;
        pending.answered(reply.status());
        pending.note(|record| record.answer = reply.body());
        reply
    }

    async fn respond<A: Api>(
        &self,
        api: &A,
        head: &Parts,
        (body, form): (&[u8], &[u8]),
        document: Document<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<(Response<Bytes>, Option<Damage>), Failed> {
        let form = Form::parse(form)?;
        let action = action::<A>(head, &form)?;
        observer.pending.asked(action.name);
        let claim = self.admit::<A>(head, body, action.access)?;
        let claimed =
            || form.get("X-Amz-Credential").map_or_else(|| Caller::of(head), Caller::from_credential);
        let caller = claim.as_ref().map_or_else(claimed, Caller::of_claim);
        let host = self.names.host(head);
        let base_url = self.names.base_url(host);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|header| header.to_str().ok());
        let call = Call {
            form: &form,
            account: caller.account.unwrap_or(&self.names.account),
            region: caller.region.or_else(|| region_of(host)).unwrap_or(&self.names.region),
            origin: Origin { base_url: &base_url, trace_header },
            is_signed: head.headers.contains_key(AUTHORIZATION) || form.get("X-Amz-Signature").is_some(),
            failing: &[],
            omitted: &[],
        };
        // The links in messages have no signature, and on AWS a host of their region.
        let resource = A::resource(&call);
        let call = match &resource {
            Some(Resource::Topic(topic)) if !call.is_signed && region_of(host).is_none() => {
                Call { region: &topic.region, ..call }
            }
            _ => call,
        };
        if tracing::enabled!(Level::WARN) {
            let logged = &mut observer.logged;
            (logged.account, logged.region) = (Some(call.account.into()), Some(call.region.into()));
            logged.topic = match &resource {
                Some(Resource::Topic(topic)) => Some(topic.clone()),
                _ => None,
            };
        }
        observer.pending.note(|record| {
            record.caller =
                Some(journal::Caller { region: call.region.into(), account: call.account.into() });
            record.resource.clone_from(&resource);
        });
        let plan = if is_trusted(head) { Plan::default() } else { self.plan::<A>(action, &call) };
        let faults = plan.applied.clone();
        observer.pending.note(|record| record.warnings = faults.clone().into());
        let plan = self.apply_faults(plan).await?;
        let call = Call { failing: &plan.failing, omitted: &plan.omitted, ..call };
        let output = api.serve(action, &call).await?;
        if tracing::enabled!(Level::DEBUG) {
            observer.logged.notes.clone_from(&output.notes);
        }
        observer.pending.note(|record| record.warnings = output.notes.into_iter().chain(faults).collect());
        Ok((document.answer(action.name, output.result.as_ref()), plan.damage))
    }

    /// Rejects pages of other sites, and wrong signatures if signatures are required.
    fn admit<A: Api>(&self, head: &Parts, body: &[u8], access: Access) -> Result<Option<Claim>, QueryError> {
        match self.names.admit(A::SERVICE, head, body, access == Access::Change) {
            Ok(claim) => Ok(claim),
            Err(Denied::Guard(text)) => Err(QueryError::new(403, "AccessDenied", text)),
            Err(Denied::Signature(VerifyError::Unsigned)) if access == Access::Link => Ok(None),
            Err(Denied::Signature(error)) => Err(not_verified(&error)),
        }
    }

    fn plan<A: Api>(&self, action: Action<A::Kind>, call: &Call<'_>) -> Plan {
        self.faults.plan(|| Request {
            service: A::SERVICE,
            operation: action.name,
            resource: A::resource(call),
            account: call.account,
            region: call.region,
            time: self.clock.now(),
            entries: A::entries(action.kind, call.form),
            can_redeliver: false,
        })
    }

    /// Applies the faults of a request as a whole, and returns the others.
    async fn apply_faults(&self, mut plan: Plan) -> Result<Plan, Failed> {
        if !self.faults.delays().delay(plan.latency).await {
            // The client does not retry this error.
            return Err(QueryError::new(404, "NotFound", "The server was reset.").into());
        }
        match plan.rejection.take() {
            None => Ok(plan),
            Some(Rejection::Error(failure)) => Err(QueryError::injected(failure).into()),
            Some(Rejection::Status(status, body)) => Err(Failed::Status(status, body)),
            Some(Rejection::Reset) => Err(Failed::Reset),
        }
    }
}

fn action<A: Api>(head: &Parts, form: &Form) -> Result<Action<A::Kind>, QueryError> {
    if head.method != Method::POST && head.method != Method::GET {
        return Err(QueryError::new(405, "MethodNotAllowed", "Only GET and POST are supported."));
    }
    let name = form.get("Action");
    let name =
        name.ok_or_else(|| QueryError::new(400, "MissingAction", "The parameter Action is missing."))?;
    A::action(name).ok_or_else(|| {
        let service = A::SERVICE;
        QueryError::new(400, "InvalidAction", format!("This server has no action {name:?} of {service}."))
    })
}

/// The region of a host such as `sns.eu-west-1.amazonaws.com`.
fn region_of(host: &str) -> Option<&str> {
    let mut labels = host.split('.');
    let service = labels.next()?.trim_end_matches("-fips");
    let region = labels.next()?;
    (matches!(service, "sns" | "sts") && region.contains('-') && is_region(region)).then_some(region)
}

/// Maps an error to that of AWS.
fn not_verified(error: &VerifyError) -> QueryError {
    let (status, code) = match error {
        VerifyError::Unsigned => (403, "MissingAuthenticationToken"),
        VerifyError::UnknownKey => (403, "InvalidClientTokenId"),
        VerifyError::Incomplete(_) => (400, "IncompleteSignature"),
        _ => (403, "SignatureDoesNotMatch"),
    };
    QueryError::new(status, code, error.to_string())
}

/// A recorded request to SNS or STS.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueryRequest {
    /// Counts from 1 in the order of the responses, over all services. A reset does not restart it.
    pub number: u64,
    /// The arrival, by the clock of the server.
    pub time: Timestamp,
    /// The name that AWS uses, such as `Publish`; empty if the service has no such action.
    pub action: String,
    /// The parameters without the signature, such as `Message`; empty if they were too long to be recorded.
    pub parameters: BTreeMap<String, String>,
    /// The topic that the request addresses.
    pub topic: Option<TopicArn>,
    /// The account of the caller; `None` if the request was rejected before the account was known.
    pub account: Option<String>,
    /// The region of the caller; `None` as with `account`.
    pub region: Option<String>,
    /// The status of the response; `None` if the connection broke or the caller disconnected.
    pub status: Option<u16>,
    /// The error code, if the request failed; `InjectedStatus` if a fault answered with a status.
    pub error: Option<String>,
    /// What happened apart from the response, such as messages that were not delivered.
    pub notes: Vec<String>,
}

impl QueryRequest {
    /// The requests to a service in a journal, oldest first.
    pub(crate) fn all(journal: &Journal, service: ServiceName) -> Vec<Self> {
        let records = journal.records();
        records.iter().filter(|record| record.service == service).map(|record| Self::of(record)).collect()
    }

    fn of(record: &Record) -> Self {
        let caller = record.caller.as_ref();
        let topic = match &record.resource {
            Some(Resource::Topic(topic)) => Some(topic.clone()),
            _ => None,
        };
        Self {
            number: record.number,
            time: record.time,
            action: record.operation.as_deref().unwrap_or_default().to_owned(),
            parameters: Form::parse(record.content()).unwrap_or_default().0,
            topic,
            account: caller.map(|caller| caller.account.to_string()),
            region: caller.map(|caller| caller.region.to_string()),
            status: record.ending.status(),
            error: record.ending.error_code().map(ErrorCode::shape).map(str::to_owned),
            notes: record.warnings.to_vec(),
        }
    }
}

/// The error response to a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct QueryError {
    pub(crate) status: u16,
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
}

impl QueryError {
    /// Creates an error.
    pub(crate) fn new(status: u16, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into() }
    }

    /// The injected error of a request, or of an entry of a batch.
    pub(crate) fn injected(failure: Failure) -> Self {
        let code = failure.code.unwrap_or_else(|| "Throttled".to_owned());
        let status = match code.as_str() {
            "NotFound" | "ResourceNotFound" => 404,
            "AuthorizationError"
            | "FilterPolicyLimitExceeded"
            | "InvalidSecurity"
            | "KMSOptInRequired"
            | "SubscriptionLimitExceeded"
            | "TopicLimitExceeded" => 403,
            "Throttled" => 429,
            "InternalError" | "InternalFailure" => 500,
            "ServiceUnavailable" => 503,
            _ => 400,
        };
        Self::new(status, code, failure.message.unwrap_or_else(|| "This failure was injected.".to_owned()))
    }

    /// Whether the sender caused it, not the service.
    pub(crate) fn is_of_sender(&self) -> bool {
        self.status < 500
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}
