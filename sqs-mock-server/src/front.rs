//! The way of a request to SQS, SNS or STS, from its body to the reply.
//!
//! ```text
//! request -> style -> Api::respond: action -> admit: page, host, signature -> who asks -> faults -> operation -> reply
//!        `-> Observer: record, metrics, log <------------------------------------------------------------'
//! ```
//! A service is an [`Api`]. S3 streams its bodies, and s3s finds its operation: it takes a way of its own, in `s3/front.rs`,
//! whose hooks call [`enter`], too.
//!
//! Nothing here holds a lock or starts a task: dropping the future drops the request, so an abandoned long poll takes no
//! message.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::header::AUTHORIZATION;
use http::request::Parts;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::sign::{Claim, VerifyError};
use tracing::Level;

use crate::control::arn::{QueueArn, Resource, TopicArn};
use crate::control::caller::Caller;
use crate::control::clock::Clock;
use crate::control::faults::Faults;
use crate::control::faults::fault::{Damage, Failure, Plan, Rejection};
use crate::control::journal::{self, Ending, Journal, PendingRecord};
use crate::control::metrics::{INJECTED_STATUS, Stopwatch};
use crate::control::operation::ServiceName;
use crate::http::body::form_text;
use crate::http::guard::{Denied, Names};
use crate::http::reply::{Reply, foreign};

/// A service, as the way of its requests needs it.
pub(crate) trait Api: Sized + Sync {
    /// The name in credential scopes.
    const SERVICE: ServiceName;
    /// How the caller wants its response.
    type Style: Copy + Send;
    /// One of its actions.
    type Action: Copy + Debug + Send + Sync;
    /// Who asks, and what the operation tells about the request.
    type Context: Debug + Send + Sync;
    /// Why a request is refused.
    type Error: Send;

    fn request_id(&self) -> String;

    /// The style of the response, and the protocol of the input.
    fn style(head: &Parts) -> (Self::Style, Protocol);

    /// Finds the action, has the request [admitted](Observer::admit), finds out who asks, and runs the action with its faults.
    fn respond(
        &self,
        request: Incoming<'_>,
        style: Self::Style,
        observer: &mut Observer<'_, Self>,
    ) -> impl Future<Output = Answered<Self::Error>> + Send;

    /// The error of a request that is not admitted.
    fn denied(&self, denied: Denied, head: &Parts) -> Self::Error;

    fn refuse(style: Self::Style, error: &Self::Error, request_id: &str) -> Response<Bytes>;

    /// The code of an error in records and metrics, and its text for the log.
    fn describe(error: &Self::Error) -> (ErrorCode, Option<&str>);

    fn told(context: &Self::Context) -> Told<'_>;

    /// What the record says besides the response.
    fn warnings(context: &Self::Context) -> Box<[String]>;

    /// Counts a request.
    fn count(&self, action: Option<Self::Action>, ending: &Ending, took: Duration, waited: Option<Duration>);
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) head: &'a Parts,
    pub(crate) body: &'a [u8],
    /// The text of [`form_text`].
    pub(crate) form: &'a [u8],
}

/// The action of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<A> {
    pub(crate) action: A,
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

/// What a context knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'c> {
    /// The caller, if there is a schedule; else empty.
    pub(crate) name: &'c str,
    pub(crate) account: &'c str,
    pub(crate) region: &'c str,
    pub(crate) queue: Option<&'c QueueArn>,
    pub(crate) topic: Option<&'c TopicArn>,
    /// How long it waited for messages.
    pub(crate) waited: Option<Duration>,
}

/// A response, with the damage of a fault to it.
pub(crate) type Answered<E> = Result<(Response<Bytes>, Option<Damage>), Failed<E>>;

/// Why a request has no output.
#[derive(Debug)]
pub(crate) enum Failed<E> {
    /// An error, with the damage of a fault to its response.
    Refused(E, Option<Damage>),
    /// A fault replaces the response, as if by a proxy.
    Replaced(u16, String),
    /// A fault breaks the connection.
    Lost,
}

impl<E> From<E> for Failed<E> {
    fn from(error: E) -> Self {
        Self::Refused(error, None)
    }
}

/// What a fault makes of a request before its operation runs.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The server was reset while it waited.
    Reset,
    Error(Failure),
    Replaced(u16, String),
    Lost,
}

