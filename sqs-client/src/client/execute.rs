//! What every client of this workspace can do: run an operation.

use crate::error::{BuildError, Error};
use crate::types::FluentBuilder;
use crate::wire::model::{Input, InputBuilder, Operation};

use super::Client;

/// Runs operations. Layers over the plain client implement it too, so that the same builders work on them.
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
/// Dropping a future of it gives up the call; whether the service has acted on it is then unknown.
pub trait Execute: Clone + Send + Sync + 'static {
    /// Why an operation fails.
    type Error: OperationError;

    /// Runs one operation. The input stays as it is: a layer that has to change something sends a changed copy.
    ///
    /// # Errors
    /// The implementation's error type says.
    fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> impl Future<Output = Result<O::Output, Self::Error>> + Send;
}

/// How one call is made. The default is what `send()` on a builder does.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Which failed attempts the client repeats.
    pub retries: Retries,
    /// The error of an earlier call for the same purpose: its attempts and its time count as those of this call.
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

/// Which failed attempts the client repeats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Retries {
    /// Those that the [retry settings](crate::config::retry) allow.
    #[default]
    AsConfigured,
    /// Of those, only attempts that the service has certainly not acted on. For requests that must not be repeated
    /// unchanged; [`Error::repeat_after`] says when the client would have repeated the request.
    UnlessInDoubt,
    /// None, for callers with retries of their own. A request that SQS refuses for a wrong clock or an expired token is
    /// still sent once more with the right one. The client generates no deduplication ids, which would differ
    /// from attempt to attempt.
    Never,
}

/// Runs operation `O` for a fluent builder. Every client that implements [`Execute`] does.
///
/// The difference is the error: [`Execute`] has one for all operations, `Call` may have one for each.
pub trait Call<O: Operation>: Clone + Send + Sync + 'static {
    /// Why the operation fails.
    type Error: Send + 'static;

    /// Runs the operation.
    ///
    /// # Errors
    /// The implementation's error type says.
    fn call(&self, input: &O::Input) -> impl Future<Output = Result<O::Output, Self::Error>> + Send;

    /// The error of an input that cannot be built.
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

/// What layers over a client have to know of the errors of the client below, whichever that is.
pub trait OperationError: std::error::Error + Clone + From<Error> + Send + Sync + 'static {
    /// The error of the plain client, when it is one.
    fn client_error(&self) -> Option<&Error>;

    /// Whether the same call may succeed later.
    fn is_retryable(&self) -> bool {
        self.client_error().is_some_and(Error::is_retryable)
    }

    /// Whether the service asked for fewer requests.
    fn is_throttle(&self) -> bool {
        self.client_error().is_some_and(Error::is_throttle)
    }

    /// Whether the service may have acted on the request although no answer says so.
    fn is_outcome_unknown(&self) -> bool {
        self.client_error().is_some_and(Error::is_outcome_unknown)
    }
}

impl OperationError for Error {
    fn client_error(&self) -> Option<&Error> {
        Some(self)
    }
}

impl Execute for Client {
    type Error = Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        match self.shared.with_deduplication_ids(input, options.retries) {
            Some(input) => self.shared.call::<O>(&input, &options).await,
            None => self.shared.call::<O>(input, &options).await,
        }
    }
}

/// The operation of a builder.
pub(crate) type OperationOf<B> = <<B as InputBuilder>::Input as Input>::Operation;
/// What it answers.
pub(crate) type OutputOf<B> = <OperationOf<B> as Operation>::Output;

impl<B: InputBuilder, H: Call<OperationOf<B>>> FluentBuilder<B, H> {
    /// Makes the call.
    ///
    /// # Errors
    /// The input cannot be built, or what [`Call::call`] of the handle says.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the call; whether the service has acted on it is then unknown.
    pub async fn send(self) -> Result<OutputOf<B>, H::Error> {
        let (builder, handle) = self.into_parts();
        let input = builder.build().map_err(H::invalid_input)?;
        handle.call(&input).await
    }
}
