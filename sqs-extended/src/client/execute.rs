//! Request lifecycle.
//!
//! ```text
//! unchanged:  Input --------------------------> client below -------------------------> Output
//! rewritten:  Input -> before: PUT, pointers -> client below -> after: objects, bodies -> Output
//! ```
//! Inputs are recognised through `Any`. An input is copied if it has to change; every receive is.

use std::any::Any;

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::Operation;
use sqs_client::operation::change_message_visibility::ChangeMessageVisibilityInput;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatchInput;
use sqs_client::operation::delete_message::{DeleteMessageInput, DeleteMessageOutput};
use sqs_client::operation::delete_message_batch::{DeleteMessageBatchInput, DeleteMessageBatchOutput};
use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::send_message::{SendMessageInput, SendMessageOutput};
use sqs_client::operation::send_message_batch::{SendMessageBatchInput, SendMessageBatchOutput};

use super::{ExtendedClient, repeat};
use crate::error::Error;
use crate::handle::ExtendedHandle;
use crate::offload::{Keep, SentBatch, Stored};
use crate::pointer::Pointer;
use crate::receive::{Terms, ask, carries_pointer};
use crate::settle::{strip, strip_changes, strip_deletes};

/// What was changed in an input, for the work after the response.
pub(super) enum Changed {
    Nothing,
    Send(Stored),
    Batch(SentBatch),
    Receive(Terms),
    Delete(Option<Pointer>),
    DeleteBatch(Vec<(String, Pointer)>),
}

/// The result of an operation, as `Any`.
type AnyResult<'r> = &'r mut (dyn Any + Send);

impl<H: Execute> Execute for ExtendedClient<H> {
    type Error = Error;

    /// Each call stores its payloads, so that no two messages share an object. If a FIFO queue drops a duplicate, the object of
    /// the later call stays until a sweep.
    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        if self.needs_rewrite(input) {
            return Box::pin(self.run_changed::<O>(input.clone(), options)).await;
        }
        if is_receive(input) {
            return self.run_receive::<O>(input.clone(), options).await;
        }
        self.below::<O>(input, options).await
    }
}

impl<H: Execute> ExtendedClient<H> {
    async fn run_receive<O: Operation>(
        &self,
        mut input: O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        let terms = before_receive(&mut input);
        let mut result = self.below::<O>(&input, options).await;
        if let Some(terms) = terms
            && brings_pointers(&result)
        {
            Box::pin(self.after(Changed::Receive(terms), &mut result)).await;
        }
        result
    }

    async fn below<O: Operation>(&self, input: &O::Input, options: CallOptions) -> Result<O::Output, Error> {
        self.inner.execute::<O>(input, options).await.map_err(Error::below)
    }

    /// Whether an input has to change, apart from the attribute names of a receive.
    fn needs_rewrite(&self, input: &dyn Any) -> bool {
        if let Some(send) = input.downcast_ref::<SendMessageInput>() {
            let threshold = self.known_threshold(send.queue_url());
            return self.sizes_of_send(send).exceed(threshold);
        }
        if let Some(batch) = input.downcast_ref::<SendMessageBatchInput>() {
            return !self.select_of_batch(batch, self.known_threshold(batch.queue_url())).is_empty();
        }
        let has_pointer = |handle: &str| ExtendedHandle::parse(handle).is_some();
        if let Some(delete) = input.downcast_ref::<DeleteMessageInput>() {
            return delete.receipt_handle().is_some_and(has_pointer);
        }
        if let Some(change) = input.downcast_ref::<ChangeMessageVisibilityInput>() {
            return change.receipt_handle().is_some_and(has_pointer);
        }
        if let Some(batch) = input.downcast_ref::<DeleteMessageBatchInput>() {
            return batch.entries().iter().any(|entry| has_pointer(entry.receipt_handle()));
        }
        if let Some(batch) = input.downcast_ref::<ChangeMessageVisibilityBatchInput>() {
            return batch.entries().iter().any(|entry| has_pointer(entry.receipt_handle()));
        }
        false
    }

