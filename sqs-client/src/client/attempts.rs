//! The loop over attempts, the same for all operations.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use bytes::Bytes;
use http::header::{DATE, HOST, HeaderName, HeaderValue, USER_AGENT};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use tokio::time::Instant;

use super::{Retries, Shared};
use crate::config::Classified;
use crate::credentials::same;
use crate::endpoint::Endpoint;
use crate::error::{Cause, Context, DisplayErrorContext, Error};
use crate::retry::{Attempt, Decision, Failure, is_outcome_unknown};
use crate::time::{corrected, skew};
use crate::transport::{TransportError, TransportErrorKind};
use crate::wire::protocol::{EncodedRequest, ResponseError};
use crate::wire::service_error::ErrorCode;
#[cfg(feature = "aws-config")]
use crate::wire::service_error::without_session_tokens;
use crate::wire::sign::Signable;

/// A clock difference of at least this many seconds explains a rejected signature.
const SKEW_THRESHOLD: u64 = 60;

/// The pause before the next attempt that the service requests, in milliseconds.
const RETRY_AFTER: HeaderName = HeaderName::from_static("x-amz-retry-after");

const TRACE_ID: HeaderName = HeaderName::from_static("x-amzn-trace-id");

/// Bytes of a failed attempt's body that an error keeps for `SdkError::raw_response`. Errors of SQS are shorter.
#[cfg(feature = "aws-config")]
const MAX_KEPT_BYTES: usize = 65_536;

/// What the loop needs to know about a request.
pub(super) struct Plan {
    pub(super) encoded: EncodedRequest,
    pub(super) attempt_timeout: Option<Duration>,
    pub(super) operation_timeout: Option<Duration>,
    pub(super) started: Instant,
    pub(super) retries: Retries,
    /// True for receives: programs call them in a loop.
    pub(super) is_polling: bool,
}

/// A response without an output.
pub(super) struct Refused {
    pub(super) cause: Cause,
    pub(super) request_id: Option<String>,
}

impl From<ResponseError> for Refused {
    fn from(error: ResponseError) -> Self {
        match error {
            ResponseError::Service { error, request_id } => Self { cause: Cause::Service(error), request_id },
            ResponseError::Unreadable { error, request_id } => {
                Self { cause: Cause::Unreadable(error), request_id }
            }
        }
    }
}

/// Decodes a response and keeps the output. The loop is compiled once, so it must not know the output's type.
type Accept<'a> = &'a mut (dyn FnMut(&http::Response<Bytes>) -> Result<(), Refused> + Send);

/// What an attempt was signed with.
#[derive(Default)]
struct Signed {
    credentials: Option<Credentials>,
    skew: i64,
}

/// A failed attempt.
struct Failed {
    cause: Cause,
    signed: Signed,
    /// The `Date` header of the response, if any.
    date: Option<SystemTime>,
    /// The pause that the service requested.
    retry_after: Option<Duration>,
}

impl From<Cause> for Failed {
    fn from(cause: Cause) -> Self {
        Self { cause, signed: Signed::default(), date: None, retry_after: None }
    }
}

impl Plan {
    fn deadline(&self) -> Option<Instant> {
        self.operation_timeout.and_then(|timeout| self.started.checked_add(timeout))
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn out_of_time(&self) -> Cause {
        Cause::OperationTimeout(self.operation_timeout.unwrap_or_default())
    }

    /// The deadline of an exchange that starts now, and the error for missing it.
    fn exchange_deadline(&self) -> (Option<Instant>, Cause) {
        let own = self.attempt_timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        match (own, self.deadline()) {
            (Some(own), Some(whole)) if whole < own => (Some(whole), self.out_of_time()),
            (None, whole @ Some(_)) => (whole, self.out_of_time()),
            (own, _) => (own, Cause::AttemptTimeout(self.attempt_timeout)),
        }
    }
}

impl Shared {
    /// Boxed, so that it is compiled once and not for each operation.
    pub(super) fn attempts<'a>(
        &'a self,
        plan: &'a Plan,
        context: &'a mut Context,
        accept: Accept<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>> {
        Box::pin(async move {
            let mut was_corrected = false;
            let mut last_failure = None;
            loop {
                let sent_before = context.attempts;
                let Err(failed) = self.attempt(plan, context, accept).await else {
                    lock(&self.bucket).succeed(last_failure);
                    return Ok(());
                };
                let was_sent = context.attempts > sent_before;
                context.outcome_unknown |= was_sent && is_outcome_unknown(&failed.cause, context.status);
                let error = Error::new(failed.cause.clone(), context.clone());
                // A request that was never sent failed locally: a retry would fail the same way.
                if !was_sent {
                    return Err(error);
                }
                let (failure, retry_after) = self.classified(&error, failed.retry_after);
                last_failure = Some(failure);
                let may_retry = failure != Failure::Fatal && self.policy.allows_another(context.attempts);
                // By what the service said: a classifier decides only whether and when to retry.
                let corrected =
                    !was_corrected && self.correct(plan, error.failure(), &failed, may_retry).await;
                was_corrected |= corrected;
                if plan.retries == Retries::Never && !corrected {
                    return Err(error);
                }
                let attempt = Attempt {
                    number: context.attempts,
                    failure,
                    corrected,
                    retry_after,
                    is_polling: plan.is_polling,
                    time_left: plan.time_left(),
                };
                let decision = self.policy.decide(attempt, &mut lock(&self.bucket), crate::random::unit());
                match decision {
                    Decision::Fail => return Err(error),
                    Decision::FailAfter(pause) => {
                        tokio::time::sleep(pause).await;
                        return Err(error);
                    }
                    Decision::RetryAfter(pause)
                        if context.outcome_unknown && plan.retries == Retries::UnlessInDoubt =>
                    {
                        context.repeat_after = Some(pause);
                        return Err(Error::new(failed.cause, context.clone()));
                    }
                    Decision::RetryAfter(pause) => {
                        tracing::debug!(%error, ?pause, "retrying");
                        tokio::time::sleep(pause).await;
                    }
                }
            }
        })
    }

