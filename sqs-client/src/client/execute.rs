//! [`Execute`]: the trait that every client of this workspace implements, and the options of a call.

use crate::error::{BuildError, Error};
use crate::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use crate::types::{FluentBuilder, Message, SendMessageBatchRequestEntry};
use crate::wire::model::{Input, InputBuilder, Operation};

/// Runs operations. Clients and layers over them implement it, so the same builders work with all of them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_client::client::{Execute, Queue};
///
/// /// Works with the plain client and with any layer over it.
/// async fn order<H: Execute>(client: &H, url: &str, what: &str) -> Result<(), H::Error> {
///     Queue::new(client.clone(), url).send(what).send().await?;
///     Ok(())
/// }
///
/// order(&client, &url, "one apple, please").await?;
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// Dropping the future abandons the call. SQS may still execute the request.
pub trait Execute: Clone + Send + Sync + 'static {
    /// Why an operation fails.
    type Error: OperationError;

    /// Runs one operation. A layer that rewrites the input sends a modified copy.
    ///
    /// # Errors
    /// See the error type of the implementation.
    fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> impl Future<Output = Result<O::Output, Self::Error>> + Send;

    /// Receives messages without opening them, so that the caller can [`open`](Self::open) each by itself, under its own lease.
    /// `execute` opens all of them. By default, the same as `execute`.
    ///
    /// A layer that wraps another client forwards both methods or neither: with neither, all messages are opened here.
    ///
    /// # Errors
    /// See the error type of the implementation.
    fn receive_unopened(
        &self,
        input: &ReceiveMessageInput,
        options: CallOptions,
    ) -> impl Future<Output = Result<ReceiveMessageOutput, Self::Error>> + Send {
        self.execute::<ReceiveMessage>(input, options)
    }

    /// Opens a message of [`receive_unopened`](Self::receive_unopened): for example, loads its body from a store. By default,
    /// the message stays as it is.
    ///
    /// An opened message can have another receipt handle, which deletes what belongs to the message, too.
    ///
    /// # Errors
    /// The message cannot be opened, and is unchanged. [`OperationError::unopened`] says what to do with it.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is unchanged.
    fn open(&self, message: &mut Message) -> impl Future<Output = Result<(), Self::Error>> + Send {
        let _ = message;
        std::future::ready(Ok(()))
    }

    /// Prepares an entry for several attempts to send it: for example, stores its body once. `execute` then sends it as it is.
    /// Returns whether the entry was changed. By default, it stays as it is.
    ///
    /// The response to it has the MD5 of what was sent. Whoever prepares an entry sends it, or calls [`discard`](Self::discard):
    /// otherwise, what belongs to it stays.
    ///
    /// Prepare an entry anew, from the original, before you repeat a request to a standard queue that SQS may have executed:
    /// two messages would share what belongs to one.
    ///
    /// # Errors
    /// The entry cannot be prepared, and is unchanged. It must not be sent.
    ///
    /// # Cancel safety
    /// If the future is dropped, the entry is unchanged.
    fn prepare(
        &self,
        queue_url: &str,
        entry: &mut SendMessageBatchRequestEntry,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send {
        let _ = (queue_url, entry);
        std::future::ready(Ok(false))
    }

    /// Ends an entry that [`prepare`](Self::prepare) has changed and that SQS did not accept. If SQS may have it all the same
    /// (`is_maybe_sent`), what belongs to it stays. By default, does nothing.
    ///
    /// # Cancel safety
    /// If the future is dropped after its first poll, the work continues in the background.
    fn discard(
        &self,
        entry: &SendMessageBatchRequestEntry,
        is_maybe_sent: bool,
    ) -> impl Future<Output = ()> + Send {
        let _ = (entry, is_maybe_sent);
        std::future::ready(())
    }
}

/// What to do with a message that [`Execute::open`] could not open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unopened {
    /// Give it back after a pause: opening it may succeed soon.
    Retry,
    /// Give it back: the redrive policy of its queue decides.
    Release,
    /// Send it to the dead-letter queue as it is, and delete it.
    DeadLetter,
    /// Delete it.
    Delete,
}

