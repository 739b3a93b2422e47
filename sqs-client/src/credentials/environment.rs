//! What providers take from the world around them: variables, files, a clock, and ways to send requests.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_credential_types::provider;
use aws_credential_types::provider::error::CredentialsError;
use http::Uri;

use super::exchange::{Exchange, text_of};
use super::failure::{invalid, passing, prefixed};
use crate::settings::{Settings, Variables};
use crate::time::{SharedTimeSource, SystemClock, TimeSource};
use crate::transport::{DefaultTransport, PoolConfig, TlsConfig, Transport, direct_http};

/// What providers take from the world around them. The default is the process: its variables, the files in `~/.aws`, the
/// system's clock, and transports that are made when a provider needs one. Cloning is cheap.
///
/// ```
/// use sqs_client::config::Builder;
/// use sqs_client::config::credentials::Environment;
///
/// let environment = Environment::default().profile("orders");
/// let builder = Builder::from_environment(environment);
/// ```
#[derive(Clone)]
pub struct Environment {
    pub(crate) variables: Variables,
    profile: Option<String>,
    region: Option<String>,
    time_source: SharedTimeSource,
    tls: TlsConfig,
    service: Outlet,
    metadata: Outlet,
    service_timeout: Duration,
    metadata_timeout: Duration,
    process_timeout: Duration,
    retry_pause: Duration,
}

/// A transport that is given, or made when the first request needs it.
#[derive(Clone, Default)]
struct Outlet(Arc<OnceLock<Arc<dyn Transport>>>);

impl Default for Environment {
    fn default() -> Self {
        Self {
            variables: Variables::of_process(),
            profile: None,
            region: None,
            time_source: SharedTimeSource::new(SystemClock),
            tls: TlsConfig::default(),
            service: Outlet::default(),
            metadata: Outlet::default(),
            service_timeout: Duration::from_secs(5),
            metadata_timeout: Duration::from_secs(1),
            process_timeout: Duration::from_secs(25),
            retry_pause: Duration::from_millis(100),
        }
    }
}

impl Environment {
    /// Looks variables up elsewhere than in the process. `HOME` is among them: the files of profiles are below it.
    pub fn variables(mut self, lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.variables = Variables::new(lookup);
        self
    }

    /// Selects a profile; it wins over `AWS_PROFILE`.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// The region whose STS gives credentials for roles; it wins over `AWS_REGION` and the profile. A config builder sets its
    /// own region here.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Where the time of day comes from. A config builder sets its own clock here.
    pub fn time_source(mut self, time_source: impl TimeSource + 'static) -> Self {
        self.time_source = SharedTimeSource::new(time_source);
        self
    }

