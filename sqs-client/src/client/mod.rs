//! The client: actions, the request lifecycle, paginators and queue handles.
//!
//! | | |
//! |---|---|
//! | [`Client`] | one method per action; each returns a builder with `send()` |
//! | [`Queue`] | shortcuts for one queue: send, receive, delete, change visibility |
//! | [`Paginator`] | all pages of a list action, from `into_paginator()` on its builder |
//! | [`Execute`] | the trait of clients and layers: run an operation |
//!
//! The layers `sqs-buffered` and `sqs-extended` accept any client that implements [`Execute`]. The client of
//! `sqs-extended` implements it too, so it has the same builders:
//!
//! ```text
//! your code -> BufferedClient -> ExtendedClient -> Client -> Transport -> SQS
//!                accepts Execute   implements and accepts Execute  implements Execute
//! ```

mod attempts;
mod paginator;
mod queue;

use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use attempts::Plan;
use bytes::Bytes;
use http::HeaderValue;
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing::field::{Empty, display};

use crate::config::retry::RetryMode;
use crate::config::timeout::TimeoutConfig;
use crate::config::{Config, DeduplicationIds};
use crate::credentials::CredentialsSource;
use crate::endpoint::{Endpoint, EndpointError};
use crate::error::{BuildError, Cause, Context, Damaged, Error};
use crate::observe::CallReport;
use crate::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use crate::retry::{Policy, TokenBucket};
use crate::transport::Transport;
use crate::types::{
    DamagedMessage, FluentBuilder, HasMetadata as _, Message, RequestId as _, SendMessageBatchRequestEntry,
};
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::model::{Action, Input, InputBuilder, Operation, for_each_operation};
use crate::wire::protocol::EncodedRequest;
use crate::wire::sign::Signer;

pub use paginator::{Paginator, PaginatorItems};
pub use queue::Queue;

/// A client for Amazon SQS or a compatible service.
///
/// Create one client per process and clone it: clones are cheap and share connections, credentials and the retry
/// budget. Each action has a method that returns a builder; its `send()` makes the call.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::start().await;
/// # let endpoint = server.endpoint_url();
/// use sqs_client::Client;
/// use sqs_client::config::{Config, Credentials, Region};
///
/// let config = Config::builder()
///     .region(Region::new("eu-west-1"))
///     .credentials_provider(Credentials::new("AKIDEXAMPLE", "secret", None, None, "example"))
///     .endpoint_url(endpoint); // leave it out for AWS
/// let client = Client::from_conf(config.build()); // or Client::from_env()?
///
/// let created = client.create_queue().queue_name("orders").send().await?;
/// let url = created.queue_url().unwrap_or_default();
/// client.send_message().queue_url(url).message_body("one apple, please").send().await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Every call fails with an [`Error`], after as many attempts as are [configured](crate::config::retry).
///
/// # Panics
/// A call panics outside of a tokio runtime with timers.
///
/// # Cancel safety
/// Dropping the future abandons the call. SQS may still execute the request: a sent message may be in the queue, and
/// received messages stay hidden until their visibility timeout ends.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

impl Client {
    /// A client with this configuration.
    ///
    /// If the configuration has no region or no credentials, calls fail with an error that names the missing setting.
    pub fn from_conf(config: Config) -> Self {
        if config.retry_config.mode() == RetryMode::Adaptive {
            tracing::info!(
                "retry mode adaptive: retries as in standard mode, without a limit of the request rate"
            );
        }
        Self { shared: Arc::new(Shared::new(config)) }
    }

    /// A client configured from [environment variables and profiles](crate::config::Builder::from_env). The first call
    /// loads the credentials.
    ///
    /// # Errors
    /// A setting is invalid, a file cannot be read, or the selected profile does not exist.
    pub fn from_env() -> Result<Self, crate::config::ConfigError> {
        Ok(Self::from_conf(crate::config::Builder::from_env()?.build()))
    }

    /// Like [`from_env`](Self::from_env), and if no region is configured, queries the EC2 metadata service for it. See
    /// [`Builder::load`](crate::config::Builder::load).
    ///
    /// # Errors
    /// The same as [`from_env`](Self::from_env).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the query.
    pub async fn load() -> Result<Self, crate::config::ConfigError> {
        Ok(Self::from_conf(crate::config::Builder::load().await?.build()))
    }

