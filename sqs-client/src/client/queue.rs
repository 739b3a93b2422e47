//! A handle of one queue.

use std::time::Duration;

use super::Execute;
use crate::types::message::{
    ChangeMessageVisibilityInputBuilder, DeleteMessageInputBuilder, ReceiveMessageInputBuilder,
    SendMessageInputBuilder,
};
use crate::types::{FluentBuilder, Message, MessageSystemAttributeName};

/// One queue and the client that reaches it.
///
/// The methods return the builders of the actions with what is already known filled in, so that everything else
/// can still be set.
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
    /// A handle of the queue with this URL.
    pub fn new(handle: H, url: impl Into<String>) -> Self {
        Self { handle, url: url.into() }
    }

    /// The URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The name, which is the last part of the URL.
    pub fn name(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or(&self.url)
    }

    /// Whether it is a FIFO queue, which is in the name.
    pub fn is_fifo(&self) -> bool {
        crate::types::message::is_fifo(&self.url)
    }

    /// Sends a message. On a FIFO queue, set its group with `message_group_id`.
    pub fn send(&self, body: impl Into<String>) -> FluentBuilder<SendMessageInputBuilder, H> {
        FluentBuilder::<SendMessageInputBuilder, H>::new(self.handle.clone())
            .queue_url(&self.url)
            .message_body(body)
    }

    /// Receives up to ten messages with all their attributes, waiting up to 20 seconds for the first.
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

    /// Keeps a received message hidden for this long from now, at most 12 hours after its receive. Parts of a second
    /// are rounded up; zero gives the message back at once.
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
    fn parts_of_a_second_do_not_give_a_message_back() {
        assert_eq!(whole_seconds(Duration::ZERO), 0);
        assert_eq!(whole_seconds(Duration::from_millis(900)), 1);
        assert_eq!(whole_seconds(Duration::from_secs(30)), 30);
        assert_eq!(whole_seconds(Duration::MAX), i32::MAX);
    }
}
