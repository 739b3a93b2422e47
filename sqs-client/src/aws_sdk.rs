//! Implements [`Execute`] for `aws_sdk_sqs::Client`, so that layers accept it.
//!
//! ```text
//! our input -> its fluent builder -> the SDK's own call, with an AttemptLog as interceptor -> its output -> MD5 check -> our output
//! ```
//! The SDK resolves credentials, signs, sends and retries. The log counts attempts and stops retries that the options of the
//! call do not allow.

use std::error::Error as StdError;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::error::SdkError;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::error::operation::BuildError;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use tokio::time::Instant;

use crate::client::{CallOptions, Execute, Retries, attempt_timeout, verified};
use crate::endpoint::Endpoint;
use crate::error::{Cause, Context, Error};
use crate::retry::{Attempt, Decision, Failure, Policy, TokenBucket, is_rejection};
use crate::transport::{TransportError, TransportErrorKind, was_never_sent};
use crate::types::HasMetadata as _;
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::model::{Input as _, Operation};
use crate::wire::protocol::DecodeError;
use crate::wire::service_error::{ErrorCode, ServiceError};

/// Lets `sqs-buffered` and `sqs-extended` run over the AWS SDK. See the [guide](crate::guide::aws_sdk).
impl Execute for aws_sdk_sqs::Client {
    type Error = Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        let earlier = options.earlier.as_ref();
        let started = earlier.and_then(Error::begun).map_or_else(Instant::now, Instant::from_std);
        let operation_timeout = self.config().timeout_config().and_then(TimeoutConfig::operation_timeout);
        let left = operation_timeout.filter(|_| earlier.is_some());
        let left = left.map(|timeout| timeout.saturating_sub(started.elapsed()));
        let log = AttemptLog::<O::SdkError>::new(options.retries, earlier.map_or(0, Error::attempts));
        let mut overrides = aws_sdk_sqs::config::Builder::new().interceptor(log.clone());
        overrides.set_timeout_config(Some(self::timeouts(self.config(), input.wait_time(), left)));
        let result = O::call_sdk(self, input, overrides).await;

        let entry = log.entry();
        let mut context = Context {
            action: Some(O::ACTION),
            attempts: entry.attempts,
            begun: Some(started.into_std()),
            request_id: entry.request_id.clone(),
            status: entry.status,
            outcome_unknown: entry.outcome_unknown,
            ..Context::default()
        };
        match result {
            Ok(mut output) => {
                output.metadata_mut().maybe_repeated = context.outcome_unknown;
                // A compatible service may send no MD5: an error would repeat messages that it has stored.
                verified::<O>(ChecksumPolicy::VerifyIfPresent, input, output, &mut context)
            }
            Err(error) => {
                let is_over = operation_timeout.is_some_and(|timeout| started.elapsed() >= timeout);
                let cause = cause(error, &entry, operation_timeout.filter(|_| is_over));
                if options.retries == Retries::UnlessInDoubt && entry.outcome_unknown {
                    let time_left =
                        operation_timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
                    let error = Error::new(cause.clone(), context.clone());
                    context.repeat_after = pause(&error, &entry, time_left);
                }
                Err(Error::new(cause, context))
            }
        }
    }
}

/// The timeouts of a call: those of the configuration, plus the wait time of the request, as in the plain client. By default,
/// the SDK limits only connecting: a connection that dies silently would stop a consumer for ever.
fn timeouts(config: &aws_sdk_sqs::Config, wait: Duration, left: Option<Duration>) -> TimeoutConfig {
    let configured = config.timeout_config().cloned().unwrap_or_else(|| TimeoutConfig::builder().build());
    // All of them, since an override may replace them.
    let mut timeouts = configured.to_builder();
    if let Some(left) = left {
        timeouts.set_operation_timeout(Some(left));
    }
    if let Some(limit) = attempt_timeout(&configured, wait) {
        timeouts.set_operation_attempt_timeout(Some(limit));
    }
    if let Some(limit) = configured.read_timeout() {
        timeouts.set_read_timeout(limit.checked_add(wait));
    }
    timeouts.build()
}