    /// One exchange. It counts as an attempt once the request is handed to the transport.
    async fn attempt(&self, plan: &Plan, context: &mut Context, accept: Accept<'_>) -> Result<(), Failed> {
        context.status = None;
        #[cfg(feature = "aws-config")]
        (context.response = None);
        context.request_id = None;
        let (request, signed, endpoint) = match within(plan.deadline(), self.signed(plan)).await {
            Some(request) => request?,
            None => return Err(plan.out_of_time().into()),
        };
        let transport = self.transport(&endpoint)?;
        context.attempts += 1;
        let (deadline, too_late) = plan.exchange_deadline();
        let response = match within(deadline, transport.send(request)).await {
            Some(response) => {
                // A transport need not know the host.
                response.map_err(|error| Cause::Transport(error.with_host(endpoint.host())))?
            }
            None => return Err(too_late.into()),
        };
        context.status = Some(response.status().as_u16());
        accept(&response).map_err(|Refused { cause, request_id }| {
            context.request_id = request_id;
            #[cfg(feature = "aws-config")]
            (context.response = Some(kept(&response)));
            let text = |name| response.headers().get(name)?.to_str().ok();
            Failed {
                cause,
                signed,
                date: text(DATE).and_then(|date| httpdate::parse_http_date(date).ok()),
                retry_after: text(RETRY_AFTER)
                    .and_then(|millis| millis.parse().ok())
                    .map(Duration::from_millis),
            }
        })
    }

    /// How the failure is retried, and the pause before a retry that was requested.
    fn classified(&self, error: &Error, retry_after: Option<Duration>) -> (Failure, Option<Duration>) {
        match self.config.hooks.classify.as_ref().and_then(|classify| classify(error)) {
            Some(Classified::Retry { is_throttle: true, after }) => {
                (Failure::Throttle, after.or(retry_after))
            }
            Some(Classified::Retry { is_throttle: false, after }) => {
                (Failure::Transient, after.or(retry_after))
            }
            Some(Classified::Forbidden) => (Failure::Fatal, None),
            None => (error.failure(), retry_after),
        }
    }

    /// The request, and the endpoint that it goes to.
    async fn signed(&self, plan: &Plan) -> Result<(http::Request<Bytes>, Signed, Cow<'_, Endpoint>), Cause> {
        let endpoint = self.endpoint.as_ref().map_err(|error| Cause::Endpoint(error.clone()))?;
        let (mut request, changed) = self.changed(self.unsigned(plan, endpoint))?;
        let is_changed = changed.is_some();
        let endpoint = changed.map_or(Cow::Borrowed(endpoint), Cow::Owned);
        let Some(credentials) = self.credentials().await? else {
            return Ok((request, Signed::default(), endpoint));
        };
        let region = self.config.region().map(AsRef::as_ref).or(endpoint.region()).unwrap_or("us-east-1");
        // Loading credentials can take minutes, for example with a device for MFA.
        let (now, skew) = self.now();
        if is_changed {
            self.signer.sign_any(&mut request, &credentials, region, now).map_err(Cause::Sign)?;
        } else {
            let (path, body) = (endpoint.uri().path(), request.body().clone());
            let signable = Signable { host: endpoint.host(), path, body: &body };
            let headers = request.headers_mut();
            self.signer.sign(signable, headers, &credentials, region, now).map_err(Cause::Sign)?;
        }
        Ok((request, Signed { credentials: Some(credentials), skew }, endpoint))
    }

