//! A queue by its name, and a client of one queue.

use std::collections::HashMap;

use serde::Serialize;
use sqs_client::client::{CallOptions, Execute, OperationError};
use sqs_client::operation::create_queue::{CreateQueue, CreateQueueInput};
use sqs_client::operation::get_queue_url::{GetQueueUrl, GetQueueUrlInput};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;

use crate::attempt::{ATTEMPT_TIMEOUT, attempt};
use crate::client::BufferedClient;
use crate::entry::{Entry, is_fifo};
use crate::error::{ReceiveError, ReceiveErrorKind, SendError};
use crate::lane::request::SendReceipt;

/// A queue by its name, in the account and the region of the client.
///
/// ```no_run
/// # async fn example(client: sqs_client::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_buffered::{Consumer, QueueName};
///
/// let url = QueueName::new("orders").create().url(&client).await?;
/// let consumer = Consumer::builder(client, url);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct QueueName {
    name: String,
    is_created: bool,
    attributes: HashMap<QueueAttributeName, String>,
}

impl QueueName {
    /// The queue with this name. The name of a FIFO queue ends in `.fifo`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_created: false, attributes: HashMap::new() }
    }

    /// Creates the queue if it does not exist, as a FIFO queue if its name says so. Needs the permission `sqs:CreateQueue`.
    pub fn create(mut self) -> Self {
        self.is_created = true;
        self
    }

    /// Adds an attribute of a queue that is [created](Self::create). A queue that exists keeps its attributes.
    pub fn attribute(mut self, name: QueueAttributeName, value: impl Into<String>) -> Self {
        self.attributes.insert(name, value.into());
        self
    }

    /// The URL of the queue.
    ///
    /// # Errors
    /// [`Refused`](crate::error::ReceiveErrorKind::Refused): the queue does not exist and is not to be created, or a request failed. The
    /// error names the queue.
    ///
    /// # Cancel safety
    /// If the future is dropped, the queue may be created or not.
    pub async fn url<H: Execute>(mut self, client: &H) -> Result<String, ReceiveError> {
        let mut input = GetQueueUrlInput::default();
        input.queue_name = Some(self.name.clone());
        let asked = client.execute::<GetQueueUrl>(&input, CallOptions::default());
        let url = match attempt(ATTEMPT_TIMEOUT, asked).await {
            Ok(output) => output.queue_url,
            Err(error) if is_missing(&error) && self.is_created => {
                let mut input = CreateQueueInput::default();
                if is_fifo(&self.name) {
                    self.attributes.insert(QueueAttributeName::FifoQueue, "true".to_owned());
                }
                input.queue_name = Some(self.name.clone());
                input.attributes = Some(self.attributes).filter(|attributes| !attributes.is_empty());
                let created = client.execute::<CreateQueue>(&input, CallOptions::default());
                let created = attempt(ATTEMPT_TIMEOUT, created).await;
                created.map_err(|error| ReceiveError::no_queue(&self.name, "", error))?.queue_url
            }
            Err(error) => {
                let hint = if is_missing(&error) { "; QueueName::create makes it" } else { "" };
                return Err(ReceiveError::no_queue(&self.name, hint, error));
            }
        };
        let text = || format!("cannot find the queue {:?}: the response has no URL", self.name);
        url.ok_or_else(|| ReceiveError::new(ReceiveErrorKind::Refused, text()))
    }
}

fn is_missing(error: &impl OperationError) -> bool {
    let code = error.client_error().and_then(|error| error.service_error()).map(|error| &error.code);
    matches!(code, Some(ErrorCode::QueueDoesNotExist))
}

/// A [`BufferedClient`] of one queue. Clones share the client.
///
/// ```no_run
/// # async fn example(client: sqs_client::Client, url: &str) -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_buffered::BufferedClient;
///
/// #[derive(serde::Serialize)]
/// struct Order {
///     id: u64,
/// }
///
/// let orders = BufferedClient::new(client).queue(url);
/// orders.send("tea").await?;
/// orders.send_json(&Order { id: 7 }).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BufferedQueue<H: Execute = sqs_client::Client> {
    client: BufferedClient<H>,
    url: String,
}

impl<H: Execute> Clone for BufferedQueue<H> {
    fn clone(&self) -> Self {
        Self { client: self.client.clone(), url: self.url.clone() }
    }
}

impl<H: Execute> BufferedQueue<H> {
    pub(crate) fn new(client: BufferedClient<H>, url: String) -> Self {
        Self { client, url }
    }

    /// The URL of the queue.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The client.
    pub fn client(&self) -> &BufferedClient<H> {
        &self.client
    }

    /// A message with this body for the queue, for [`enqueue`](BufferedClient::enqueue) and other methods of the client.
    pub fn entry(&self, body: impl Into<String>) -> Entry {
        Entry::new(&self.url, body)
    }

    /// Like [`BufferedClient::send`].
    ///
    /// # Errors
    /// The same as `BufferedClient::send`.
    ///
    /// # Cancel safety
    /// The same as `BufferedClient::send`.
    pub async fn send(&self, body: impl Into<String>) -> Result<SendReceipt, SendError> {
        self.client.send_entry(self.entry(body)).await
    }

    /// Like [`BufferedClient::send_json`].
    ///
    /// # Errors
    /// The same as `BufferedClient::send_json`.
    ///
    /// # Cancel safety
    /// The same as `BufferedClient::send_json`.
    pub async fn send_json(
        &self,
        value: &(impl Serialize + Sync + ?Sized),
    ) -> Result<SendReceipt, SendError> {
        self.client.send_json(&self.url, value).await
    }
}
