//! Implements [`Execute`] for `aws_sdk_sqs::Client`, so that layers accept it.
//!
//! ```text
//! our input -> its fluent builder -> the SDK's own call, with an AttemptLog as interceptor -> its output -> MD5 check -> our output
//! ```
//! The SDK resolves credentials, signs, sends and retries. The log counts attempts and stops retries that the options of the
//! call do not allow.

mod attempt_log;
mod cause;

use std::time::Duration;

use aws_sdk_sqs::config::timeout::TimeoutConfig;
use tokio::time::Instant;

use crate::client::{CallOptions, Execute, Retries, attempt_timeout, verified};
use crate::error::{Context, Error};
use crate::retry::{Attempt, Decision, Policy, TokenBucket};
use crate::types::HasMetadata as _;
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::model::{Input as _, Operation};

use attempt_log::AttemptLog;
use cause::cause;

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
fn pause(error: &Error, entry: &attempt_log::Entry, time_left: Option<Duration>) -> Option<Duration> {
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
