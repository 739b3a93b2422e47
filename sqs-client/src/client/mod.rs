//! The client: actions, the call pipeline, paginators and queue handles.
//!
//! | | |
//! |---|---|
//! | [`Client`] | has a method for each of the 23 actions, which returns a builder that sends itself |
//! | [`Queue`] | a handle of one queue: send, receive, delete, change visibility with less to say |
//! | [`Paginator`] | all pages of the two lists, by `into_paginator()` on their builders |
//! | [`Execute`] | what clients and the layers over them have in common: run an operation |
//!
//! Layers such as those of `sqs-buffered` and `sqs-extended` take anything that is [`Execute`], and `sqs-extended` is it, so
//! that its client has the same builders:
//!
//! ```text
//! your code -> BufferedClient -> ExtendedClient -> Client -> Transport -> SQS
//!                   takes Execute      is and takes Execute      is Execute
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

pub use execute::{Call, CallOptions, Execute, OperationError, Retries};
#[cfg(feature = "sdk")]
pub(crate) use execute::{OperationOf, OutputOf};
pub use paginator::{Paginator, PaginatorItems};
#[cfg(feature = "aws-sdk-sqs")]
pub(crate) use pipeline::verified;
pub use queue::Queue;

use shared::Shared;

/// A client of Amazon SQS, or of a service that is compatible with it.
///
/// Cloning is cheap and clones share connections, credentials and the budget for retries: make one client for a
/// process. Each action has a method that returns a builder; `send()` on it makes the call.
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

    /// A client that is configured by [variables and profiles](crate::config::Builder::from_env). The first call gets the
    /// credentials.
    ///
    /// # Errors
    /// A setting has a value that is not allowed, a file cannot be read, or there is no such profile.
    pub fn from_env() -> Result<Self, crate::config::ConfigError> {
        Ok(Self::from_conf(crate::config::Builder::from_env()?.build()))
    }

    /// As [`from_env`](Self::from_env), and asks an EC2 instance for its region when nothing else names one; see
    /// [`Builder::load`](crate::config::Builder::load).
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub async fn load() -> Result<Self, crate::config::ConfigError> {
        Ok(Self::from_conf(crate::config::Builder::load().await?.build()))
    }

    /// A client with the configuration of the AWS SDK: every credential source that it knows, and its HTTP client if there
    /// is one. See [`Config::new`].
    #[cfg(feature = "aws-config")]
    pub fn new(sdk_config: &aws_types::SdkConfig) -> Self {
        Self::from_conf(sdk_config.into())
    }

    /// The same client with other settings, sharing what they leave alike.
    #[cfg(feature = "sdk")]
    pub(crate) fn with_config(&self, config: Config, same_credentials: bool) -> Self {
        Self { shared: Arc::new(self.shared.with_config(config, same_credentials)) }
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
