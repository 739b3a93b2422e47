//! The inputs of credentials providers: variables, files, a clock and transports.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_credential_types::provider;
use aws_credential_types::provider::error::CredentialsError;
use http::Uri;

use super::exchange::{Exchange, invalid, prefixed, text_of, transient};
use super::instance::Presence;
use crate::config::{CommonSettings, Region};
use crate::settings::{ConfigError, Settings, Variables};
use crate::time::{SharedTimeSource, TimeSource};
use crate::transport::{DefaultTransport, PoolConfig, TlsConfig, Transport, direct_http};

/// The inputs of credentials providers. By default: the variables of the process, the files in `~/.aws`, the system clock,
/// and transports that are created on first use. Cloning is cheap.
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
    /// For STS. A config builder completes them with its own; a provider without one, with the variables and the profile.
    pub(crate) common: CommonSettings,
    service: LazyTransport,
    metadata: LazyTransport,
    service_timeout: Duration,
    metadata_timeout: Duration,
    process_timeout: Duration,
    retry_pause: Duration,
    pub(super) instance: Presence,
}

/// A transport that is set by the caller, or created for the first request. Clones share it.
#[derive(Clone, Default)]
struct LazyTransport {
    transport: Arc<OnceLock<Arc<dyn Transport>>>,
    is_given: bool,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            variables: Variables::of_process(),
            profile: None,
            common: CommonSettings::default(),
            service: LazyTransport::default(),
            metadata: LazyTransport::default(),
            service_timeout: Duration::from_secs(5),
            metadata_timeout: Duration::from_secs(1),
            process_timeout: Duration::from_secs(25),
            retry_pause: Duration::from_millis(100),
            instance: Presence::default(),
        }
    }
}

impl Environment {
    /// Replaces the variables of the process. That includes `HOME`, which locates the profile files.
    pub fn variables(mut self, lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.variables = Variables::new(lookup);
        self
    }

    /// Selects a profile. It overrides `AWS_PROFILE`.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// The region of STS, for roles. It overrides `AWS_REGION` and the profile. By default, the region of the config builder.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.common.region = Some(Region::new(region.into()));
        self
    }

    /// Whether to use the FIPS endpoint of STS. It overrides `AWS_USE_FIPS_ENDPOINT` and the profile, and a config builder that uses
    /// this environment takes it over. By default, the setting of the config builder.
    pub fn use_fips(mut self, use_fips: impl Into<bool>) -> Self {
        self.common.use_fips = Some(use_fips.into());
        self
    }

    /// Whether to use the dual-stack endpoint of STS (IPv4 and IPv6). It overrides `AWS_USE_DUALSTACK_ENDPOINT` and the profile,
    /// and a config builder that uses this environment takes it over. By default, the setting of the config builder.
    pub fn use_dual_stack(mut self, use_dual_stack: impl Into<bool>) -> Self {
        self.common.use_dual_stack = Some(use_dual_stack.into());
        self
    }

    /// The clock. A config builder that uses this environment takes it over. By default, the clock of the config builder.
    pub fn time_source(mut self, time_source: impl TimeSource + 'static) -> Self {
        self.common.time_source = Some(SharedTimeSource::new(time_source));
        self
    }

    /// The TLS settings of the default transport to STS. They override `AWS_CA_BUNDLE`, and a config builder that uses this
    /// environment takes them over. By default, the TLS settings of the config builder, else `AWS_CA_BUNDLE`.
    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.set_common(CommonSettings { tls: Some(tls), ..self.common.clone() });
        self
    }

    /// The transport to STS, and to container credential endpoints with an `https` URL. By default, the transport of this
    /// crate.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.service = LazyTransport::given(transport);
        self
    }

    /// The transport to the metadata services of containers and instances, over plain `http`. It must not use a proxy,
    /// because these services are local. By default, the transport of this crate without a proxy.
    pub fn metadata_transport(mut self, transport: impl Transport) -> Self {
        self.metadata = LazyTransport::given(transport);
        self
    }

    /// The timeout of one request to STS; 5 seconds by default. There are up to 3 attempts.
    pub fn service_timeout(mut self, timeout: Duration) -> Self {
        self.service_timeout = timeout;
        self
    }

    /// The timeout for connecting to a metadata service, and again for its response; 1 second each by default. There are up
    /// to 3 attempts.
    pub fn metadata_timeout(mut self, timeout: Duration) -> Self {
        self.metadata_timeout = timeout;
        self.metadata = self.metadata.separate();
        self
    }

    /// The timeout of a `credential_process`; 25 seconds by default. After that, its shell is killed, but not the programs that
    /// the shell has started.
    pub fn process_timeout(mut self, timeout: Duration) -> Self {
        self.process_timeout = timeout;
        self
    }

    /// The pause before the first retry of a request; 100 ms by default. It doubles for the next retry and has full jitter.
    // For tests, which would wait otherwise.
    #[doc(hidden)]
    pub fn retry_pause(mut self, pause: Duration) -> Self {
        self.retry_pause = pause;
        self
    }

    /// Replaces the common settings. Clones with other settings keep their transport.
    pub(crate) fn set_common(&mut self, common: CommonSettings) {
        self.common = common;
        self.service = self.service.separate();
    }

    pub(crate) fn now(&self) -> std::time::SystemTime {
        self.common.now()
    }

    /// Reads variables and files. Blocks on file access.
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        Settings::load(&self.variables, self.profile.as_deref())
    }

    /// Like [`settings`](Self::settings), on a thread for blocking work.
    pub(super) async fn read_settings(&self) -> Result<Settings, CredentialsError> {
        let environment = self.clone();
        blocking(move || environment.settings().map_err(invalid)).await
    }

    /// With the settings of variables and the profile where it has none.
    pub(super) fn completed(mut self, settings: &Settings) -> Result<Self, ConfigError> {
        let common = self.common.or(&CommonSettings::read(settings)?);
        self.common = common;
        Ok(self)
    }

    /// The longest time that the chain may take: a `credential_process`, or a chain of four roles with three attempts
    /// each.
    pub(super) fn longest_call(&self) -> Duration {
        let exchange =
            self.service_timeout.saturating_add(self.retry_pause.saturating_mul(2)).saturating_mul(3);
        self.process_timeout
            .saturating_add(exchange.saturating_mul(4))
            .saturating_add(Duration::from_secs(10))
    }

    pub(super) fn process_limit(&self) -> Duration {
        self.process_timeout
    }

    /// Requests to a metadata service on this machine.
    pub(super) fn metadata_exchange(&self) -> Result<Exchange, CredentialsError> {
        let transport = self.metadata.get(|| direct(self.metadata_timeout))?;
        // Half of it is the connect timeout. Without a connection, there is no such service; a late response only means
        // a slow one.
        let timeout = self.metadata_timeout.saturating_mul(2);
        Ok(Exchange { transport, timeout, pause: self.retry_pause })
    }

    /// Requests to an AWS service. Tests use plain `http` URLs, which need no TLS.
    pub(super) fn service_exchange(&self, uri: &Uri) -> Result<Exchange, CredentialsError> {
        let is_plain = uri.scheme_str() == Some("http");
        let transport = if is_plain && self.service.transport.get().is_none() {
            self.metadata.get(|| direct(self.metadata_timeout))?
        } else {
            self.service.get(|| encrypted(self.common.tls.as_ref()))?
        };
        Ok(Exchange { transport, timeout: self.service_timeout, pause: self.retry_pause })
    }
}

