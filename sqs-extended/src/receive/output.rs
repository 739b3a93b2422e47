//! The results of receives.

use std::sync::Arc;

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};

use super::hold::LeaseTerms;
use super::{ExtendedMessage, MessagePayload};
use crate::client::{ExtendedClient, Rewritten};
use crate::error::Error;
use crate::format::request_attributes;

impl Rewritten for ReceiveMessage {
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, _: &ReceiveMessageInput) -> bool {
        true
    }

    /// A damaged message does not affect the payloads of the others.
    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: ReceiveMessageInput,
        options: CallOptions,
    ) -> Result<ReceiveMessageOutput, Error> {
        request_attributes(&mut input);
        match client.below::<Self>(&input, options).await {
            Ok(output) => Ok(client.open_output(output, &LeaseTerms::of(&input)).await),
            Err(error) => Err(match error.client_error().zip(output_of(&error)) {
                Some((below, output)) => {
                    let output = client.open_output(output.clone(), &LeaseTerms::of(&input)).await;
                    Error::from(below.with_output(output))
                }
                None => error,
            }),
        }
    }
}

/// The output in a checksum error.
fn output_of(error: &Error) -> Option<&ReceiveMessageOutput> {
    error.client_error()?.output()
}

impl<H: Execute> ExtendedClient<H> {
    async fn open_output(
        &self,
        mut output: ReceiveMessageOutput,
        terms: &LeaseTerms,
    ) -> ReceiveMessageOutput {
        let pointers = &self.shared.settings.pointers;
        if output.messages().iter().any(|message| pointers.has_pointer(message))
            && let Some(messages) = output.messages.take()
        {
            // Boxed: the future is large, and most receives return no pointers.
            let opened = Box::pin(self.open_all(messages, false, terms)).await;
            output.messages = Some(opened.into_iter().map(|opened| opened.message).collect());
        }
        output
    }

    /// Receives messages with their payloads. Damaged messages come last, unchanged.
    pub(super) async fn receive_opened(
        &self,
        input: &ReceiveMessageInput,
        is_lazy: bool,
    ) -> Result<Vec<ExtendedMessage>, Error> {
        let result = self.below::<ReceiveMessage>(input, CallOptions::default()).await;
        let mut output = match result {
            Ok(output) => output,
            Err(error) => output_of(&error).cloned().ok_or(error)?,
        };
        let messages = output.messages.take().unwrap_or_default();
        let mut opened = self.open_all(messages, is_lazy, &LeaseTerms::of(input)).await;
        for damaged in output.damaged_messages() {
            let (message, error) = (damaged.message.clone(), Error::from(sqs_client::Error::from(damaged)));
            self.report_failed(&message, &error);
            let (payload, shared) = (MessagePayload::Failed(error), Arc::clone(&self.shared));
            opened.push(ExtendedMessage { message, payload, shared });
        }
        Ok(opened)
    }
}
