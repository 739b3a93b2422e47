//! One logical receive: retried until it succeeds or is stopped.

use std::time::Duration;

use sqs_client::client::{CallOptions, Execute, OperationError, Retries};
use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use sqs_client::wire::limits::RECEIVE_ATTEMPT_SECONDS;
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::{Instant, sleep};
use tracing::Span;

use super::pause::pause;
use crate::attempt::{AttemptError, attempt};
use crate::consume::observe::{Event, Observer};
use crate::consume::source::Source;
use crate::consume::stop::Stop;
use crate::random;
use crate::transient::is_transient;

/// The parameters of all receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) visibility_seconds: u32,
    pub(super) wait: Duration,
    /// How long an attempt may take in addition.
    pub(super) attempt_timeout: Duration,
}

/// The result of a receive.
#[derive(Debug)]
pub(super) struct Answer {
    /// The time of the response.
    pub(super) at: Instant,
    /// The time since its first attempt.
    pub(super) elapsed: Duration,
    /// The span of the receive.
    pub(super) span: Span,
    pub(super) messages: Vec<Message>,
    /// Messages with a wrong checksum.
    pub(super) damaged: Vec<Message>,
}

/// Receives. `None` if `stop` came before the response; an error if the failure is permanent and `may_refuse` is true: no
/// receive has succeeded before.
pub(super) async fn poll<H: Execute>(
    source: &Source<H>,
    terms: Terms,
    asked: usize,
    observer: &Observer,
    stop: &Stop,
    may_refuse: impl Fn() -> bool,
) -> Result<Option<Answer>, AttemptError<H::Error>> {
    let mut input = input(source, terms, asked);
    let began = Instant::now();
    let mut id_made = began;
    let mut failures = 0;
    // Whether a response, and any messages in it, was lost.
    let mut is_lost = false;
    let mut is_last = false;
    loop {
        let attempt_began = Instant::now();
        let answered = tokio::select! {
            biased;
            () = stop.is_cut() => {
                observer.tally.receives_abandoned.one();
                return Ok(None);
            }
            answered = receive(source, &input, terms) => answered,
        };
        // With damaged messages, the error has the others.
        let answered = answered.or_else(|error| {
            let output =
                error.client_error().and_then(|error| error.output::<ReceiveMessageOutput>()).cloned();
            output.ok_or(error)
        });
        observer.metrics.receive_ended(attempt_began.elapsed(), answered.is_err());
        let error = match answered {
            Ok(output) => return Ok(Some(answer(output, began))),
            Err(error) => error,
        };
        failures += 1;
        is_lost |= error.is_outcome_unknown();
        let retry_in = pause(failures, random::unit());
        observer.report(&Event::ReceiveFailed { error: &error, failures, retry_in });
        let is_attempt_over = is_attempt_over(&error);
        if !is_attempt_over && !is_transient(&error) && may_refuse() {
            return Err(error);
        }
        // The lost messages became visible, and another consumer deleted them: there is nothing left to give back.
        is_lost &= !is_attempt_over;
        tokio::select! {
            biased;
            () = stop.finishing() => {
                if is_last || !(is_lost && source.is_fifo()) {
                    observer.tally.receives_abandoned.add(usize::from(is_lost));
                    return Ok(None);
                }
                // The attempt id makes SQS return the lost messages once more, so that they can be given back.
                is_last = true;
                input.wait_time_seconds = Some(0);
            }
            () = sleep(retry_in) => {}
        }
        // SQS has forgotten the attempt id, and the hidden messages become visible by themselves.
        if is_attempt_over || id_made.elapsed() >= Duration::from_secs(RECEIVE_ATTEMPT_SECONDS) {
            input.receive_request_attempt_id = attempt_id(source);
            id_made = Instant::now();
        }
    }
}

/// The messages are opened later, each under its own lease.
async fn receive<H: Execute>(
    source: &Source<H>,
    input: &ReceiveMessageInput,
    terms: Terms,
) -> Result<ReceiveMessageOutput, AttemptError<H::Error>> {
    let received = source.client.handle().receive_unopened(input, CallOptions::with_retries(Retries::Never));
    attempt(terms.wait.saturating_add(terms.attempt_timeout), received).await
}

fn input<H: Execute>(source: &Source<H>, terms: Terms, asked: usize) -> ReceiveMessageInput {
    let mut input = ReceiveMessageInput::default();
    input.queue_url = Some(source.url.as_ref().to_owned());
    input.max_number_of_messages = i32::try_from(asked).ok();
    input.visibility_timeout = i32::try_from(terms.visibility_seconds).ok();
    input.wait_time_seconds = i32::try_from(terms.wait.as_secs()).ok();
    input.message_system_attribute_names = Some(vec![MessageSystemAttributeName::All]);
    // Older compatible services know only this name. Without it, FIFO messages have no group and all messages no receive count.
    input.attribute_names = Some(vec![QueueAttributeName::All]);
    input.message_attribute_names = Some(vec!["All".to_owned()]);
    input.receive_request_attempt_id = attempt_id(source);
    input
}

/// The attempt id, for FIFO queues: with it, SQS returns the same messages again after a lost response.
fn attempt_id<H: Execute>(source: &Source<H>) -> Option<String> {
    source.is_fifo().then(random::uuid)
}

/// Whether SQS refuses to repeat the attempt, because one of its messages was deleted or its visibility changed.
fn is_attempt_over<E: OperationError>(error: &E) -> bool {
    const TEXT: &str = "receiveRequestAttemptId is not valid anymore";
    error.client_error().is_some_and(|error| {
        error.error_code() == Some(&ErrorCode::InvalidParameterValue)
            && error.message().is_some_and(|message| message.contains(TEXT))
    })
}

fn answer(output: ReceiveMessageOutput, began: Instant) -> Answer {
    let damaged = output.damaged_messages().iter().map(|damaged| damaged.message.clone()).collect();
    let messages = output.messages.unwrap_or_default();
    let at = Instant::now();
    Answer { at, elapsed: at - began, span: Span::current(), messages, damaged }
}