/// Options for one call. `send()` on a builder uses the default.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Which failed attempts the client retries.
    pub retries: Retries,
    /// The error of a failed call that this call repeats. Its attempts and elapsed time count toward the limits of this
    /// call, but its outcome does not: a layer that repeats a call with a changed input must check the outcome of each
    /// call.
    pub earlier: Option<Error>,
}

impl CallOptions {
    /// Options with these retries.
    pub fn with_retries(retries: Retries) -> Self {
        Self { retries, earlier: None }
    }

    /// Continues after a call that failed with `error`.
    pub fn after(mut self, error: Option<Error>) -> Self {
        self.earlier = error;
        self
    }
}

/// Which failed attempts the client retries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Retries {
    /// All that the [retry settings](crate::config::retry) allow.
    #[default]
    AsConfigured,
    /// As configured, but only if SQS certainly did not execute the request. For requests that must not be repeated
    /// unchanged. [`Error::repeat_after`] returns the pause of the suppressed retry.
    UnlessInDoubt,
    /// None, for callers that retry themselves. If `max_attempts` is at least 2, a request that SQS rejects because of a
    /// wrong clock or an expired token is still sent once more, with the corrected time or new credentials. The client
    /// generates no deduplication ids: they would differ between the caller's attempts.
    Never,
}

/// Runs operation `O` for a fluent builder. Every client that implements [`Execute`] implements it.
///
/// [`Execute`] has one error type for all operations; `Call` may have one per operation.
pub trait Call<O: Operation>: Clone + Send + Sync + 'static {
    /// Why the operation fails.
    type Error: Send + 'static;

    /// Runs the operation.
    ///
    /// # Errors
    /// See the error type of the implementation.
    fn call(&self, input: &O::Input) -> impl Future<Output = Result<O::Output, Self::Error>> + Send;

    /// The error for an input that cannot be built.
    fn invalid_input(error: BuildError) -> Self::Error;
}

impl<O: Operation, H: Execute> Call<O> for H {
    type Error = H::Error;

    fn call(&self, input: &O::Input) -> impl Future<Output = Result<O::Output, H::Error>> + Send {
        self.execute::<O>(input, CallOptions::default())
    }

    fn invalid_input(error: BuildError) -> H::Error {
        Error::from(error).into()
    }
}

/// What layers need to know about the errors of the client below them.
pub trait OperationError: std::error::Error + Clone + From<Error> + Send + Sync + 'static {
    /// The error of the plain client, if this error comes from it.
    fn client_error(&self) -> Option<&Error>;

    /// Whether the same call may succeed later.
    fn is_retryable(&self) -> bool {
        self.client_error().is_some_and(Error::is_retryable)
    }

    /// Whether the service throttled the request.
    fn is_throttle(&self) -> bool {
        self.client_error().is_some_and(Error::is_throttle)
    }

    /// Whether the service may have executed the request although no response confirms it. For an error without a
    /// [`client_error`](Self::client_error), such as the timeout of a layer, that is true by default: who assumes otherwise
    /// deletes the payload of a message that was sent.
    fn is_outcome_unknown(&self) -> bool {
        self.client_error().is_none_or(Error::is_outcome_unknown)
    }

    /// What to do with the message, if this is the error of [`Execute::open`]. `None` by default, and for other errors.
    fn unopened(&self) -> Option<Unopened> {
        None
    }
}

impl OperationError for Error {
    fn client_error(&self) -> Option<&Error> {
        Some(self)
    }
}

/// The operation of a builder.
pub(crate) type OperationOf<B> = <<B as InputBuilder>::Input as Input>::Operation;
/// Its output.
pub(crate) type OutputOf<B> = <OperationOf<B> as Operation>::Output;

impl<B: InputBuilder, H: Call<OperationOf<B>>> FluentBuilder<B, H> {
    /// Sends the request and returns the output.
    ///
    /// # Errors
    /// The input cannot be built, or [`Call::call`] fails.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the call. SQS may still execute the request.
    pub async fn send(self) -> Result<OutputOf<B>, H::Error> {
        let (builder, handle) = self.into_parts();
        let input = builder.build().map_err(H::invalid_input)?;
        handle.call(&input).await
    }
}
