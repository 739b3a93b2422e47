//! The server in the hand of a test: started, asked, stopped.

mod builder;
mod queue;

use std::sync::Arc;

use aws_credential_types::Credentials;
use sqs_client::Client;
use sqs_client::config::{Config as ClientConfig, Region};

use crate::clock::Clock;
use crate::config::Config;
use crate::engine::QueueArn;
use crate::faults::Faults;
use crate::http::{Endpoint, InProcess, Keys, Names, QueueUrlStyle, Server};
use crate::ops::Service;

pub use builder::MockSqsBuilder;
pub use queue::QueueView;

/// Base URL of a server without a socket. `.invalid` never resolves, so that nothing meant for such a server
/// can reach a real one.
const IN_PROCESS_URL: &str = "http://in-process.invalid";

/// A running Amazon SQS of your own.
///
/// It starts empty, and what is in it goes when it is dropped. Dropping it cuts its connections, ends move tasks
/// and long polls, and leaves clients that use no socket without a server; [`shutdown`](Self::shutdown) lets
/// requests under way finish first.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_mock_server::MockSqs;
///
/// let server = MockSqs::start().await;
/// let client = server.client();
/// let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// assert_eq!(url, server.queue_url("orders"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MockSqs {
    service: Arc<Service>,
    endpoint: Arc<Endpoint>,
    url: String,
    account: String,
    region: String,
    credentials: Credentials,
    queue_url_style: QueueUrlStyle,
    server: Option<Server>,
}

impl MockSqs {
    /// Starts a server on a free port of the loopback interface. It accepts requests when this returns.
    ///
    /// # Panics
    /// No port can be had, which takes a machine without a loopback interface or a process without free file
    /// descriptors. [`MockSqsBuilder::start`] returns an error instead.
    pub async fn start() -> Self {
        match Self::builder().start().await {
            Ok(server) => server,
            Err(error) => panic!("no loopback port to listen on: {error}"),
        }
    }

    /// Makes a server without a socket, for [`client`](Self::client) and [`transport`](Self::transport).
    pub fn in_process() -> Self {
        Self::assemble(&Config::default(), IN_PROCESS_URL.to_owned())
    }

    /// For a server with other settings.
    pub fn builder() -> MockSqsBuilder {
        MockSqsBuilder::default()
    }

    /// Base URL of the server, such as `http://127.0.0.1:41234`, without a slash at its end.
    pub fn endpoint_url(&self) -> &str {
        &self.url
    }

    /// URL that a queue of this name has in the server's own account, whether it exists or not.
    pub fn queue_url(&self, name: &str) -> String {
        let base = self.queue_url_style.base(host_of(&self.url), &self.region);
        format!("{base}/{}/{name}", self.account)
    }

    /// A client of this server. It uses no socket; what it sends is encoded and signed all the same.
    pub fn client(&self) -> Client {
        Client::from_conf(self.client_config().build())
    }

    /// The settings of [`client`](Self::client), for changing some of them.
    pub fn client_config(&self) -> sqs_client::config::Builder {
        ClientConfig::builder()
            .region(Region::new(self.region.clone()))
            .credentials_provider(self.credentials.clone())
            .endpoint_url(&self.url)
            .transport(self.transport())
    }

    /// The way to the server without a socket.
    pub fn transport(&self) -> InProcess {
        InProcess::new(Arc::clone(&self.endpoint))
    }

    /// The clock that the queues live by. Advancing it makes timeouts, delays and retention pass.
    pub fn clock(&self) -> &Clock {
        self.service.clock()
    }

    /// What goes wrong on demand: refusals, lost and broken answers, latency.
    pub fn faults(&self) -> &Faults {
        self.service.faults()
    }

    /// A look into a queue of the server's own account and region, whether it exists or not.
    pub fn queue(&self, name: &str) -> QueueView<'_> {
        QueueView::new(&self.service, QueueArn::new(&self.region, &self.account, name))
    }

    /// Stops: no new connections, requests under way finish, long polls end at once with an empty answer.
    /// What takes longer than [`Limits::grace`](crate::Limits::grace) is cut.
    ///
    /// # Cancel safety
    /// Dropped before its end, the server stops at once.
    pub async fn shutdown(mut self) {
        self.endpoint.shut_down();
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }

    fn assemble(config: &Config, url: String) -> Self {
        let Config { account, region, public_url, queue_url_style, keys, .. } = config.clone();
        let service = Arc::new(Service::new(config));
        let key = keys.as_ref().and_then(Keys::first).unwrap_or(("test", "test"));
        let credentials = Credentials::new(key.0, key.1, None, None, "mock");
        let names = Names {
            account: account.clone(),
            region: region.clone(),
            public_url,
            queue_url_style,
            own_host: host_of(&url).to_owned(),
            keys,
        };
        let endpoint = Arc::new(Endpoint::new(Arc::clone(&service), names));
        Self { service, endpoint, url, account, region, credentials, queue_url_style, server: None }
    }
}

/// The host of a URL without a path.
fn host_of(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}

impl Drop for MockSqs {
    /// Clients without a socket share the endpoint, and move tasks the queues: both would outlive the server.
    fn drop(&mut self) {
        self.endpoint.shut_down();
    }
}

#[cfg(test)]
mod tests;