    /// The TLS settings of the default transport to STS. A config builder sets its own here.
    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.tls = tls;
        self
    }

    /// How requests reach STS, and containers' credential services with an `https` URL. Over the default transport otherwise.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.service = Outlet::given(transport);
        self
    }

    /// How requests reach the metadata services of containers and instances, which speak plain `http`. It must not use a
    /// proxy: these services are local to the machine. Otherwise over the default transport, without a proxy.
    pub fn metadata_transport(mut self, transport: impl Transport) -> Self {
        self.metadata = Outlet::given(transport);
        self
    }

    /// How long one request to STS may take; 5 seconds by default. A failed request is made 3 times.
    pub fn service_timeout(mut self, timeout: Duration) -> Self {
        self.service_timeout = timeout;
        self
    }

    /// How long connecting to a metadata service may take, and then its answer; 1 second each by default. A failed request
    /// is made 3 times.
    pub fn metadata_timeout(mut self, timeout: Duration) -> Self {
        self.metadata_timeout = timeout;
        self
    }

    /// How long a `credential_process` may run; 25 seconds by default. Then the shell that runs it is killed.
    pub fn process_timeout(mut self, timeout: Duration) -> Self {
        self.process_timeout = timeout;
        self
    }

    /// The pause before a failed request is repeated; 100 ms by default, doubled for the next one, with full jitter.
    pub fn retry_pause(mut self, pause: Duration) -> Self {
        self.retry_pause = pause;
        self
    }

    pub(crate) fn now(&self) -> std::time::SystemTime {
        self.time_source.now()
    }

    /// Reads variables and files. Blocks for the files.
    pub(crate) fn settings(&self) -> Result<Settings, crate::settings::ConfigError> {
        Settings::load(&self.variables, self.profile.as_deref())
    }

    pub(super) fn configured_region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    pub(super) fn process_limit(&self) -> Duration {
        self.process_timeout
    }

    /// Requests to a metadata service on this machine.
    pub(super) fn metadata_exchange(&self) -> Result<Exchange, CredentialsError> {
        let transport = self.metadata.get(|| direct(self.metadata_timeout))?;
        // Not connecting in time means that there is no such service; a late answer is only slow.
        let timeout = self.metadata_timeout.saturating_mul(2);
        Ok(Exchange { transport, timeout, pause: self.retry_pause })
    }

    /// Requests to a service of AWS. A plain `http` URL is for tests, and needs no TLS.
    pub(super) fn service_exchange(&self, uri: &Uri) -> Result<Exchange, CredentialsError> {
        let is_plain = uri.scheme_str() == Some("http");
        let transport = if is_plain && self.service.0.get().is_none() {
            self.metadata.get(|| direct(self.metadata_timeout))?
        } else {
            self.service.get(|| encrypted(&self.tls))?
        };
        Ok(Exchange { transport, timeout: self.service_timeout, pause: self.retry_pause })
    }
}

impl Outlet {
    fn given(transport: impl Transport) -> Self {
        Self(Arc::new(OnceLock::from(Arc::new(transport) as Arc<dyn Transport>)))
    }

    /// A transport that cannot be made is not remembered, so that the next call tries again.
    fn get(
        &self,
        make: impl FnOnce() -> Result<Arc<dyn Transport>, CredentialsError>,
    ) -> Result<Arc<dyn Transport>, CredentialsError> {
        match self.0.get() {
            Some(transport) => Ok(Arc::clone(transport)),
            None => make().map(|made| Arc::clone(self.0.get_or_init(|| made))),
        }
    }
}

fn direct(connect_timeout: Duration) -> Result<Arc<dyn Transport>, CredentialsError> {
    if cfg!(not(any(feature = "reqwest", feature = "hyper"))) {
        return Err(invalid(
            "no transport: enable the feature `reqwest`, or call Environment::metadata_transport",
        ));
    }
    direct_http(connect_timeout).map_err(|error| invalid(text_of(&error)))
}

fn encrypted(tls: &TlsConfig) -> Result<Arc<dyn Transport>, CredentialsError> {
    if cfg!(not(any(feature = "reqwest", feature = "hyper"))) {
        return Err(invalid("no transport: enable the feature `reqwest`, or call Environment::transport"));
    }
    if cfg!(not(any(feature = "__rustls", feature = "native-tls"))) {
        return Err(invalid("an https URL needs the feature `rustls` or `native-tls`"));
    }
    // No connection is kept: requests are an hour apart, and may be made from different runtimes.
    let pool = PoolConfig::default().max_idle_per_host(0);
    DefaultTransport::new(pool, tls.clone()).get(true).map_err(|error| invalid(text_of(&error)))
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("profile", &self.profile)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

/// Runs what reads files where it may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CredentialsError> + Send + 'static,
) -> Result<T, CredentialsError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(passing(format!("reading settings was interrupted: {error}"))))
}

/// Names the source of an error.
pub(super) fn named<T>(name: &str, result: Result<T, CredentialsError>) -> Result<T, CredentialsError> {
    result.map_err(|error| prefixed(name, &error))
}

/// What each provider returns.
pub(super) type Provided = provider::Result;
