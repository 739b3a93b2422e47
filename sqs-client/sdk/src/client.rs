//! The client and its 23 operations.

pub mod customize;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use aws_smithy_runtime_api::client::endpoint::ResolveEndpoint as _;
use aws_smithy_runtime_api::client::interceptors::context::{Input, InterceptorContext};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::retries::classifiers::{
    ClassifyRetry, RetryAction, RetryReason, SharedRetryClassifier,
};
use aws_smithy_types::retry::ErrorKind;
use aws_types::SdkConfig;
use sqs_client::config::{Classified, Classify, Hooks, MapRequest};

use crate::config::{Builder, Config};
use crate::error::{SdkError, TypedOperation, orchestrator_error, sdk_error};
use sqs_client::client::Call;
use sqs_client::error::BuildError;
use sqs_client::types::FluentBuilder;
use tokio::time::{Instant, timeout};

/// A client with the methods, settings and errors of `aws_sdk_sqs::Client`.
///
/// It wraps the plain client ([`as_plain`](Self::as_plain)). Cloning is cheap, and clones share connections, credentials
/// and the retry budget.
#[derive(Clone)]
pub struct Client {
    /// For its own calls, whose timeouts are those of aws-sdk-sqs.
    plain: sqs_client::Client,
    /// For layers; derived from `plain` when it is first needed.
    for_layers: Arc<OnceLock<sqs_client::Client>>,
    config: Arc<Config>,
    /// Each changes the requests of a customized call.
    requests: Vec<MapRequest>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Client {
    /// A client with the configuration that `aws-config` loaded, including its HTTP client and identity cache.
    pub fn new(config: &SdkConfig) -> Self {
        Self::from_conf(config.into())
    }

    /// A client with this configuration. If a setting is missing, such as the region, calls fail with an error that names
    /// it.
    pub fn from_conf(config: Config) -> Self {
        Self {
            plain: sqs_client::Client::from_conf(config.settings().to_plain()),
            for_layers: Arc::default(),
            config: Arc::new(config),
            requests: Vec::new(),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The plain client, for layers. It shares connections, credentials and the retry budget with this one.
    ///
    /// Its timeouts are [those of sqs-client](sqs_client::config::timeout): unlike here, the wait time of a receive is added to a
    /// configured attempt or read timeout, so that neither cuts a long poll. If a read timeout and an HTTP client are set, it has
    /// that client make connections without a read timeout.
    pub fn as_plain(&self) -> &sqs_client::Client {
        self.for_layers.get_or_init(|| {
            self.plain.with_config(self.config.settings().for_layers(self.plain.config()), true)
        })
    }

    /// This client with other settings, for customized calls.
    fn with_override(&self, settings: Builder) -> Self {
        let settings = settings.into_settings();
        let config = Config::from_settings(self.config.settings().overridden_by(&settings));
        let is_same = config.settings().has_http_client_of(self.config.settings(), &settings);
        let transport = if is_same { None } else { config.settings().transport() };
        let plain = config.settings().apply_to(self.plain.config().to_builder(), transport);
        let plain = self.plain.with_config(plain, settings.keeps_credentials());
        Self { plain, for_layers: Arc::default(), config: Arc::new(config), requests: Vec::new() }
    }

    fn with_requests(self, requests: Vec<MapRequest>) -> Self {
        Self { requests, ..self }
    }

    /// The plain client of a call of `O`: with the endpoint that the resolver returns, and what changes or classifies its
    /// attempts.
    async fn of_call<O: TypedOperation>(&self) -> Result<Cow<'_, sqs_client::Client>, SdkError<O::Error>> {
        let begun = Some(Instant::now().into_std());
        let settings = self.config.settings();
        let classifiers = &settings.retry_classifiers;
        if settings.endpoint_resolver.is_none() && classifiers.is_empty() && self.requests.is_empty() {
            return Ok(Cow::Borrowed(&self.plain));
        }
        let mut builder = self.plain.config().to_builder();
        if let Some(resolver) = &settings.endpoint_resolver {
            let params = settings.endpoint_params();
            let resolving = resolver.resolve_endpoint(&params);
            let resolved = match settings.longest_call() {
                Some(limit) => timeout(limit, resolving).await.map_err(SdkError::timeout_error)?,
                None => resolving.await,
            };
            let failed = |error| SdkError::dispatch_failure(ConnectorError::other(error, None));
            builder =
                builder.endpoint_url(resolved.map_err(failed)?.url()).use_fips(false).use_dual_stack(false);
        }
        let classify = (!classifiers.is_empty()).then(|| classify::<O>(classifiers.clone()));
        let hooks = Hooks { requests: self.requests.clone(), classify, begun };
        Ok(Cow::Owned(self.plain.with_config(builder.hooks(hooks).build(), true)))
    }
}

/// Asks the classifiers about a failed attempt, in the order of their priority, as aws-sdk-sqs does.
fn classify<O: TypedOperation>(mut classifiers: Vec<SharedRetryClassifier>) -> Classify {
    classifiers.sort_by_key(ClassifyRetry::priority);
    Arc::new(move |error| {
        let mut context = InterceptorContext::new(Input::erase(()));
        let (failure, response) = orchestrator_error::<O::Error>(error.clone());
        if let Some(response) = response {
            context.set_response(response);
        }
        context.set_output_or_error(Err(failure));
        // The rules of the plain client, which are no classifiers.
        let mut previous = match error {
            error if error.is_throttle() => RetryAction::throttling_error(),
            error if error.is_retryable() => RetryAction::transient_error(),
            _ => RetryAction::NoActionIndicated,
        };
        let mut indicated = None;
        for classifier in &classifiers {
            match classifier.classify_retry_v2(&context, &previous) {
                RetryAction::NoActionIndicated => {}
                RetryAction::RetryForbidden => return Some(Classified::Forbidden),
                action => previous = indicated.insert(action).clone(),
            }
        }
        match indicated? {
            RetryAction::RetryIndicated(RetryReason::RetryableError { kind, retry_after }) => {
                let is_throttle = kind == ErrorKind::ThrottlingError;
                Some(Classified::Retry { is_throttle, after: retry_after })
            }
            _ => None,
        }
    })
}

/// The new client keeps the settings of the plain one and shares its connections.
impl From<sqs_client::Client> for Client {
    fn from(plain: sqs_client::Client) -> Self {
        let config = Arc::new(Config::from(plain.config().clone()));
        let for_layers = Arc::new(OnceLock::from(plain.clone()));
        Self { plain, for_layers, config, requests: Vec::new() }
    }
}

impl<O: TypedOperation> Call<O> for Client {
    type Error = SdkError<O::Error>;

    async fn call(&self, input: &O::Input) -> Result<O::Output, SdkError<O::Error>> {
        let result = Call::<O>::call(&*self.of_call::<O>().await?, input).await;
        result.map_err(|error| sdk_error(error, self.config.timeout_config()))
    }

    fn invalid_input(error: BuildError) -> SdkError<O::Error> {
        SdkError::from(error)
    }
}

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $sums:tt, $doc:literal; )*) => { pastey::paste! {
        /// The 23 operations.
        impl Client {
            $(
                #[doc = $doc]
                pub fn $module(&self) -> FluentBuilder<sqs_client::operation::$module::builders::[<$op InputBuilder>], Self> {
                    FluentBuilder::new(self.clone())
                }
            )*
        }
    } };
}

sqs_client::for_each_operation!(actions);
