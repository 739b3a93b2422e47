//! The Query protocol of services that have no other: forms in, XML out. SQS also speaks AWS JSON, and its lists have other
//! names. [`front`](crate::front) has the way of a request.

pub(crate) mod form;
pub(crate) mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use parking_lot::Mutex;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::sign::VerifyError;

use crate::control::arn::{Resource, TopicArn};
use crate::control::caller::{is_region, is_trusted, scheme};
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::faults::fault::{FailingEntry, Failure, Plan};
use crate::control::faults::{Entry, Faults, Request};
use crate::control::journal::{Ending, Journal, Record};
use crate::control::metrics::{Counters, Exposition, Kind, UNKNOWN};
use crate::control::operation::ServiceName;
use crate::control::seed::{Seed, uuid};
use crate::control::session::AccountId;
use crate::front::{Access, Answered, Api, Asked, Failed, Identity, Incoming, Observer, Told, enter};
use crate::http::guard::{Denied, Names};
use crate::outgoing::without_password;
use crate::query::form::Form;
use crate::query::xml::{Document, Xml};

/// The actions of a service.
pub(crate) trait Actions: Send + Sync {
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

    /// Refuses changes while they cannot be stored.
    fn check_store(&self) -> Result<(), QueryError> {
        Ok(())
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

/// A request whose caller is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) form: &'a Form,
    /// 12 digits.
    pub(crate) account: &'a str,
    pub(crate) region: &'a str,
    pub(crate) origin: Origin<'a>,
    /// Whether the request has a signature; a valid one, if signatures are verified.
    pub(crate) is_signed: bool,
    /// Entries of its batch that fail by a fault.
    pub(crate) failing: &'a [FailingEntry],
    /// Ids of entries that the response leaves out, by a fault.
    pub(crate) omitted: &'a [String],
    /// That of the caller's temporary credentials.
    pub(crate) session_token: Option<&'a str>,
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

/// A service over HTTP.
#[derive(Debug)]
pub(crate) struct Query<A> {
    pub(crate) actions: Arc<A>,
    names: Arc<Names>,
    /// Requests by action and code.
    requests: Counters<2>,
    clock: Clock,
    faults: Faults,
    /// Held only to draw an id.
    ids: Mutex<fastrand::Rng>,
}

/// Who asks, and what the action tells about the request.
#[derive(Debug)]
pub(crate) struct Context {
    account: String,
    region: String,
    resource: Option<Resource>,
    base_url: String,
    trace_header: Option<String>,
    session_token: Option<String>,
    is_signed: bool,
    is_trusted: bool,
    notes: Vec<String>,
}

impl Context {
    fn call<'c>(&'c self, form: &'c Form, plan: &'c Plan) -> Call<'c> {
        let Self { account, region, base_url, trace_header, session_token, is_signed, .. } = self;
        let origin = Origin { base_url, trace_header: trace_header.as_deref() };
        let (failing, omitted) = (&*plan.failing, &*plan.omitted);
        let (is_signed, session_token) = (*is_signed, session_token.as_deref());
        Call { form, account, region, origin, is_signed, failing, omitted, session_token }
    }
}

impl<A: Actions> Query<A> {
    /// Creates the HTTP layer of a service.
    pub(crate) fn new(actions: Arc<A>, names: Arc<Names>, clock: Clock, faults: Faults, seed: Seed) -> Self {
        let ids = Mutex::new(seed.generator(&format!("request ids of {}", A::SERVICE)));
        Self { actions, names, requests: Counters::new(["action", "code"]), clock, faults, ids }
    }

    /// Writes the metrics of requests.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        let service = A::SERVICE;
        let name = format!("sqs_mock_{}_requests_total", service.as_str());
        let help =
            format!("Requests to {service} by action and error code; the code of successful requests is OK.");
        text.family(&name, Kind::Counter, &help);
        self.requests.write(text, &name);
    }
}

impl<A: Actions> Api for Query<A> {
    const SERVICE: ServiceName = A::SERVICE;
    type Style = ();
    type Action = &'static str;
    type Context = Context;
    type Error = QueryError;

    fn request_id(&self) -> String {
        uuid(&mut self.ids.lock()).to_string()
    }

    fn style(_: &Parts) -> ((), Protocol) {
        ((), Protocol::Query)
    }