    /// A client with the configuration that `aws-config` loaded: its credential sources, and its HTTP client if one is set.
    /// See [`Config::new`].
    #[cfg(feature = "aws-config")]
    pub fn new(sdk_config: &aws_types::SdkConfig) -> Self {
        Self::from_conf(sdk_config.into())
    }

    /// The same client with other settings. It shares everything that the new settings do not replace.
    #[cfg(feature = "aws-config")]
    #[doc(hidden)]
    pub fn with_config(&self, config: Config, same_credentials: bool) -> Self {
        Self { shared: Arc::new(self.shared.with_config(config, same_credentials)) }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// A handle for one queue, with shortcuts for the most frequent calls.
    pub fn queue(&self, url: impl Into<String>) -> Queue<Self> {
        Queue::new(self.clone(), url)
    }
}

impl Execute for Client {
    type Error = Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        let completed = self.shared.with_deduplication_ids(input, options.retries);
        self.shared.call::<O>(completed.as_ref().unwrap_or(input), &options).await
    }

    fn generates_deduplication_ids(&self, retries: Retries) -> bool {
        self.shared.generates_deduplication_ids(retries)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// The default for one attempt including its response; long enough for a 1 MiB batch on a slow connection.
const DEFAULT_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// The request lifecycle:
///
/// ```text
/// Input -> checks -> encode (once) -> attempts { credentials -> sign(now) -> transport -> decode | error -> retry }
///       -> MD5 check -> Output
/// ```
///
/// `call` is generic, so it is compiled once per operation: it encodes, decodes and verifies. The loop over attempts is in
/// [`attempts`] and is compiled once.
impl Shared {
    /// A copy with generated deduplication ids, if the client has to generate any. All attempts use the same ids.
    pub(super) fn with_deduplication_ids<I: Input>(&self, input: &I, retries: Retries) -> Option<I> {
        let generates = self.generates_deduplication_ids(retries);
        if generates { input.with_deduplication_ids(crate::random::uuid) } else { None }
    }

    fn generates_deduplication_ids(&self, retries: Retries) -> bool {
        self.config.deduplication_ids == DeduplicationIds::Generate && retries != Retries::Never
    }

    pub(super) async fn call<O: Operation>(
        &self,
        input: &O::Input,
        options: &CallOptions,
    ) -> Result<O::Output, Error> {
        let started = Instant::now();
        let began = self.config.hooks.begun.unwrap_or(started.into_std());
        let mut context = context(O::ACTION, options, began);
        let begun = context.begun.map_or(started, Instant::from_std);
        let earlier_attempts = context.attempts;
        let span = self.span(O::ACTION, input.queue_url());
        let mut output = None;
        let attempted = match self.encoded(input) {
            Ok(encoded) => {
                let plan = self.plan(O::ACTION, encoded, input.wait_time(), options.retries, begun);
                let mut accept = |response: &http::Response<Bytes>| {
                    let (status, headers) = (response.status().as_u16(), response.headers());
                    output =
                        Some(self.config.protocol.decode_response::<O>(status, headers, response.body())?);
                    Ok(())
                };
                self.attempts(&plan, &mut context, &mut accept).instrument(span.clone()).await
            }
            Err(cause) => Err(Error::new(cause, context.clone())),
        };
        let result = attempted.and_then(|()| {
            let mut output = output.unwrap_or_default();
            output.metadata_mut().maybe_repeated |= context.outcome_unknown;
            span.in_scope(|| verified::<O>(self.config.checksum_policy, input, output, &mut context))
        });
        let request_id = match &result {
            Ok(output) => output.request_id(),
            Err(error) => error.request_id(),
        };
        self.report(
            &span,
            &CallReport {
                action: O::ACTION,
                queue_url: input.queue_url(),
                attempts: context.attempts - earlier_attempts,
                elapsed: started.elapsed(),
                request_id,
                error: result.as_ref().err(),
            },
        );
        result
    }

    fn encoded(&self, input: &impl Input) -> Result<EncodedRequest, Cause> {
        if self.config.validate_input {
            input.validate().map_err(Cause::Invalid)?;
        }
        self.config.protocol.encode_request(input).map_err(Cause::Encode)
    }

    fn report(&self, span: &tracing::Span, report: &CallReport<'_>) {
        span.record("sqs.attempts", report.attempts);
        report.request_id.map(|id| span.record("aws.request_id", id));
        let error = report.error;
        error.map(|error| span.record("error.type", display(error.code().unwrap_or(error.kind().as_str()))));
        if let Some(observer) = &self.config.observer {
            observer.call(report);
        }
    }

    fn plan(
        &self,
        action: Action,
        encoded: EncodedRequest,
        wait: Duration,
        retries: Retries,
        begun: Instant,
    ) -> Plan {
        let timeouts = &self.config.timeout_config;
        let is_exact = self.config.exact_timeouts && is_attempt_bounded(timeouts);
        let attempt_timeout = attempt_timeout(timeouts, if is_exact { Duration::ZERO } else { wait });
        let operation_timeout = timeouts.operation_timeout();
        Plan {
            encoded,
            attempt_timeout,
            operation_timeout,
            started: begun,
            retries,
            is_polling: action == Action::ReceiveMessage,
        }
    }

    /// The attribute names of OpenTelemetry:
    /// <https://opentelemetry.io/docs/specs/semconv/messaging/sqs/>.
    fn span(&self, action: Action, queue_url: Option<&str>) -> tracing::Span {
        tracing::debug_span!(
            "sqs",
            messaging.system = "aws_sqs",
            messaging.operation.name = action.as_str(),
            messaging.operation.r#type = operation_type(action),
            messaging.destination.name = queue_url.and_then(|url| url.rsplit('/').next()),
            server.address = self.endpoint.as_ref().map_or("", |endpoint| endpoint.host()),
            sqs.attempts = Empty,
            aws.request_id = Empty,
            error.r#type = Empty,
        )
    }
}

/// Returns the output if its checksums match, else an error that contains the output.
pub(crate) fn verified<O: Operation>(
    policy: ChecksumPolicy,
    input: &O::Input,
    mut output: O::Output,
    context: &mut Context,
) -> Result<O::Output, Error> {
    let mismatches = O::verify(policy, input, &mut output);
    if mismatches.is_empty() {
        warn_of_damaged(&output.metadata().damaged, input.queue_url().unwrap_or_default());
        return Ok(output);
    }
    context.request_id = output.request_id().map(str::to_owned);
    let damaged = Damaged { mismatches, output: Box::new(output) };
    Err(Error::new(Cause::Checksum(Arc::new(damaged)), context.clone()))
}

fn warn_of_damaged(damaged: &[DamagedMessage], queue_url: &str) {
    for DamagedMessage { mismatches, .. } in damaged {
        tracing::warn!(
            queue_url,
            ?mismatches,
            "received a damaged message; SQS delivers it again after its visibility timeout"
        );
    }
}

/// The context of a call. The operation timeout covers repeated calls too, also those that a layer repeats.
fn context(action: Action, options: &CallOptions, began: std::time::Instant) -> Context {
    let earlier = options.earlier.as_ref();
    Context {
        action: Some(action),
        attempts: earlier.map_or(0, Error::attempts),
        begun: earlier.and_then(Error::begun).or(Some(began)),
        ..Context::default()
    }
}

/// The smaller one of `operation_attempt_timeout` and `read_timeout`, else the default, plus the wait time of the request;
/// `None` if disabled.
pub(crate) fn attempt_timeout(timeouts: &TimeoutConfig, wait: Duration) -> Option<Duration> {
    let default = timeouts.read_timeout().unwrap_or(DEFAULT_ATTEMPT_TIMEOUT);
    let default = TimeoutConfig::builder().operation_attempt_timeout(default).build();
    // The getter returns `None` for unset and for disabled timeouts. `take_defaults_from` replaces only unset ones.
    let attempt = timeouts.clone().take_defaults_from(&default).operation_attempt_timeout();
    let limit = [attempt, timeouts.read_timeout()].into_iter().flatten().min();
    // A sum that overflows means no limit.
    limit?.checked_add(wait)
}

/// Whether the configuration sets a timeout for attempts.
fn is_attempt_bounded(timeouts: &TimeoutConfig) -> bool {
    timeouts.operation_attempt_timeout().or(timeouts.read_timeout()).is_some()
}

fn operation_type(action: Action) -> Option<&'static str> {
    match action {
        Action::SendMessage | Action::SendMessageBatch => Some("send"),
        Action::ReceiveMessage => Some("receive"),
        Action::DeleteMessage
        | Action::DeleteMessageBatch
        | Action::ChangeMessageVisibility
        | Action::ChangeMessageVisibilityBatch => Some("settle"),
        _ => None,
    }
}

pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) endpoint: Result<Endpoint, EndpointError>,
    /// Created by the first call.
    transport: OnceLock<Arc<dyn Transport>>,
    pub(super) credentials: Option<CredentialsSource>,
    pub(super) signer: Arc<Signer>,
    pub(super) policy: Policy,
    /// Locked for a few instructions after each call and each failed attempt; never held across an await.
    pub(super) bucket: Arc<Mutex<TokenBucket>>,
    /// Seconds by which the service's clock is ahead of the local one.
    pub(super) skew: Arc<AtomicI64>,
    pub(super) user_agent: HeaderValue,
    pub(super) host: HeaderValue,
}

