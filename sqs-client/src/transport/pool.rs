//! The connection pool settings.

use std::time::Duration;

use aws_smithy_types::timeout::TimeoutConfig;

/// The connection pool settings of a transport.
///
/// SQS uses HTTP/1.1, so each request occupies a connection until its response is complete. A long poll occupies one for
/// up to 20 seconds: a process with 50 receivers and 20 concurrent senders uses 70 connections. With a lower limit on idle
/// connections, requests above it need a new TLS handshake. If idle connections are kept longer than the service keeps
/// them, requests occasionally fail and are retried.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PoolConfig {
    /// The maximum number of idle connections per host; unlimited by default.
    pub max_idle_per_host: usize,
    /// How long an idle connection is kept: 20 seconds by default, shorter than on AWS load balancers.
    pub idle_timeout: Duration,
    /// The connect timeout: 3.1 seconds by default, as in the AWS SDKs. [`Duration::MAX`] disables it.
    pub connect_timeout: Duration,
}

/// The connect timeout of `timeouts`, else the default; `None` if it is disabled.
pub(crate) fn connect_timeout(timeouts: &TimeoutConfig, default: Duration) -> Option<Duration> {
    let default = TimeoutConfig::builder().connect_timeout(default).build();
    // The getter returns `None` for unset and for disabled timeouts. `take_defaults_from` replaces only unset ones.
    timeouts.clone().take_defaults_from(&default).connect_timeout()
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            max_idle_per_host: usize::MAX,
            idle_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_millis(3_100),
        }
    }
}

impl PoolConfig {
    /// Sets the maximum number of idle connections per host.
    pub fn max_idle_per_host(mut self, connections: usize) -> Self {
        self.max_idle_per_host = connections;
        self
    }

    /// Sets how long an idle connection is kept.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets the connect timeout.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }
}
