//! The client: actions, the call pipeline, paginators and queue handles.

mod actions;
mod attempts;
mod execute;
mod paginator;
mod pipeline;
mod queue;
mod shared;

use std::fmt;
use std::sync::Arc;

use crate::config::Config;

pub use execute::{Execute, OperationError};
pub use paginator::{Paginator, PaginatorItems};
pub use queue::Queue;

use shared::Shared;

/// A client of Amazon SQS, or of a service that is compatible with it.
///
/// Cloning is cheap and clones share connections, credentials and the budget for retries: make one client for a
/// process. Each action has a method that returns a builder; `send()` on it makes the call.
///
/// # Cancel safety
/// Dropping the future of a call gives up the call. Whether the service has acted on it is then unknown: a sent
/// message may be in the queue, and received messages stay hidden until their visibility timeout.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

impl Client {
    /// A client with this configuration.
    ///
    /// What the configuration lacks (a region, credentials) shows as an error of the first call.
    pub fn from_conf(config: Config) -> Self {
        Self { shared: Arc::new(Shared::new(config)) }
    }

    /// A client that is configured by [environment variables](crate::config::Builder::from_env).
    ///
    /// # Errors
    /// A variable has a value that it cannot have.
    pub fn from_env() -> Result<Self, crate::config::EnvironmentError> {
        Ok(Self::from_conf(crate::config::Builder::from_env()?.build()))
    }

    /// A client with the configuration of the AWS SDK: every credential source that it knows.
    #[cfg(feature = "aws-config")]
    pub fn new(sdk_config: &aws_types::SdkConfig) -> Self {
        Self::from_conf(sdk_config.into())
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// A handle of one queue, for the calls that most programs make.
    pub fn queue(&self, url: impl Into<String>) -> Queue<Self> {
        Queue::new(self.clone(), url)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("config", &self.shared.config).finish_non_exhaustive()
    }
}
