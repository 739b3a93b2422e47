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

use crate::client::{CallOptions, Execute, Retries, verified};
use crate::error::{Context, Error};
use crate::retry::{Attempt, Decision, Policy, TokenBucket};
use crate::types::HasMetadata as _;
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::model::Operation;

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
        let log = AttemptLog::<O::SdkError>::new(options.retries, earlier.map_or(0, Error::attempts));
        let mut overrides = aws_sdk_sqs::config::Builder::new().interceptor(log.clone());
        if let (Some(timeout), Some(_)) = (operation_timeout, earlier) {
            let left = timeout.saturating_sub(started.elapsed());
            overrides.set_timeout_config(Some(TimeoutConfig::builder().operation_timeout(left).build()));
        }
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