    async fn respond(
        &self,
        request: Incoming<'_>,
        (): (),
        observer: &mut Observer<'_, Self>,
    ) -> Answered<QueryError> {
        let head = request.head;
        let form = Form::parse(request.form)?;
        let action = action::<A>(head, &form)?;
        let Action { name, access, .. } = action;
        let identity = observer.admit(Asked { action: name, name, access }, request)?;
        let request_id = observer.request_id;
        let context = observer.caller(self.context(head, &identity, &form));
        // Changes that cannot be stored would wait in memory without bound. Such a request uses up no fault.
        if access != Access::Read {
            self.actions.check_store()?;
        }
        let plan = self.plan(context, &form, action);
        context.notes.clone_from(&plan.applied);
        // The client does not retry this error.
        let reset = || QueryError::new(404, "NotFound", "The server was reset.");
        let entered = enter(&self.faults, &plan).await;
        entered.map_err(|stopped| stopped.into_failed(reset, QueryError::injected))?;
        let output = self.actions.serve(action, &context.call(&form, &plan)).await;
        let output = output.map_err(|error| Failed::Refused(error, plan.damage))?;
        context.notes.splice(..0, output.notes);
        let response = document::<A>(request_id).answer(name, output.result.as_ref());
        Ok((response, plan.damage))
    }

    fn denied(&self, denied: Denied, _: &Parts) -> QueryError {
        match denied {
            Denied::Guard(text) => QueryError::new(403, "AccessDenied", text),
            Denied::Signature(error) => not_verified(&error),
        }
    }

    fn refuse((): (), error: &QueryError, request_id: &str) -> Response<Bytes> {
        document::<A>(request_id).error(error)
    }

    fn describe(error: &QueryError) -> (ErrorCode, Option<&str>) {
        // Not one of SQS, which has other names for some of these codes.
        (ErrorCode::Other(error.code.to_string()), Some(&error.message))
    }

    fn told(context: &Context) -> Told<'_> {
        let topic = match &context.resource {
            Some(Resource::Topic(topic)) => Some(topic),
            _ => None,
        };
        Told {
            name: "",
            account: &context.account,
            region: &context.region,
            queue: None,
            topic,
            waited: None,
        }
    }

    fn warnings(context: &Context) -> Box<[String]> {
        context.notes.clone().into()
    }

    fn count(&self, action: Option<&'static str>, ending: &Ending, _: Duration, _: Option<Duration>) {
        self.requests.count([action.unwrap_or(UNKNOWN).into(), ending.code().to_owned().into()]);
    }
}

impl<A: Actions> Query<A> {
    fn context(&self, head: &Parts, identity: &Identity, form: &Form) -> Context {
        let caller = identity.caller(head, form.get("X-Amz-Credential"));
        let host = self.names.host(head);
        let region = caller.region.or_else(|| region_of(host)).unwrap_or(&self.names.region);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|header| header.to_str().ok());
        let token = head.headers.get("x-amz-security-token").and_then(|header| header.to_str().ok());
        let token = form.get("X-Amz-Security-Token").or(token);
        let is_signed = identity.is_signed(head, form.get("X-Amz-Signature"));
        let mut context = Context {
            account: caller.account.as_ref().map_or(&*self.names.account, AccountId::as_str).to_owned(),
            region: region.to_owned(),
            resource: None,
            base_url: self.names.base_url(scheme(head), host),
            trace_header: trace_header.map(str::to_owned),
            session_token: token.map(str::to_owned),
            is_signed,
            is_trusted: is_trusted(head),
            notes: Vec::new(),
        };
        context.resource = A::resource(&context.call(form, &Plan::default()));
        // The links in messages have no signature, and on AWS a host of their region.
        if let Some(Resource::Topic(topic)) = &context.resource
            && !is_signed
            && region_of(host).is_none()
        {
            context.region = topic.region.to_string();
        }
        context
    }

    fn plan(&self, context: &Context, form: &Form, action: Action<A::Kind>) -> Plan {
        if context.is_trusted {
            return Plan::default();
        }
        self.faults.plan(|| Request {
            service: A::SERVICE,
            operation: action.name,
            resource: context.resource.clone(),
            account: &context.account,
            region: &context.region,
            time: self.clock.now(),
            entries: A::entries(action.kind, form),
            can_redeliver: false,
            caller: "",
            number: None,
        })
    }
}

fn document<A: Actions>(request_id: &str) -> Document<'_> {
    Document { namespace: A::NAMESPACE, request_id }
}

fn action<A: Actions>(head: &Parts, form: &Form) -> Result<Action<A::Kind>, QueryError> {
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
        VerifyError::ExpiredToken => (403, "ExpiredToken"),
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
    /// The parameters without the signature and passwords of URLs, such as `Message`; empty if they were too long to be recorded.
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
        let mut parameters = Form::parse(record.content()).unwrap_or_default().0;
        if let Some(url) = parameters.get_mut("Endpoint") {
            *url = without_password(url);
        }
        Self {
            number: record.number,
            time: record.time,
            action: record.operation.as_deref().unwrap_or_default().to_owned(),
            parameters,
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
