//! The request lifecycle.
//!
//! ```text
//! Input -> checks -> encode (once) -> attempts { credentials -> sign(now) -> transport -> decode | error -> retry }
//!       -> MD5 check -> Output
//! ```
//!
//! This module is generic, so it is compiled once per operation: it encodes, decodes and verifies. The loop over
//! attempts is in [`attempts`](super::attempts) and is compiled once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing::field::{Empty, display};

use super::attempts::Call;
use super::execute::{CallOptions, Retries};
use super::shared::Shared;
use crate::config::DeduplicationIds;
use crate::config::timeout::TimeoutConfig;
use crate::error::{Cause, Context, Damaged, Error};
use crate::observe::CallReport;
use crate::types::{DamagedMessage, HasMetadata as _, RequestId as _};
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::model::{Action, Input, Operation};
use crate::wire::protocol::EncodedRequest;

/// The default for one attempt including its response; long enough for a 1 MiB batch on a slow connection.
const DEFAULT_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

impl Shared {
    /// A copy with generated deduplication ids, if the client has to generate any. All attempts use the same ids.
    pub(super) fn with_deduplication_ids<I: Input>(&self, input: &I, retries: Retries) -> Option<I> {
        let generates =
            self.config.deduplication_ids == DeduplicationIds::Generate && retries != Retries::Never;
        if generates { input.with_deduplication_ids(crate::random::uuid) } else { None }
    }

    pub(super) async fn call<O: Operation>(
        &self,
        input: &O::Input,
        options: &CallOptions,
    ) -> Result<O::Output, Error> {
        let started = Instant::now();
        let mut context = context(O::ACTION, options, started);
        let begun = context.begun.map_or(started, Instant::from_std);
        let earlier_attempts = context.attempts;
        let span = self.span(O::ACTION, input.queue_url());
        let mut output = None;
        let attempted = match self.encoded(input) {
            Ok(encoded) => {
                let call = self.plan(O::ACTION, encoded, input.wait_time(), options.retries, begun);
                let mut accept = |response: &http::Response<Bytes>| {
                    let (status, headers) = (response.status().as_u16(), response.headers());
                    output =
                        Some(self.config.protocol.decode_response::<O>(status, headers, response.body())?);
                    Ok(())
                };
                self.attempts(&call, &mut context, &mut accept).instrument(span.clone()).await
            }
            Err(cause) => Err(Error::new(cause, context.clone())),
        };
        let result = attempted.and_then(|()| {
            let mut output = output.unwrap_or_default();
            output.metadata_mut().maybe_repeated |= context.outcome_unknown;
            span.in_scope(|| verified::<O>(self.config.checksum_policy, input, output, &mut context))
        });
        let request_id = match &result {
            Ok(output) => output.request_id(),
            Err(error) => error.request_id(),
        };
        self.report(
            &span,
            &CallReport {
                action: O::ACTION,
                queue_url: input.queue_url(),
                attempts: context.attempts - earlier_attempts,
                elapsed: started.elapsed(),
                request_id,
                error: result.as_ref().err(),
            },
        );
        result
    }

    fn encoded(&self, input: &impl Input) -> Result<EncodedRequest, Cause> {
        if self.config.validate_input {
            input.validate().map_err(Cause::Invalid)?;
        }
        self.config.protocol.encode_request(input).map_err(Cause::Encode)
    }

    fn report(&self, span: &tracing::Span, report: &CallReport<'_>) {
        span.record("sqs.attempts", report.attempts);
        report.request_id.map(|id| span.record("aws.request_id", id));
        let error = report.error;
        error.map(|error| span.record("error.type", display(error.code().unwrap_or(error.kind().as_str()))));
        if let Some(observer) = &self.config.observer {
            observer.call(report);
        }
    }

    fn plan(
        &self,
        action: Action,
        encoded: EncodedRequest,
        wait: Duration,
        retries: Retries,
        begun: Instant,
    ) -> Call {
        let timeouts = &self.config.timeout_config;
        let is_exact = self.config.exact_timeouts && is_attempt_bounded(timeouts);
        let attempt_timeout = attempt_timeout(timeouts, if is_exact { Duration::ZERO } else { wait });
        let operation_timeout = timeouts.operation_timeout();
        Call {
            encoded,
            attempt_timeout,
            operation_timeout,
            started: begun,
            retries,
            is_polling: action == Action::ReceiveMessage,
        }
    }