impl Shared {
    pub(super) fn new(config: Config) -> Self {
        let endpoint = config.endpoint();
        Self {
            transport: OnceLock::new(),
            credentials: config.credentials.clone(),
            signer: Arc::default(),
            policy: Policy::from(&config.retry_config),
            bucket: Arc::default(),
            skew: Arc::default(),
            user_agent: user_agent(&config),
            host: HeaderValue::from_str(endpoint.as_ref().map_or("", Endpoint::host))
                .unwrap_or(HeaderValue::from_static("")),
            endpoint,
            config,
        }
    }

    /// The same client with other settings. It shares the retry budget, the clock correction and, with
    /// `same_credentials`, the credentials. Connections are shared through the configuration.
    #[cfg(feature = "aws-config")]
    pub(super) fn with_config(&self, config: Config, same_credentials: bool) -> Self {
        let mut derived = Self::new(config);
        if same_credentials {
            derived.credentials.clone_from(&self.credentials);
        }
        derived.signer = Arc::clone(&self.signer);
        derived.bucket = Arc::clone(&self.bucket);
        derived.skew = Arc::clone(&self.skew);
        derived
    }

    /// The transport. The first call creates it.
    pub(super) fn transport(&self, endpoint: &Endpoint) -> Result<&Arc<dyn Transport>, Cause> {
        if let Some(transport) = self.transport.get() {
            return Ok(transport);
        }
        let transport = match &self.config.transport {
            Some(transport) => Arc::clone(transport),
            None => self.default_transport(endpoint)?,
        };
        Ok(self.transport.get_or_init(|| transport))
    }

