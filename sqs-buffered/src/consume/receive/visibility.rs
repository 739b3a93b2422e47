//! The visibility timeout of receives: that of the settings, or that of the queue.

use sqs_client::client::{CallOptions, Execute, OperationError as _, Retries};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use tokio::time::sleep;

use super::error::{ReceiveError, ReceiveErrorKind};
use super::pause::pause;
use super::settings::Settings;
use crate::attempt::{ATTEMPT_TIMEOUT, AttemptError, attempt};
use crate::consume::observe::{Event, Observer};
use crate::consume::source::Source;
use crate::consume::stop::Stop;
use crate::random;
use crate::transient::is_transient;

/// Used if the attribute cannot be read: the default of new queues.
const UNKNOWN: u32 = 30;

/// The visibility timeout of each receive in seconds; `None` if `stop` came before the response.
pub(super) async fn visibility_seconds<H: Execute>(
    source: &Source<H>,
    settings: &Settings,
    observer: &Observer,
    stop: &Stop,
) -> Result<Option<u32>, ReceiveError> {
    if let Some(seconds) = settings.visibility_seconds().map_err(|error| ReceiveError::invalid(&error))? {
        return Ok(Some(seconds));
    }
    let mut failures = 0;
    loop {
        let answered = tokio::select! {
            biased;
            () = stop.finishing() => return Ok(None),
            answered = ask(source) => answered,
        };
        let error = match answered {
            Ok(Some(0)) => return Err(none()),
            Ok(seconds) => return Ok(Some(seconds.unwrap_or(UNKNOWN))),
            Err(error) => error,
        };
        if error.client_error().is_some_and(sqs_client::Error::is_access_denied) {
            tracing::warn!(%error, "access denied: cannot read the visibility timeout of the queue; using {UNKNOWN} seconds. Allow \
                 sqs:GetQueueAttributes, or set visibility_timeout");
            return Ok(Some(UNKNOWN));
        }
        if !is_transient(&error) {
            return Err(ReceiveError::refused(&source.url, error));
        }
        failures += 1;
        let retry_in = pause(failures, random::unit());
        observer.report(&Event::ReceiveFailed { error: &error, failures, retry_in });
        tokio::select! {
            biased;
            () = stop.finishing() => return Ok(None),
            () = sleep(retry_in) => {}
        }
    }
}

async fn ask<H: Execute>(source: &Source<H>) -> Result<Option<u32>, AttemptError<H::Error>> {
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(source.url.as_ref().to_owned());
    input.attribute_names = Some(vec![QueueAttributeName::VisibilityTimeout]);
    // Failures are reported and retried by the caller.
    let options = CallOptions::with_retries(Retries::Never);
    let asked = source.client.handle().execute::<GetQueueAttributes>(&input, options);
    let output = attempt(ATTEMPT_TIMEOUT, asked).await?;
    let attributes = output.attributes.unwrap_or_default();
    Ok(attributes.get(&QueueAttributeName::VisibilityTimeout).and_then(|seconds| seconds.parse().ok()))
}

fn none() -> ReceiveError {
    let text = "the visibility timeout of the queue is 0, so messages would be received again at once; set `visibility_timeout` \
                to 1 second or more";
    ReceiveError::new(ReceiveErrorKind::Invalid, text)
}