/// The pause before the suppressed retry, or `None` if there would be none. The SDK does not report it. Its retry quota is
/// not visible here; the number of attempts limits retries.
fn pause(error: &Error, entry: &Entry, time_left: Option<Duration>) -> Option<Duration> {
    let attempt = Attempt {
        number: error.attempts(),
        failure: error.failure(),
        corrected: false,
        retry_after: entry.retry_after,
        is_polling: false,
        time_left,
    };
    let policy = Policy::from(entry.retry_config.as_ref()?);
    match policy.decide(attempt, &mut TokenBucket::default(), crate::random::unit()) {
        Decision::RetryAfter(pause) => Some(pause),
        Decision::FailAfter(_) | Decision::Fail => None,
    }
}

/// Converts the error. `operation_timeout` is set if that timeout has expired.
fn cause<E>(error: SdkError<E, HttpResponse>, entry: &Entry, operation_timeout: Option<Duration>) -> Cause
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    match error {
        SdkError::ServiceError(failed) => match failed.err().code() {
            Some(code) => {
                let message = failed.err().message().map(str::to_owned);
                Cause::Service(ServiceError { code: ErrorCode::from_name(code), message }.sanitized())
            }
            None => Cause::Unreadable(unreadable(failed.err(), failed.raw())),
        },
        SdkError::TimeoutError(_) => {
            let of_attempt = || limit(entry, TimeoutConfig::operation_attempt_timeout);
            operation_timeout.map_or_else(of_attempt, Cause::OperationTimeout)
        }
        SdkError::ConstructionFailure(_) => of_construction(source(error)),
        SdkError::DispatchFailure(_) => match source(error).downcast::<ConnectorError>() {
            Ok(error) => of_exchange(*error, entry),
            Err(other) => Cause::AwsSdk(other.into()),
        },
        // The response was incomplete. A complete but unreadable response is a service error without a code.
        error => Cause::Transport(TransportError::new(TransportErrorKind::Broken, source(error))),
    }
}

fn source<E>(error: SdkError<E, HttpResponse>) -> BoxError
where
    E: StdError + Send + Sync + 'static,
{
    error.into_source().unwrap_or_else(BoxError::from)
}

fn unreadable(error: &dyn StdError, answer: &HttpResponse) -> DecodeError {
    if answer.status().is_success() {
        return error.source().map_or_else(|| DecodeError::new(error), DecodeError::new);
    }
    DecodeError::no_code(answer.headers().get("content-type"), answer.body().bytes().unwrap_or_default())
}

fn of_construction(error: BoxError) -> Cause {
    match error.downcast::<BuildError>() {
        Ok(error) => Cause::Build((*error).into()),
        Err(other) => Cause::AwsSdk(other.into()),
    }
}

fn of_exchange(error: ConnectorError, entry: &Entry) -> Cause {
    if !entry.latest_was_sent {
        return of_preparation(error.into_source());
    }
    let kind = if was_never_sent(&error) && error.is_user() {
        TransportErrorKind::Invalid
    } else if was_never_sent(&error) {
        TransportErrorKind::Connect
    } else if error.is_timeout() {
        return limit(entry, TimeoutConfig::read_timeout);
    } else {
        TransportErrorKind::Broken
    };
    let error = TransportError::new(kind, error);
    Cause::Transport(match &entry.host {
        Some(host) => error.with_host(host),
        None => error,
    })
}

/// Failures before the request is sent: endpoint, credentials, signature, interceptors of the caller.
fn of_preparation(error: BoxError) -> Cause {
    let error = match error.downcast::<CredentialsError>() {
        Ok(error) => return Cause::Credentials((*error).into()),
        Err(other) => other,
    };
    // The SDK's types for these two errors are private.
    let text = error.to_string();
    if text.starts_with("failed to select an auth scheme") {
        return Cause::Credentials(CredentialsError::not_loaded(error).into());
    }
    if text.starts_with("identity resolver timed out") {
        return Cause::Credentials(CredentialsError::provider_error(error).into());
    }
    Cause::AwsSdk(error.into())
}

fn limit(entry: &Entry, of: impl FnOnce(&TimeoutConfig) -> Option<Duration>) -> Cause {
    Cause::AttemptTimeout(entry.timeouts.as_ref().and_then(of))
}

/// The log of one call. `E` is the error type of the operation.
#[derive(Debug)]
struct AttemptLog<E> {
    retries: Retries,
    earlier_attempts: u32,
    /// Locked for a few instructions in each hook; never held across an await.
    entry: Arc<Mutex<Entry>>,
    error: PhantomData<fn() -> E>,
}