    async fn run_changed<O: Operation>(
        &self,
        mut input: O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        let keep = repeat::keep(&input, options.retries);
        let changed = self.before(&mut input, keep).await?;
        let mut result = match &changed {
            Changed::Batch(batch) if batch.is_empty => Ok(O::Output::default()),
            _ if changed.keeps_payloads() => return self.send::<O>(input, changed, options.earlier).await,
            _ => self.below::<O>(&input, options).await,
        };
        self.after(changed, &mut result).await;
        result
    }

    async fn before(&self, input: &mut (dyn Any + Send), keep: Keep) -> Result<Changed, Error> {
        if let Some(send) = input.downcast_mut::<SendMessageInput>() {
            let threshold = self.threshold(send.queue_url()).await;
            let is_stored = self.sizes_of_send(send).exceed(threshold);
            return Ok(if is_stored {
                Changed::Send(self.before_send(send, keep).await?)
            } else {
                Changed::Nothing
            });
        }
        if let Some(batch) = input.downcast_mut::<SendMessageBatchInput>() {
            let selection = self.select_of_batch(batch, self.threshold(batch.queue_url()).await);
            return Ok(Changed::Batch(self.before_batch(batch, selection, keep).await));
        }
        if let Some(delete) = input.downcast_mut::<DeleteMessageInput>() {
            return Ok(Changed::Delete(delete.receipt_handle.as_mut().and_then(strip)));
        }
        if let Some(change) = input.downcast_mut::<ChangeMessageVisibilityInput>() {
            change.receipt_handle.as_mut().and_then(strip);
        }
        if let Some(batch) = input.downcast_mut::<DeleteMessageBatchInput>() {
            return Ok(Changed::DeleteBatch(strip_deletes(batch)));
        }
        if let Some(batch) = input.downcast_mut::<ChangeMessageVisibilityBatchInput>() {
            strip_changes(batch);
        }
        Ok(Changed::Nothing)
    }

    pub(super) async fn after(&self, changed: Changed, result: AnyResult<'_>) {
        match changed {
            Changed::Nothing => {}
            Changed::Send(stored) => {
                if let Some(result) = result.downcast_mut::<Result<SendMessageOutput, Error>>() {
                    self.after_send(stored, result).await;
                }
            }
            Changed::Batch(batch) => {
                if let Some(result) = result.downcast_mut::<Result<SendMessageBatchOutput, Error>>() {
                    self.after_batch(batch, result).await;
                }
            }
            Changed::Receive(terms) => {
                if let Some(result) = result.downcast_mut::<Result<ReceiveMessageOutput, Error>>() {
                    self.after_receive(&terms, result).await;
                }
            }
            Changed::Delete(pointer) => {
                if let Some(Ok(_)) = result.downcast_mut::<Result<DeleteMessageOutput, Error>>() {
                    self.clean_up(pointer).await;
                }
            }
            Changed::DeleteBatch(pointers) => {
                if let Some(Ok(output)) = result.downcast_mut::<Result<DeleteMessageBatchOutput, Error>>() {
                    self.clean_up_batch(pointers, output).await;
                }
            }
        }
    }
}

fn is_receive(input: &dyn Any) -> bool {
    input.is::<ReceiveMessageInput>()
}

/// Requests the attributes of pointers. `None` if it is not a receive.
fn before_receive(input: &mut dyn Any) -> Option<Terms> {
    let input = input.downcast_mut::<ReceiveMessageInput>()?;
    ask(input);
    Some(Terms::of(input))
}

/// Whether a message in the output, or in the output of an error, has a pointer.
fn brings_pointers(result: &dyn Any) -> bool {
    let output = match result.downcast_ref::<Result<ReceiveMessageOutput, Error>>() {
        Some(Ok(output)) => Some(output),
        Some(Err(error)) => error.client_error().and_then(sqs_client::Error::output::<ReceiveMessageOutput>),
        None => None,
    };
    output.is_some_and(|output| output.messages().iter().any(carries_pointer))
}