    /// The attribute names of OpenTelemetry:
    /// <https://opentelemetry.io/docs/specs/semconv/messaging/sqs/>.
    fn span(&self, action: Action, queue_url: Option<&str>) -> tracing::Span {
        tracing::debug_span!(
            "sqs",
            messaging.system = "aws_sqs",
            messaging.operation.name = action.as_str(),
            messaging.operation.r#type = operation_type(action),
            messaging.destination.name = queue_url.and_then(|url| url.rsplit('/').next()),
            server.address = self.endpoint.as_ref().map_or("", |endpoint| endpoint.host()),
            sqs.attempts = Empty,
            aws.request_id = Empty,
            error.r#type = Empty,
        )
    }
}

/// Returns the output if its checksums match, else an error that contains the output.
pub(crate) fn verified<O: Operation>(
    policy: ChecksumPolicy,
    input: &O::Input,
    mut output: O::Output,
    context: &mut Context,
) -> Result<O::Output, Error> {
    let mismatches = O::verify(policy, input, &mut output);
    if mismatches.is_empty() {
        warn_of_damaged(&output.metadata().damaged, input.queue_url().unwrap_or_default());
        return Ok(output);
    }
    context.request_id = output.request_id().map(str::to_owned);
    let damaged = Damaged { mismatches, output: Box::new(output) };
    Err(Error::new(Cause::Checksum(Arc::new(damaged)), context.clone()))
}

fn warn_of_damaged(damaged: &[DamagedMessage], queue_url: &str) {
    for DamagedMessage { mismatches, .. } in damaged {
        tracing::warn!(
            queue_url,
            ?mismatches,
            "received a damaged message; SQS delivers it again after its visibility timeout"
        );
    }
}

/// The context of a call that starts now. The operation timeout covers repeated calls too, also those that a layer repeats.
fn context(action: Action, options: &CallOptions, started: Instant) -> Context {
    let earlier = options.earlier.as_ref();
    Context {
        action: Some(action),
        attempts: earlier.map_or(0, Error::attempts),
        begun: earlier.and_then(Error::begun).or(Some(started.into_std())),
        ..Context::default()
    }
}

/// The smaller one of `operation_attempt_timeout` and `read_timeout`, else the default, plus the wait time of the request;
/// `None` if disabled.
pub(crate) fn attempt_timeout(timeouts: &TimeoutConfig, wait: Duration) -> Option<Duration> {
    let default = timeouts.read_timeout().unwrap_or(DEFAULT_ATTEMPT_TIMEOUT);
    let default = TimeoutConfig::builder().operation_attempt_timeout(default).build();
    // The getter returns `None` for unset and for disabled timeouts. `take_defaults_from` replaces only unset ones.
    let attempt = timeouts.clone().take_defaults_from(&default).operation_attempt_timeout();
    let limit = [attempt, timeouts.read_timeout()].into_iter().flatten().min();
    // A sum that overflows means no limit.
    limit?.checked_add(wait)
}

/// Whether the configuration sets a timeout for attempts.
fn is_attempt_bounded(timeouts: &TimeoutConfig) -> bool {
    timeouts.operation_attempt_timeout().or(timeouts.read_timeout()).is_some()
}

fn operation_type(action: Action) -> Option<&'static str> {
    match action {
        Action::SendMessage | Action::SendMessageBatch => Some("send"),
        Action::ReceiveMessage => Some("receive"),
        Action::DeleteMessage
        | Action::DeleteMessageBatch
        | Action::ChangeMessageVisibility
        | Action::ChangeMessageVisibilityBatch => Some("settle"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_timeout_is_the_configured_one_unless_disabled() {
        const READ: Duration = Duration::from_secs(7);
        const OWN: Duration = Duration::from_secs(3);
        let builder = TimeoutConfig::builder;
        for (timeouts, expected) in [
            (builder(), Some(DEFAULT_ATTEMPT_TIMEOUT)),
            (builder().read_timeout(READ), Some(READ)),
            (builder().read_timeout(READ).operation_attempt_timeout(OWN), Some(OWN)),
            (builder().read_timeout(OWN).operation_attempt_timeout(READ), Some(OWN)),
            (builder().disable_read_timeout(), Some(DEFAULT_ATTEMPT_TIMEOUT)),
            (builder().disable_operation_attempt_timeout(), None),
            (builder().disable_operation_attempt_timeout().read_timeout(READ), Some(READ)),
            (TimeoutConfig::disabled().to_builder(), None),
        ] {
            let timeouts = timeouts.build();
            assert_eq!(attempt_timeout(&timeouts, Duration::ZERO), expected, "{timeouts:?}");
            let polling = attempt_timeout(&timeouts, Duration::from_secs(20));
            assert_eq!(polling, expected.map(|limit| limit + Duration::from_secs(20)), "{timeouts:?}");
        }
    }
}
