//! How connections are made and kept.

use std::time::Duration;

/// How connections are made and kept.
///
/// SQS speaks HTTP/1.1, so a request has a connection to itself until its answer is complete. A long poll keeps
/// one for up to 20 seconds: a process with 50 receivers and 20 concurrent senders uses 70 connections. Keeping
/// fewer idle ones than that costs a TLS handshake for each request above the number; keeping them longer
/// than the service does costs a retry now and then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PoolConfig {
    /// Idle connections kept per host; without a bound by default, since each was in use at the same time once.
    pub max_idle_per_host: usize,
    /// How long an idle connection is kept: 20 seconds by default, less than any AWS load balancer keeps it.
    pub idle_timeout: Duration,
    /// How long making a connection may take: 3.1 seconds by default, as in the AWS SDKs.
    pub connect_timeout: Duration,
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
    /// Sets how many idle connections are kept per host.
    pub fn max_idle_per_host(mut self, connections: usize) -> Self {
        self.max_idle_per_host = connections;
        self
    }

    /// Sets how long an idle connection is kept.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets how long making a connection may take.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }
}
