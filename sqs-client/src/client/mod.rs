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
mod execute;
mod paginator;
mod queue;

use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

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
use crate::error::{Cause, Context, Damaged, Error};
use crate::observe::CallReport;
use crate::retry::{Policy, TokenBucket};
use crate::transport::Transport;
use crate::types::{DamagedMessage, FluentBuilder, HasMetadata as _, RequestId as _};
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::model::{Action, Input, Operation, for_each_operation};
use crate::wire::protocol::EncodedRequest;
use crate::wire::sign::Signer;
use attempts::Plan;

pub use execute::{Call, CallOptions, Execute, OperationError, Retries, Unopened};
#[cfg(feature = "sdk")]
pub(crate) use execute::{OperationOf, OutputOf};
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
/// Every call fails with an [`Error`](crate::Error), after as many attempts as are [configured](crate::config::retry).
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
    #[cfg(feature = "sdk")]
    pub(crate) fn with_config(&self, config: Config, same_credentials: bool) -> Self {
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
        let generates =
            self.config.deduplication_ids == DeduplicationIds::Generate && retries != Retries::Never;
        if generates { input.with_deduplication_ids(crate::random::uuid) } else { None }
    }

    pub(super) async fn call<O: Operation>(
        &self,
        input: &O::Input,
        options: &CallOptions,
    ) -> Result<O::Output, Error> {
        let started = Instant::now();
        let mut context = context(O::ACTION, options, started);
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

/// The context of a call that starts now. The operation timeout covers repeated calls too, also those that a layer repeats.
fn context(action: Action, options: &CallOptions, started: Instant) -> Context {
    let earlier = options.earlier.as_ref();
    Context {
        action: Some(action),
        attempts: earlier.map_or(0, Error::attempts),
        begun: earlier.and_then(Error::begun).or(Some(started.into_std())),
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
    pub(super) signer: Signer,
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
        if config.retry_config.mode() == RetryMode::Adaptive {
            tracing::info!(
                "retry mode adaptive: retries as in standard mode, without a limit of the request rate"
            );
        }
        Self {
            transport: OnceLock::new(),
            credentials: config.credentials.clone(),
            signer: Signer::default(),
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
    #[cfg(feature = "sdk")]
    pub(super) fn with_config(&self, config: Config, same_credentials: bool) -> Self {
        let mut derived = Self::new(config);
        if same_credentials {
            derived.credentials.clone_from(&self.credentials);
        }
        derived.bucket = Arc::clone(&self.bucket);
        derived.skew = Arc::clone(&self.skew);
        derived
    }

    /// The transport. The first call creates it.
    pub(super) fn transport(&self) -> Result<&Arc<dyn Transport>, Cause> {
        if let Some(transport) = self.transport.get() {
            return Ok(transport);
        }
        let transport = match &self.config.transport {
            Some(transport) => Arc::clone(transport),
            None => self.default_transport()?,
        };
        Ok(self.transport.get_or_init(|| transport))
    }

    fn default_transport(&self) -> Result<Arc<dyn Transport>, Cause> {
        let endpoint = self.endpoint.as_ref().map_err(|error| Cause::Endpoint(error.clone()))?;
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