    fn unsigned(&self, plan: &Plan, endpoint: &Endpoint) -> http::Request<Bytes> {
        let mut request = http::Request::new(plan.encoded.body.clone());
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = endpoint.uri().clone();
        let headers = request.headers_mut();
        // With room for the other headers: a clone of the map would grow.
        headers.reserve(8);
        headers.extend(plan.encoded.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(HOST, self.host.clone());
        if let Some(trace) = lambda_trace() {
            headers.insert(TRACE_ID, trace);
        }
        request
    }

    /// The request after the hooks, and its endpoint if there are any: they may send it elsewhere.
    fn changed(
        &self,
        mut request: http::Request<Bytes>,
    ) -> Result<(http::Request<Bytes>, Option<Endpoint>), Cause> {
        let hooks = &self.config.hooks.requests;
        if hooks.is_empty() {
            return Ok((request, None));
        }
        let unsendable = |error| Cause::Transport(TransportError::new(TransportErrorKind::Invalid, error));
        for change in hooks {
            request = change(request).map_err(unsendable)?;
        }
        let endpoint = Endpoint::of_request(request.uri().clone()).map_err(Cause::Endpoint)?;
        let host = HeaderValue::from_str(endpoint.host()).unwrap_or_else(|_| self.host.clone());
        request.headers_mut().insert(HOST, host);
        Ok((request, Some(endpoint)))
    }

    /// `None` if the request is sent without a signature.
    async fn credentials(&self) -> Result<Option<Credentials>, Cause> {
        let Some(source) = &self.credentials else {
            return if self.config.allow_no_auth { Ok(None) } else { Err(Cause::NoCredentials) };
        };
        match source.get(self.now().0).await {
            Err(CredentialsError::CredentialsNotLoaded(_)) if self.config.allow_no_auth => Ok(None),
            loaded => loaded.map(Some).map_err(|error| Cause::Credentials(error.into())),
        }
    }

    /// The time of the service, and the correction of the local clock that it contains.
    fn now(&self) -> (SystemTime, i64) {
        let skew = self.skew.load(Ordering::Relaxed);
        (corrected(self.config.common.now(), skew), skew)
    }

    /// Corrects the clock or drops expired credentials. Returns whether the next signature will differ.
    async fn correct(&self, plan: &Plan, failure: Failure, failed: &Failed, may_retry: bool) -> bool {
        if failure == Failure::ClockSkew && self.corrects_clock(failed) {
            return true;
        }
        let is_expired = failure == Failure::ExpiredToken;
        let (Some(source), Some(rejected)) = (&self.credentials, &failed.signed.credentials) else {
            return false;
        };
        if !is_expired && !rejects_key(&failed.cause) {
            return false;
        }
        source.forget(rejected);
        // A wrong key is not retried, but the next call loads it again: the user may have fixed the file by then.
        if !is_expired || !may_retry {
            return false;
        }
        match within(plan.deadline(), source.get(self.now().0)).await {
            // Keys that the program has set for good are the same again.
            Some(Ok(loaded)) => !same(&loaded, rejected),
            Some(Err(error)) => {
                tracing::warn!(error = %DisplayErrorContext(&error), "credentials have expired, and renewing them failed");
                false
            }
            None => false,
        }
    }

    /// Corrects the clock by the date of the response. Returns whether it was wrong.
    fn corrects_clock(&self, failed: &Failed) -> bool {
        let Some(server) = failed.date.filter(|_| self.config.correct_clock_skew) else { return false };
        let Some(measured) = skew(server, self.config.common.now()) else { return false };
        self.skew.store(measured, Ordering::Relaxed);
        measured.abs_diff(failed.signed.skew) >= SKEW_THRESHOLD
    }
}

/// In AWS Lambda, the trace of the invocation. X-Ray links the request to it, and Lambda detects recursive loops with it.
///
/// Source: <https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>
fn lambda_trace() -> Option<HeaderValue> {
    static IS_LAMBDA: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("AWS_LAMBDA_FUNCTION_NAME").is_some());
    // Lambda changes the variable with each invocation.
    let trace = IS_LAMBDA.then(|| std::env::var("_X_AMZN_TRACE_ID").ok())??;
    HeaderValue::try_from(utf8_percent_encode(&trace, CONTROLS).to_string()).ok()
}

/// Whether the access key does not exist or the secret is wrong.
fn rejects_key(cause: &Cause) -> bool {
    let Cause::Service(error) = cause else { return false };
    matches!(error.code, ErrorCode::InvalidClientTokenId | ErrorCode::SignatureDoesNotMatch)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// A response with the beginning of its body, without session tokens: programs print errors with it. The body is copied,
/// since a slice of it would keep it all.
#[cfg(feature = "aws-config")]
fn kept(response: &http::Response<Bytes>) -> http::Response<Bytes> {
    let mut kept = response.clone();
    let body = response.body();
    let start = body.get(..MAX_KEPT_BYTES).unwrap_or(body);
    *kept.body_mut() = without_session_tokens(&String::from_utf8_lossy(start)).into();
    kept
}
