//! Repeats sends with pointers.
//!
//! A request that SQS may have executed is not repeated as it is: its messages may exist, and the new ones would share their objects, so
//! that deleting one would delete the payload of the other. Each request has new objects.

use std::any::Any;
use std::time::Duration;

use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::{Input, Operation};
use sqs_client::types::HasMetadata as _;
use tokio::time::sleep;

use super::ExtendedClient;
use super::execute::Changed;
use crate::error::Error;
use crate::offload::Keep;

impl Changed {
    /// Whether the messages can be sent again with new objects.
    pub(super) fn keeps_payloads(&self) -> bool {
        match self {
            Self::Send(stored) => stored.content.is_some(),
            Self::Batch(batch) => batch.keeps_payloads(),
            _ => false,
        }
    }
}

/// Whether a request may be repeated with new objects. FIFO queues drop duplicates, so the client below repeats a request to them as
/// it is.
pub(super) fn keep(input: &impl Input, retries: Retries) -> Keep {
    let is_fifo = input.queue_url().is_some_and(|url| url.ends_with(".fifo"));
    if is_fifo || retries != Retries::AsConfigured { Keep::Nothing } else { Keep::ForRepetition }
}

impl<H: Execute> ExtendedClient<H> {
    /// Sends, and repeats what the client below would repeat. The objects of earlier requests, which SQS may have executed, are kept;
    /// those of the last one depend on its result. The result that the caller gets accounts for all requests.
    pub(super) async fn send<O: Operation>(
        &self,
        mut input: O::Input,
        mut changed: Changed,
        mut earlier: Option<sqs_client::Error>,
    ) -> Result<O::Output, Error> {
        let mut is_repeated = false;
        let mut result = loop {
            let options = CallOptions::with_retries(Retries::UnlessInDoubt).after(earlier.clone());
            let result = self.inner.execute::<O>(&input, options).await.map_err(Error::below);
            let Some((failed, pause)) = result.as_ref().err().and_then(repetition) else { break result };
            sleep(pause).await;
            // An event reports a failed upload; the caller gets the error of the request before.
            if self.before_again(&mut input, &mut changed).await.is_none() {
                break result;
            }
            earlier = Some(failed);
            is_repeated = true;
        };
        self.after(changed, &mut result).await;
        if !is_repeated {
            return result;
        }
        match result {
            Ok(mut output) => {
                output.metadata_mut().maybe_repeated = true;
                Ok(output)
            }
            Err(error) => Err(error.outcome_unknown()),
        }
    }

    async fn before_again(&self, input: &mut (dyn Any + Send), changed: &mut Changed) -> Option<()> {
        match changed {
            Changed::Send(stored) => self.before_send_again(input.downcast_mut()?, stored).await,
            Changed::Batch(batch) => self.before_batch_again(input.downcast_mut()?, batch).await,
            _ => None,
        }
    }
}

/// The error of a request that is to be repeated, and the pause before that.
fn repetition(error: &Error) -> Option<(sqs_client::Error, Duration)> {
    let client = error.client_error()?;
    Some((client.clone(), client.repeat_after()?))
}
