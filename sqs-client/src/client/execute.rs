//! What every client of this workspace can do: run an operation.

use crate::error::Error;
use crate::operation::{Input, InputBuilder, Operation};
use crate::types::FluentBuilder;

use super::Client;
use super::attempts::Repeats;

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

    /// Runs one operation.
    ///
    /// # Errors
    /// The implementation's error type says.
    fn execute<O: Operation>(
        &self,
        input: O::Input,
    ) -> impl Future<Output = Result<O::Output, Self::Error>> + Send;

    /// Runs one operation in one attempt, for callers that repeat it themselves: they have to know of each attempt what came
    /// of it, and the next one has to be the same request. So nothing is generated that would differ from attempt to attempt,
    /// such as deduplication ids. An attempt that the service refused for its clock or its expired token may be made again.
    /// The input is the caller's, and stays as it is: what a layer has to change, it changes in a copy.
    ///
    /// A layer over a client passes it on to that client; without that it is [`execute`](Self::execute) of a copy.
    ///
    /// # Errors
    /// As of `execute`.
    fn execute_once<O: Operation>(
        &self,
        input: &O::Input,
    ) -> impl Future<Output = Result<O::Output, Self::Error>> + Send {
        self.execute::<O>(input.clone())
    }

    /// Runs one operation, and does not repeat a request that the service may have acted on: for layers whose requests
    /// must not be repeated as they are. `earlier` is the error of the request before, if one was sent for the same purpose: its
    /// attempts and its time count. The input is the caller's, who may change it and run it again; it stays as it was, but for a deduplication id that the client generates.
    ///
    /// Implementations that repeat nothing need not provide it.
    ///
    /// # Errors
    /// As of [`execute`](Self::execute). [`repeat_after`](Error::repeat_after) says when the request would have been
    /// repeated.
    fn execute_unrepeated<O: Operation>(
        &self,
        input: &mut O::Input,
        earlier: Option<&Error>,
    ) -> impl Future<Output = Result<O::Output, Self::Error>> + Send {
        let _ = earlier;
        self.execute::<O>(input.clone())
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

    async fn execute<O: Operation>(&self, mut input: O::Input) -> Result<O::Output, Error> {
        self.shared.generate_ids(&mut input);
        self.shared.call::<O>(&input, Repeats::AsConfigured, None).await
    }

    async fn execute_once<O: Operation>(&self, input: &O::Input) -> Result<O::Output, Error> {
        self.shared.call::<O>(input, Repeats::ByCaller, None).await
    }

    async fn execute_unrepeated<O: Operation>(
        &self,
        input: &mut O::Input,
        earlier: Option<&Error>,
    ) -> Result<O::Output, Error> {
        self.shared.generate_ids(input);
        self.shared.call::<O>(input, Repeats::InDoubtByCaller, earlier).await
    }
}

/// What the operation of a builder answers.
type OutputOf<B> = <<<B as InputBuilder>::Input as Input>::Operation as Operation>::Output;

impl<B: InputBuilder, H: Execute> FluentBuilder<B, H> {
    /// Makes the call.
    ///
    /// # Errors
    /// The input cannot be built, or what [`Execute::execute`] of the handle says.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the call; whether the service has acted on it is then unknown.
    pub async fn send(self) -> Result<OutputOf<B>, H::Error> {
        let (builder, handle) = self.into_parts();
        let input = builder.build().map_err(Error::from)?;
        handle.execute::<<B::Input as Input>::Operation>(input).await
    }
}