    fn default_transport(&self, endpoint: &Endpoint) -> Result<Arc<dyn Transport>, Cause> {
        let encrypted = endpoint.uri().scheme_str() == Some("https");
        if cfg!(not(any(feature = "reqwest", feature = "hyper"))) {
            return Err(Cause::NoTransport);
        }
        if encrypted && cfg!(not(feature = "__rustls")) {
            return Err(Cause::NoTls);
        }
        self.config.default_transport.get(encrypted).map_err(Cause::Transport)
    }
}

fn user_agent(config: &Config) -> HeaderValue {
    const PRODUCT: &str = concat!("sqs-client-rust/", env!("CARGO_PKG_VERSION"));
    let os = std::env::consts::OS;
    let text = match &config.app_name {
        Some(name) => format!("{PRODUCT} os/{os} app/{}", name.as_ref()),
        None => format!("{PRODUCT} os/{os}"),
    };
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(PRODUCT))
}

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
    /// Forward both in a layer under sqs-buffered: with neither, its consumers cannot keep a message that does not open, and SQS counts
    /// each receive of it.
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

    /// Opens a message of [`receive_unopened`](Self::receive_unopened). By default, does nothing.
    ///
    /// For example, the client of sqs-extended loads the body from S3 and puts it into the message. It also changes the receipt
    /// handle: a delete with the new one deletes the stored body, too. So use the handle that the message has afterwards.
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

    /// Whether a call adds a random deduplication id to messages that have none. Layers forward it. False by default.
    ///
    /// A layer that replaces bodies would otherwise add an id of its own, so that large and small messages follow different rules.
    fn generates_deduplication_ids(&self, retries: Retries) -> bool {
        let _ = retries;
        false
    }

    /// Does once what `execute` would do in each attempt to send this entry. Returns what to send in its place, or `None` if the
    /// entry needs no preparation. By default, does nothing.
    ///
    /// For example, the client of sqs-extended stores a large body in S3, and returns an entry with a reference. `execute` then sends
    /// that entry without a change; the MD5 in the response is that of the reference.
    ///
    /// Send the returned entry, or pass it to [`discard`](Self::discard): otherwise, the stored body is never deleted.
    ///
    /// If SQS may have executed a request to a standard queue, do not repeat it with the same entry: prepare the original one again.
    /// Otherwise two messages can refer to one stored body, which is deleted with the first of them.
    ///
    /// # Errors
    /// The entry cannot be prepared. It must not be sent.
    ///
    /// # Cancel safety
    /// If the future is dropped, nothing was prepared.
    fn prepare(
        &self,
        queue_url: &str,
        entry: &SendMessageBatchRequestEntry,
    ) -> impl Future<Output = Result<Option<SendMessageBatchRequestEntry>, Self::Error>> + Send {
        let _ = (queue_url, entry);
        std::future::ready(Ok(None))
    }

    /// Gives up an entry that [`prepare`](Self::prepare) has returned: the caller does not send it again. By default, does nothing.
    ///
    /// For example, the client of sqs-extended deletes the stored body. It keeps the body if `is_maybe_sent`: SQS may have accepted
    /// the entry although no response says so, and then a message refers to it.
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
    /// Opening it may succeed soon: a consumer keeps it and tries again.
    Retry,
    /// Give it back: each receive counts for the redrive policy of its queue. On FIFO queues, a consumer may try again in place, and send
    /// it alone to the dead-letter queue after as many attempts.
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
    /// [`client_error`](Self::client_error), such as the timeout of a layer, that is true by default. If it were false, a layer
    /// could delete the payload of a message that SQS has.
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

