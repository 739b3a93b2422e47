//! Sends with pointers that have to be sent again.
//!
//! A request that may have been acted on is not repeated as it is: where its messages are in the queue already, the second
//! ones would share their objects, and who deletes one of two would take the payload from the other. Each request has
//! objects of its own.

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
    /// Whether there is all that it takes to send the messages again with other objects.
    pub(super) fn keeps_payloads(&self) -> bool {
        match self {
            Self::Send(stored) => stored.content.is_some(),
            Self::Batch(batch) => batch.keeps_payloads(),
            _ => false,
        }
    }
}

/// Whether a request may be repeated with other objects. FIFO queues do not take a message twice: a request to them is
/// repeated as it is, by the client below. Nor does anything repeat a request that is to be made once.
pub(super) fn keep(input: &impl Input, retries: Retries) -> Keep {
    let is_fifo = input.queue_url().is_some_and(|url| url.ends_with(".fifo"));
    if is_fifo || retries != Retries::AsConfigured { Keep::Nothing } else { Keep::ForRepetition }
}

impl<H: Execute> ExtendedClient<H> {
    /// Sends, repeats what the client below would repeat, and sees to the objects. Those of earlier requests, which may have
    /// been acted on, are kept already: only those of the last one are settled by its answer. What the caller is told is of
    /// all requests.
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
            // That it could not be stored again is told as an event; what the caller has to know is what came before.
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

/// What the next request, if there is to be one, has to know of those before it, and how long to wait for it.
fn repetition(error: &Error) -> Option<(sqs_client::Error, Duration)> {
    let client = error.client_error()?;
    Some((client.clone(), client.repeat_after()?))
}
