//! A handle for one queue.

use std::time::Duration;

use super::Execute;
use crate::types::message::{
    ChangeMessageVisibilityInputBuilder, DeleteMessageInputBuilder, ReceiveMessageInputBuilder,
    SendMessageInputBuilder,
};
use crate::types::{FluentBuilder, Message, MessageSystemAttributeName};

/// A queue URL together with a client.
///
/// The methods return builders with the queue URL already set. All other members can still be set.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// let orders = client.queue(&url);
/// orders.send("one apple, please").send().await?;
/// for message in orders.receive().wait_time_seconds(5).send().await?.messages() {
///     println!("{:?}", message.body());
///     orders.delete(message).send().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Queue<H> {
    handle: H,
    url: String,
}

impl<H: Execute> Queue<H> {
    /// A handle for the queue with this URL.
    pub fn new(handle: H, url: impl Into<String>) -> Self {
        Self { handle, url: url.into() }
    }

    /// The queue URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a message. On a FIFO queue, also set `message_group_id`.
    pub fn send(&self, body: impl Into<String>) -> FluentBuilder<SendMessageInputBuilder, H> {
        FluentBuilder::<SendMessageInputBuilder, H>::new(self.handle.clone())
            .queue_url(&self.url)
            .message_body(body)
    }

    /// Receives up to ten messages with all attributes. Waits up to 20 seconds for the first message.
    pub fn receive(&self) -> FluentBuilder<ReceiveMessageInputBuilder, H> {
        FluentBuilder::<ReceiveMessageInputBuilder, H>::new(self.handle.clone())
            .queue_url(&self.url)
            .max_number_of_messages(10)
            .wait_time_seconds(20)
            .message_attribute_names("All")
            .message_system_attribute_names(MessageSystemAttributeName::All)
    }

    /// Deletes a received message.
    pub fn delete(&self, message: &Message) -> FluentBuilder<DeleteMessageInputBuilder, H> {
        FluentBuilder::<DeleteMessageInputBuilder, H>::new(self.handle.clone())
            .queue_url(&self.url)
            .set_receipt_handle(message.receipt_handle.clone())
    }

    /// Hides a received message for `timeout` from now, at most until 12 hours after it was received. Rounds up to full
    /// seconds. Zero makes the message visible at once.
    pub fn change_visibility(
        &self,
        message: &Message,
        timeout: Duration,
    ) -> FluentBuilder<ChangeMessageVisibilityInputBuilder, H> {
        FluentBuilder::<ChangeMessageVisibilityInputBuilder, H>::new(self.handle.clone())
            .queue_url(&self.url)
            .set_receipt_handle(message.receipt_handle.clone())
            .visibility_timeout(whole_seconds(timeout))
    }
}

fn whole_seconds(timeout: Duration) -> i32 {
    let seconds = timeout.as_secs().saturating_add(u64::from(timeout.subsec_nanos() > 0));
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visibility_timeout_is_rounded_up_to_full_seconds() {
        assert_eq!(whole_seconds(Duration::ZERO), 0);
        assert_eq!(whole_seconds(Duration::from_millis(900)), 1);
        assert_eq!(whole_seconds(Duration::from_secs(30)), 30);
        assert_eq!(whole_seconds(Duration::MAX), i32::MAX);
    }
}