impl Stopped {
    /// The result of a request, with the errors of its service.
    pub(crate) fn into_failed<E>(
        self,
        reset: impl FnOnce() -> E,
        error: impl FnOnce(Failure) -> E,
    ) -> Failed<E> {
        match self {
            Self::Reset => reset().into(),
            Self::Error(failure) => error(failure).into(),
            Self::Replaced(status, body) => Failed::Replaced(status, body),
            Self::Lost => Failed::Lost,
        }
    }
}

/// Waits for the latency of the faults of a request.
///
/// # Errors
/// The request is not applied.
pub(crate) async fn enter(faults: &Faults, plan: &Plan) -> Result<(), Stopped> {
    if !faults.delays().delay(plan.latency).await {
        return Err(Stopped::Reset);
    }
    match plan.rejection.clone() {
        None => Ok(()),
        Some(Rejection::Error(failure)) => Err(Stopped::Error(failure)),
        Some(Rejection::Status(status, body)) => Err(Stopped::Replaced(status, body)),
        Some(Rejection::Reset) => Err(Stopped::Lost),
    }
}

/// What shows who asks.
#[derive(Debug)]
pub(crate) enum Identity {
    /// Signatures are not verified: the request itself says who asks.
    Claimed,
    /// Signatures are verified: only the claim counts. `None` is a link without a signature.
    Verified(Option<Claim>),
}

impl Identity {
    /// The caller. `credential` is that in the URL or in the form, before the one in the header.
    pub(crate) fn caller<'a>(&'a self, head: &'a Parts, credential: Option<&'a str>) -> Caller<'a> {
        match self {
            Self::Claimed => credential.map_or_else(|| Caller::of(head), Caller::from_credential),
            Self::Verified(claim) => claim.as_ref().map(Caller::of_claim).unwrap_or_default(),
        }
    }

    /// Whether the request counts as signed. `signature` is that in the URL or in the form.
    pub(crate) fn is_signed(&self, head: &Parts, signature: Option<&str>) -> bool {
        match self {
            Self::Claimed => head.headers.contains_key(AUTHORIZATION) || signature.is_some(),
            Self::Verified(claim) => claim.is_some(),
        }
    }
}

/// What all services share on the way.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) names: Arc<Names>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) clock: Clock,
}

impl Front {
    /// Answers a request in its own protocol, and in the form that it accepts.
    ///
    /// # Cancel safety
    /// If the future is dropped, the request is either not applied, or applied as if its response was lost. A receive that
    /// waits takes no messages.
    pub(crate) async fn answer<S: Api>(&self, api: &S, head: &Parts, body: &[u8]) -> Reply {
        let request_id = api.request_id();
        let (style, protocol) = S::style(head);
        let form = form_text(head, body);
        let input = if protocol == Protocol::Query { &*form } else { body };
        let mut observer = self.observe(api, &request_id, head, protocol, input);
        let reply = match api.respond(Incoming { head, body, form: &form }, style, &mut observer).await {
            Ok((response, damage)) => Reply::damaged(response, damage),
            Err(Failed::Refused(error, damage)) => {
                let (code, text) = S::describe(&error);
                observer.refused(&code, text);
                Reply::damaged(S::refuse(style, &error, &request_id), damage)
            }
            Err(Failed::Replaced(status, body)) => {
                observer.refused(&ErrorCode::from_name(INJECTED_STATUS), None);
                foreign(status, body).into()
            }
            Err(Failed::Lost) => Reply::Lost,
        };
        observer.end(&reply);
        reply
    }

    /// Begins to observe a request. `input` is the body in AWS JSON, or the form in the Query protocol.
    pub(crate) fn observe<'a, S: Api>(
        &'a self,
        api: &'a S,
        request_id: &'a str,
        head: &'a Parts,
        protocol: Protocol,
        input: &'a [u8],
    ) -> Observer<'a, S> {
        let input = journal::Input { protocol, path: head.uri.path(), content: input };
        let pending = PendingRecord::open(&self.journal, &self.clock, S::SERVICE, request_id, Some(input));
        let watch = Stopwatch::start();
        Observer {
            api,
            names: &self.names,
            pending,
            watch,
            request_id,
            action: None,
            context: None,
            error: None,
        }
    }
}

