//! Request lifecycle.
//!
//! ```text
//! unchanged:  Input ----------------------------------> client below -------------------------> Output
//! rewritten:  Input -> copy: PUT objects, pointers ---> client below -> objects, bodies ------> Output
//! ```

mod actions;

use std::any::Any;

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::Operation;
use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::delete_message_batch::DeleteMessageBatch;
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::send_message::SendMessage;
use sqs_client::operation::send_message_batch::SendMessageBatch;
use sqs_client::types::{Message, SendMessageBatchRequestEntry};

use crate::client::{ExtendedClient, Rewritten};
use crate::error::{Error, ErrorKind};
use crate::format::request_attributes;
use crate::receive::MessagePayload;

macro_rules! rewritten {
    ($($op:ident)*) => {
        impl<H: Execute> Execute for ExtendedClient<H> {
            type Error = Error;

            /// Each call stores its payloads, so that no two messages share an object. If a FIFO queue drops a duplicate, the
            /// object of the later call stays until a sweep.
            async fn execute<O: Operation>(
                &self,
                input: &O::Input,
                options: CallOptions,
            ) -> Result<O::Output, Error> {
                $(
                    if let Some(input) = input_of::<$op>(input)
                        && $op::needs_rewrite(self, input)
                    {
                        // Boxed: the future is large, and most calls are not rewritten.
                        let output = Box::pin($op::run(self, input.clone(), options)).await?;
                        return same(output);
                    }
                )*
                self.below::<O>(input, options).await
            }

            async fn receive_unopened(
                &self,
                input: &ReceiveMessageInput,
                options: CallOptions,
            ) -> Result<ReceiveMessageOutput, Error> {
                let mut input = input.clone();
                request_attributes(&mut input);
                self.inner.receive_unopened(&input, options).await.map_err(Error::below)
            }

            async fn open(&self, message: &mut Message) -> Result<(), Error> {
                if matches!(self.payload(message), MessagePayload::Inline | MessagePayload::Loaded(_)) {
                    return self.inner.open(message).await.map_err(Error::below);
                }
                // The body of the copy is a pointer, thus short.
                let mut opened = message.clone();
                self.inner.open(&mut opened).await.map_err(Error::below)?;
                *message = self.opened(opened).await?;
                Ok(())
            }

            async fn prepare(
                &self,
                queue_url: &str,
                entry: &SendMessageBatchRequestEntry,
            ) -> Result<Option<SendMessageBatchRequestEntry>, Error> {
                let Some((stored, object)) = self.stored(queue_url, entry).await? else {
                    return self.inner.prepare(queue_url, entry).await.map_err(Error::below);
                };
                match self.inner.prepare(queue_url, &stored).await {
                    Ok(prepared) => {
                        // From here on, the caller says what becomes of it.
                        object.sent().needed();
                        Ok(Some(prepared.unwrap_or(stored)))
                    }
                    Err(error) => {
                        object.delete().await;
                        Err(Error::below(error))
                    }
                }
            }

            async fn discard(&self, entry: &SendMessageBatchRequestEntry, is_maybe_sent: bool) {
                let object = self.unneeded(entry, is_maybe_sent);
                self.inner.discard(entry, is_maybe_sent).await;
                if let Some(object) = object {
                    object.delete().await;
                }
            }
        }
    };
}

rewritten! {
    SendMessage SendMessageBatch ReceiveMessage DeleteMessage DeleteMessageBatch ChangeMessageVisibility
    ChangeMessageVisibilityBatch
}

/// The input, if its operation is `O`.
fn input_of<O: Operation>(input: &dyn Any) -> Option<&O::Input> {
    input.downcast_ref()
}

/// Converts between two names of one type: an input belongs to one operation, so both outputs have the same type.
fn same<A: 'static, B: 'static>(output: A) -> Result<B, Error> {
    let mut output = Some(output);
    let same = (&mut output as &mut dyn Any).downcast_mut::<Option<B>>().and_then(Option::take);
    same.ok_or_else(|| Error::new(ErrorKind::Client, "an operation returned the output of another one"))
}