/// A client whose calls can have their own settings. The crate `sqs-sdk` implements it.
#[cfg(feature = "aws-config")]
#[doc(hidden)]
pub trait Customize<B>: Sized {
    /// A call with its own settings.
    type Customized;

    /// Returns a builder for a call with its own settings.
    fn customize(request: FluentBuilder<B, Self>) -> Self::Customized;
}

#[cfg(feature = "aws-config")]
impl<B, H: Customize<B>> FluentBuilder<B, H> {
    /// Returns a builder for a call with its own settings. For the client of the crate `sqs-sdk`.
    pub fn customize(self) -> H::Customized {
        H::customize(self)
    }
}

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

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $sums:tt, $doc:literal; )*) => {
        pastey::paste! {
            /// The 23 actions.
            impl Client {
                $(
                    #[doc = $doc]
                    pub fn $module(&self) -> FluentBuilder<crate::types::$family::[<$op InputBuilder>], Self> {
                        FluentBuilder::new(self.clone())
                    }
                )*
            }

            $(
                impl crate::types::$family::[<$op InputBuilder>] {
                    /// Builds the input and sends the request with `client`.
                    ///
                    /// # Errors
                    /// The same as `send` on the fluent builder.
                    ///
                    /// # Cancel safety
                    /// The same as `send` on the fluent builder.
                    pub async fn send_with<H: Call<crate::wire::model::$op>>(
                        self,
                        client: &H,
                    ) -> Result<crate::types::$family::[<$op Output>], H::Error> {
                        FluentBuilder::from_parts(self, client.clone()).send().await
                    }
                }
            )*
        }
    };
}

for_each_operation!(actions);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_timeout_is_the_configured_one_unless_disabled() {
        const READ: Duration = Duration::from_secs(7);
        const OWN: Duration = Duration::from_secs(3);
        let builder = TimeoutConfig::builder;
        for (timeouts, expected) in [
            (builder(), Some(DEFAULT_ATTEMPT_TIMEOUT)),
            (builder().read_timeout(READ), Some(READ)),
            (builder().read_timeout(READ).operation_attempt_timeout(OWN), Some(OWN)),
            (builder().read_timeout(OWN).operation_attempt_timeout(READ), Some(OWN)),
            (builder().disable_read_timeout(), Some(DEFAULT_ATTEMPT_TIMEOUT)),
            (builder().disable_operation_attempt_timeout(), None),
            (builder().disable_operation_attempt_timeout().read_timeout(READ), Some(READ)),
            (TimeoutConfig::disabled().to_builder(), None),
        ] {
            let timeouts = timeouts.build();
            assert_eq!(attempt_timeout(&timeouts, Duration::ZERO), expected, "{timeouts:?}");
            let polling = attempt_timeout(&timeouts, Duration::from_secs(20));
            assert_eq!(polling, expected.map(|limit| limit + Duration::from_secs(20)), "{timeouts:?}");
        }
    }
}