/// A request in progress. Its drop reports it: after [`end`](Self::end) with the response, otherwise as aborted by the caller.
#[derive(Debug)]
pub(crate) struct Observer<'a, S: Api> {
    api: &'a S,
    names: &'a Names,
    pending: PendingRecord<'a>,
    watch: Stopwatch,
    pub(crate) request_id: &'a str,
    action: Option<S::Action>,
    context: Option<S::Context>,
    /// The text of the error, for the log.
    error: Option<String>,
}

impl<S: Api> Observer<'_, S> {
    /// Notes the action, and rejects pages of other sites, and wrong signatures if signatures are required.
    ///
    /// # Errors
    /// As [`Api::denied`].
    pub(crate) fn admit(
        &mut self,
        asked: Asked<S::Action>,
        Incoming { head, body, .. }: Incoming<'_>,
    ) -> Result<Identity, S::Error> {
        self.action = Some(asked.action);
        self.pending.asked(asked.name);
        match self.names.admit(S::SERVICE, head, body, asked.access == Access::Change) {
            Ok(None) => Ok(Identity::Claimed),
            Ok(claim) => Ok(Identity::Verified(claim)),
            Err(Denied::Signature(VerifyError::Unsigned)) if asked.access == Access::Link => {
                Ok(Identity::Verified(None))
            }
            Err(denied) => Err(self.api.denied(denied, head)),
        }
    }

    /// Notes who asks.
    pub(crate) fn caller(&mut self, context: S::Context) -> &mut S::Context {
        self.pending.note(|record| {
            let Told { account, region, name, topic, .. } = S::told(&context);
            let caller =
                journal::Caller { region: region.into(), account: account.into(), name: name.into() };
            record.caller = Some(caller);
            // The input of SQS names the queue.
            record.resource = topic.cloned().map(Resource::Topic);
        });
        self.context.insert(context)
    }

    /// Sets the error. Its text is kept only for the log.
    pub(crate) fn refused(&mut self, code: &ErrorCode, text: Option<&str>) {
        self.pending.refused(code);
        if tracing::enabled!(Level::WARN) {
            self.error = text.map(str::to_owned);
        }
    }

    /// Ends the request with its reply.
    pub(crate) fn end(mut self, reply: &Reply) {
        self.pending.answered(reply.status());
        // That of STS has secrets.
        if S::SERVICE != ServiceName::Sts {
            self.pending.note(|record| record.answer = reply.body());
        }
    }

    /// Logs failures of the server as warnings, for its operator, and all other requests at debug level.
    fn log(&self, took: Duration) {
        if !tracing::enabled!(Level::WARN) {
            return;
        }
        let ending = self.pending.ending();
        let told = self.context.as_ref().map(S::told);
        // Only events that are enabled have it.
        let notes = || self.context.as_ref().map(S::warnings).filter(|notes| !notes.is_empty());
        macro_rules! event {
            ($level:expr) => {
                tracing::event!(
                    $level,
                    service = S::SERVICE.as_str(),
                    request_id = self.request_id,
                    action = self.pending.operation.as_deref(),
                    account = told.map(|told| told.account),
                    region = told.map(|told| told.region),
                    queue = told.and_then(|told| told.queue).map(tracing::field::display),
                    topic = told.and_then(|told| told.topic).map(tracing::field::display),
                    status = ending.status(),
                    code = ending.code(),
                    error = self.error.as_deref(),
                    notes = notes().map(tracing::field::debug),
                    took_us = micros(took),
                    waited_ms = told.and_then(|told| told.waited).map(|waited| micros(waited) / 1000),
                    "request"
                )
            };
        }
        if ending.is_failure() { event!(Level::WARN) } else { event!(Level::DEBUG) }
    }
}

impl<S: Api> Drop for Observer<'_, S> {
    fn drop(&mut self) {
        let context = self.context.as_ref();
        self.pending.note(|record| record.warnings = context.map(S::warnings).unwrap_or_default());
        let waited = context.and_then(|context| S::told(context).waited);
        let took = self.watch.elapsed().saturating_sub(waited.unwrap_or_default());
        self.api.count(self.action, self.pending.ending(), took, waited);
        self.log(took);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
