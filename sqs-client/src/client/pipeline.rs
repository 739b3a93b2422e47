//! The way of every call.
//!
//! ```text
//! Input -> checks -> encode (once) -> loop { credentials -> sign(now) -> transport -> decode | error -> retry }
//!       -> MD5 check -> Output
//! ```
//!
//! The generic part is thin: it encodes, decodes and verifies. The loop is compiled once for all operations.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::header::{DATE, USER_AGENT};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::shared::Shared;
use super::special;
use crate::config::DeduplicationIds;
use crate::error::{Cause, Context, Error};
use crate::observe::CallReport;
use crate::operation::{Action, Input as _, Operation};
use crate::protocol::{EncodedRequest, ResponseError};
use crate::retry::{Decision, Failure};
use crate::sign::Signable;
use crate::time::{corrected, skew};
use crate::validate::Validate as _;

/// One attempt, its answer included, when nothing else is configured. A 1 MiB batch on a slow line needs a while.
const DEFAULT_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// Differences between two clocks from here on are held to be the reason for a refused signature.
const SKEW_THRESHOLD: u64 = 60;

/// A request as the loop sees it.
struct Call {
    action: Action,
    encoded: EncodedRequest,
    attempt_timeout: Option<Duration>,
    deadline: Option<Instant>,
}

/// Turns a response into an output, elsewhere; here it is only known whether that worked.
type Accept<'a> = &'a mut (dyn FnMut(&http::Response<Bytes>) -> Result<(), (Cause, Option<String>)> + Send);

impl Shared {
    pub(super) async fn call<O: Operation>(&self, mut input: O::Input) -> Result<O::Output, Error> {
        let started = Instant::now();
        let mut context = Context {
            action: Some(O::ACTION),
            ..Context::default()
        };
        let result = self.call_inner::<O>(&mut input, &mut context, started).await;
        if let Some(observer) = &self.config.observer {
            observer.call(&CallReport {
                action: O::ACTION,
                queue_url: input.queue_url(),
                attempts: context.attempts,
                elapsed: started.elapsed(),
                error: result.as_ref().err(),
            });
        }
        result
    }

    async fn call_inner<O: Operation>(
        &self,
        input: &mut O::Input,
        context: &mut Context,
        started: Instant,
    ) -> Result<O::Output, Error> {
        if self.config.deduplication_ids == DeduplicationIds::Generate {
            special::deduplicate(input, crate::random::uuid);
        }
        if self.config.validate_input {
            input
                .validate()
                .map_err(|error| Error::new(Cause::Invalid(error), context.clone()))?;
        }
        let protocol = self.config.protocol;
        let encoded = protocol
            .encode_request(input)
            .map_err(|error| Error::new(Cause::Encode(error), context.clone()))?;
        let wait = special::wait_time(input);
        let timeouts = &self.config.timeout_config;
        let call = Call {
            action: O::ACTION,
            encoded,
            attempt_timeout: timeouts
                .operation_attempt_timeout()
                .or(timeouts.read_timeout())
                .unwrap_or(DEFAULT_ATTEMPT_TIMEOUT)
                .checked_add(wait),
            deadline: timeouts
                .operation_timeout()
                .and_then(|timeout| started.checked_add(timeout + wait)),
        };
        let mut output = None;
        let mut accept = |response: &http::Response<Bytes>| {
            let status = response.status().as_u16();
            match protocol.decode_response::<O>(status, response.headers(), response.body()) {
                Ok(decoded) => {
                    output = Some(decoded);
                    Ok(())
                }
                Err(ResponseError::Service { error, request_id }) => Err((Cause::Service(error), request_id)),
                Err(ResponseError::Unreadable { error, request_id }) => {
                    Err((Cause::Unreadable(error), request_id))
                }
            }
        };
        let span = tracing::debug_span!(
            "sqs",
            messaging.system = "aws_sqs",
            messaging.operation.name = call.action.as_str(),
            messaging.destination.name = input.queue_url().and_then(|url| url.rsplit('/').next()),
        );
        self.run(&call, context, &mut accept).instrument(span).await?;
        let output = output.unwrap_or_default();
        O::verify(self.config.checksum_policy, input, &output).map_err(|mismatch| {
            let request_id = crate::types::RequestId::request_id(&output).map(str::to_owned);
            Error::new(
                Cause::Checksum(mismatch),
                Context {
                    request_id,
                    ..context.clone()
                },
            )
        })?;
        Ok(output)
    }