/// The recorded attempts.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The number of requests sent, including those of earlier calls.
    attempts: u32,
    /// Whether the service may have executed any of them without a response that confirms it.
    outcome_unknown: bool,
    /// Whether an attempt is in progress with its request sent.
    in_progress: bool,
    /// Whether the request of the latest attempt was sent.
    latest_was_sent: bool,
    /// Where it was sent, as other transports name it.
    host: Option<String>,
    /// Status of the response to the latest attempt.
    status: Option<u16>,
    /// Request id of the response to the latest attempt.
    request_id: Option<String>,
    /// The pause that the latest response requests.
    retry_after: Option<Duration>,
    /// The configured settings, before this log overrides them.
    retry_config: Option<RetryConfig>,
    timeouts: Option<TimeoutConfig>,
}

impl<E> Clone for AttemptLog<E> {
    fn clone(&self) -> Self {
        Self { entry: Arc::clone(&self.entry), ..*self }
    }
}

impl<E> AttemptLog<E> {
    fn new(retries: Retries, earlier_attempts: u32) -> Self {
        let entry = Entry { attempts: earlier_attempts, ..Entry::default() };
        Self { retries, earlier_attempts, entry: Arc::new(Mutex::new(entry)), error: PhantomData }
    }

    /// The log after the call has ended.
    fn entry(&self) -> Entry {
        let mut entry = self.lock().clone();
        // The SDK calls no hook for an attempt that it cancels.
        entry.outcome_unknown |= entry.in_progress;
        entry
    }

    fn lock(&self) -> MutexGuard<'_, Entry> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The maximum number of attempts of this call, given that one has failed.
    fn max_attempts(&self, entry: &Entry, configured: u32, code: Option<&ErrorCode>) -> u32 {
        let is_skewed = code.and_then(Failure::of_code) == Some(Failure::ClockSkew);
        match self.retries {
            Retries::Never if is_skewed => configured.min(2),
            Retries::Never => 1,
            Retries::UnlessInDoubt if entry.outcome_unknown => 1,
            _ => configured.saturating_sub(self.earlier_attempts).max(1),
        }
    }
}

#[dyn_dispatch_hint]
impl<E: StdError + ProvideErrorMetadata + Send + Sync + 'static> Intercept for AttemptLog<E> {
    fn name(&self) -> &'static str {
        "SqsClientAttemptLog"
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut entry = self.lock();
        entry.retry_config = entry.retry_config.take().or_else(|| cfg.load::<RetryConfig>().cloned());
        entry.timeouts = cfg.load::<TimeoutConfig>().cloned();
        (entry.status, entry.request_id, entry.retry_after) = (None, None, None);
        entry.latest_was_sent = false;
        Ok(())
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let endpoint = context.request().uri().parse().ok().and_then(|uri| Endpoint::of_request(uri).ok());
        let mut entry = self.lock();
        entry.host = endpoint.map(|endpoint| endpoint.host().to_owned());
        entry.attempts = entry.attempts.saturating_add(1);
        (entry.latest_was_sent, entry.in_progress) = (true, true);
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut entry = self.lock();
        let was_sent = std::mem::take(&mut entry.in_progress);
        if let Some(response) = context.response() {
            let text = |name| response.headers().get(name).map(str::to_owned);
            entry.status = Some(response.status().as_u16());
            entry.request_id = text("x-amzn-requestid");
            entry.retry_after =
                text("x-amz-retry-after").and_then(|millis| millis.parse().ok()).map(Duration::from_millis);
        }
        let Some(Err(error)) = context.output_or_error() else { return Ok(()) };
        entry.outcome_unknown |= was_sent
            && match entry.status {
                Some(status) => !is_rejection(status),
                None => !error.as_connector_error().is_some_and(was_never_sent),
            };
        let code = error.as_operation_error().and_then(|error| error.downcast_ref::<E>()?.code());
        if let Some(configured) = entry.retry_config.clone() {
            let code = code.map(ErrorCode::from_name);
            let max_attempts = self.max_attempts(&entry, configured.max_attempts(), code.as_ref());
            // The SDK reads the limit after this hook. It still classifies the failure, which adaptive mode needs.
            cfg.interceptor_state().store_put(configured.with_max_attempts(max_attempts));
        }
        Ok(())
    }
}
