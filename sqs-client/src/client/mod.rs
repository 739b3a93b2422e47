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

pub use execute::{Call, CallOptions, Execute, OperationError, Retries, Unopened};
#[cfg(feature = "sdk")]
pub(crate) use execute::{OperationOf, OutputOf};
pub use paginator::{Paginator, PaginatorItems};
#[cfg(feature = "aws-sdk-sqs")]
pub(crate) use pipeline::{attempt_timeout, verified};
pub use queue::Queue;

use shared::Shared;

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

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("config", &self.shared.config).finish_non_exhaustive()
    }
}