impl LazyTransport {
    fn given(transport: impl Transport) -> Self {
        let transport = Arc::new(OnceLock::from(Arc::new(transport) as Arc<dyn Transport>));
        Self { transport, is_given: true }
    }

    /// One that creates its own transport, unless the caller has set one.
    fn separate(&self) -> Self {
        if self.is_given { self.clone() } else { Self::default() }
    }

    /// A failure to create the transport is not cached, so the next call tries again.
    fn get(
        &self,
        make: impl FnOnce() -> Result<Arc<dyn Transport>, CredentialsError>,
    ) -> Result<Arc<dyn Transport>, CredentialsError> {
        match self.transport.get() {
            Some(transport) => Ok(Arc::clone(transport)),
            None => make().map(|made| Arc::clone(self.transport.get_or_init(|| made))),
        }
    }
}

fn direct(connect_timeout: Duration) -> Result<Arc<dyn Transport>, CredentialsError> {
    if cfg!(not(any(feature = "reqwest", feature = "hyper"))) {
        return Err(invalid(
            "no transport: enable the feature `reqwest` or `hyper`, or call Environment::metadata_transport",
        ));
    }
    direct_http(connect_timeout).map_err(|error| invalid(text_of(&error)))
}

fn encrypted(tls: Option<&TlsConfig>) -> Result<Arc<dyn Transport>, CredentialsError> {
    if cfg!(not(any(feature = "reqwest", feature = "hyper"))) {
        return Err(invalid(
            "no transport: enable the feature `reqwest` or `hyper`, or call Environment::transport",
        ));
    }
    if cfg!(not(feature = "__rustls")) {
        return Err(invalid("no TLS for the https URL: enable the feature `rustls` or `aws-lc`"));
    }
    // Keep no idle connections: requests are an hour apart and may come from different runtimes.
    let pool = PoolConfig::default().max_idle_per_host(0);
    DefaultTransport::new(pool, tls.cloned().unwrap_or_default())
        .get(true)
        .map_err(|error| invalid(text_of(&error)))
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("profile", &self.profile)
            .field("region", &self.common.region)
            .finish_non_exhaustive()
    }
}

/// Runs blocking work on a thread for it. The future and the work are boxed, so that they are compiled once for each `T`.
pub(super) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CredentialsError> + Send + 'static,
) -> Pin<Box<dyn Future<Output = Result<T, CredentialsError>> + Send>> {
    let work: Box<dyn FnOnce() -> Result<T, CredentialsError> + Send> = Box::new(work);
    Box::pin(async {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(transient(format!("reading settings was interrupted: {error}"))))
    })
}

/// Adds the name of the source to the error.
pub(super) fn named<T>(name: &str, result: Result<T, CredentialsError>) -> Result<T, CredentialsError> {
    result.map_err(|error| prefixed(name, &error))
}

/// The result of a provider.
pub(super) type Provided = provider::Result;

#[cfg(all(test, any(feature = "reqwest", feature = "hyper")))]
mod tests {
    use super::*;

    #[test]
    fn clone_with_other_settings_does_not_share_the_transport_that_they_make() {
        let first = Environment::default();
        let shares = |other: &Environment, of: fn(&Environment) -> &LazyTransport| {
            Arc::ptr_eq(&of(&first).transport, &of(other).transport)
        };
        assert!(shares(&first.clone(), |environment| &environment.service));
        assert!(!shares(&first.clone().tls(TlsConfig::default()), |environment| &environment.service));
        let slow = first.clone().metadata_timeout(Duration::from_secs(9));
        assert!(!shares(&slow, |environment| &environment.metadata));
    }
}