    async fn run(&self, call: &Call, context: &mut Context, accept: Accept<'_>) -> Result<(), Error> {
        loop {
            self.wait_for_leave().await;
            let Err(cause) = self.attempt(call, context, accept).await else {
                self.bucket
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .succeed(context.attempts);
                return Ok(());
            };
            let error = Error::new(cause.cause, context.clone());
            let failure = error.failure();
            self.learn(failure);
            let changed = self.correct(failure, cause.date.as_deref());
            let time_left = call
                .deadline
                .map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let decision = {
                let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
                self.policy.decide(
                    context.attempts,
                    failure,
                    changed,
                    &mut bucket,
                    crate::random::unit(),
                    time_left,
                )
            };
            match decision {
                // Nothing was sent: the reason is here, and trying again cannot change it.
                _ if context.attempts == 0 => return Err(error),
                Decision::GiveUp => return Err(error),
                Decision::RetryAfter(pause) => {
                    tracing::debug!(%error, ?pause, "trying again");
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// One exchange. Counts as an attempt from the moment that something is sent.
    async fn attempt(&self, call: &Call, context: &mut Context, accept: Accept<'_>) -> Result<(), Failed> {
        context.status = None;
        context.request_id = None;
        let timeout = call.timeout(Instant::now());
        let request = match within(timeout, self.signed(call)).await {
            Some(request) => request?,
            None => return Err(Cause::Timeout(timeout.unwrap_or_default()).into()),
        };
        let transport = self
            .transport
            .as_ref()
            .map_err(|cause| Failed::from(cause.clone()))?;
        context.attempts += 1;
        let response = match within(timeout, transport.send(request)).await {
            Some(response) => response.map_err(Cause::Transport)?,
            None => return Err(Cause::Timeout(timeout.unwrap_or_default()).into()),
        };
        context.status = Some(response.status().as_u16());
        accept(&response).map_err(|(cause, request_id)| {
            context.request_id = request_id;
            let date = response
                .headers()
                .get(DATE)
                .and_then(|date| date.to_str().ok())
                .map(str::to_owned);
            Failed { cause, date }
        })
    }

    async fn signed(&self, call: &Call) -> Result<http::Request<Bytes>, Cause> {
        let endpoint = self
            .endpoint
            .as_ref()
            .map_err(|error| Cause::Endpoint(error.clone()))?;
        let mut request = http::Request::new(call.encoded.body.clone());
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = endpoint.uri().clone();
        *request.headers_mut() = call.encoded.headers.clone();
        request.headers_mut().insert(USER_AGENT, self.user_agent.clone());
        let Some(credentials) = &self.credentials else {
            return if self.config.allow_no_auth {
                Ok(request)
            } else {
                Err(Cause::NoCredentials)
            };
        };
        let now = corrected(self.config.time_source.now(), self.skew.load(Ordering::Relaxed));
        let credentials = credentials
            .get(now)
            .await
            .map_err(|error| Cause::Credentials(error.into()))?;
        let region = self.config.region.as_ref().map_or("us-east-1", AsRef::as_ref);
        let signable = Signable {
            host: endpoint.host(),
            path: endpoint.uri().path(),
            body: &call.encoded.body,
        };
        self.signer
            .sign(signable, request.headers_mut(), &credentials, region, now)
            .map_err(Cause::Sign)?;
        Ok(request)
    }

    /// Changes what made the service refuse the signature. Says whether anything was changed.
    fn correct(&self, failure: Failure, date: Option<&str>) -> bool {
        match failure {
            Failure::ExpiredToken => {
                self.credentials.as_ref().inspect(|cache| cache.invalidate());
                self.credentials.is_some()
            }
            Failure::ClockSkew if self.config.correct_clock_skew => {
                let Some(server) = date.and_then(|date| httpdate::parse_http_date(date).ok()) else {
                    return false;
                };
                let measured = skew(server, self.config.time_source.now());
                let used = self.skew.swap(measured, Ordering::Relaxed);
                measured.abs_diff(used) >= SKEW_THRESHOLD
            }
            _ => false,
        }
    }

    /// In adaptive mode, waits until the client may send again.
    async fn wait_for_leave(&self) {
        let Some(limiter) = &self.limiter else { return };
        let now = self.started.elapsed().as_secs_f64();
        let wait = limiter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .acquire(now);
        if wait > 0.0 {
            tokio::time::sleep(Duration::try_from_secs_f64(wait).unwrap_or_default()).await;
        }
    }

    fn learn(&self, failure: Failure) {
        let Some(limiter) = &self.limiter else { return };
        let now = self.started.elapsed().as_secs_f64();
        limiter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .observe(now, failure == Failure::Throttle);
    }
}

impl Call {
    /// The time that an attempt may take: its own, or what remains of the operation's.
    fn timeout(&self, now: Instant) -> Option<Duration> {
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(now));
        match (self.attempt_timeout, left) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        }
    }
}

async fn within<F: Future>(timeout: Option<Duration>, future: F) -> Option<F::Output> {
    match timeout {
        Some(timeout) => tokio::time::timeout(timeout, future).await.ok(),
        None => Some(future.await),
    }
}

/// A failed attempt, with the date of the answer if there was one.
struct Failed {
    cause: Cause,
    date: Option<String>,
}

impl From<Cause> for Failed {
    fn from(cause: Cause) -> Self {
        Self { cause, date: None }
    }
}
