//! The server in the hand of a test: started, asked, stopped.

mod assemble;
mod builder;
mod farewell;
mod messages;
mod queue;
#[cfg(feature = "config-file")]
mod queues;
#[cfg(feature = "s3")]
mod s3;
mod throughput;
mod verification;
mod wait;

use std::sync::Arc;

use aws_credential_types::Credentials;
use sqs_client::Client;
use sqs_client::config::{Config as ClientConfig, Region};

use crate::config::Config;
use crate::http::Server;
use crate::router::InProcess;
use crate::service::arn::QueueArn;
use crate::service::clock::Clock;
use crate::service::faults::Faults;
use crate::services::Services;
use crate::sqs::findings::Finding;
use crate::sqs::front::QueueUrlStyle;
use crate::sqs::journal::Requests;
use crate::sqs::ops::Service;

use assemble::{empty_service, host_of};
pub use builder::MockSqsBuilder;
pub use queue::QueueView;
pub use verification::{Leftover, LeftoverKind, Leftovers, Verification};
pub use wait::Unmet;

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
    services: Arc<Services>,
    url: String,
    account: String,
    region: String,
    credentials: Credentials,
    queue_url_style: QueueUrlStyle,
    configured_queues: Vec<String>,
    server: Option<Server>,
    #[cfg(feature = "s3")]
    s3: Option<crate::s3::MockS3>,
    verification: Option<Verification>,
}

impl MockSqs {
    /// Starts a server on a free port of the loopback interface. It accepts requests when this returns.
    ///
    /// # Panics
    /// No port can be had, which takes a machine without a loopback interface or a process without free file
    /// descriptors. [`MockSqsBuilder::start`] returns an error instead.
    ///
    /// # Cancel safety
    /// Dropped before its end, no server is left.
    pub async fn start() -> Self {
        match Self::builder().start().await {
            Ok(server) => server,
            Err(error) => panic!("no loopback port to listen on: {error}"),
        }
    }

    /// Makes a server without a socket, for [`client`](Self::client) and [`transport`](Self::transport).
    pub fn in_process() -> Self {
        let config = Config::default();
        Self::assemble(empty_service(&config), &config, IN_PROCESS_URL.to_owned(), None)
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

    /// The environment that leads an AWS SDK to this server, such as that of a process that is to be tested:
    /// endpoint, region and credentials, and the endpoint of S3 where there is one.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let sqs = [
            ("AWS_ENDPOINT_URL_SQS", self.url.clone()),
            ("AWS_REGION", self.region.clone()),
            ("AWS_ACCESS_KEY_ID", self.credentials.access_key_id().to_owned()),
            ("AWS_SECRET_ACCESS_KEY", self.credentials.secret_access_key().to_owned()),
        ];
        #[cfg(feature = "s3")]
        let sqs =
            sqs.into_iter().chain(self.s3_endpoint_url().map(|url| ("AWS_ENDPOINT_URL_S3", url.to_owned())));
        sqs.into_iter().collect()
    }

    /// URLs of the queues that its config file has made, in the order of the file.
    pub fn configured_queues(&self) -> &[String] {
        &self.configured_queues
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
        InProcess::new(Arc::clone(&self.services))
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

    /// The [latest](MockSqsBuilder::journal) requests to SQS.
    pub fn requests(&self) -> Requests {
        Requests::of_sqs(&self.services.journal)
    }

    /// What strict mode has found since the start or the last reset: the first 1,000. None without
    /// [strict mode](MockSqsBuilder::strict).
    pub fn findings(&self) -> Vec<Arc<Finding>> {
        self.service.all_findings().map(|(findings, _)| findings).unwrap_or_default()
    }

    /// The number that everything random in this run comes from: ids, handles, sequence numbers. With
    /// [`seed`](MockSqsBuilder::seed) of the same number another run gives the same. A test that fails while it holds
    /// a server prints it.
    pub fn seed(&self) -> u64 {
        self.service.seed().0
    }

    /// Restores the state at the start: deletes queues, ends move tasks and long polls, forgets recorded requests and
    /// findings, and sets the clock to its initial time, running or frozen as then. Queues of a config file, faults and
    /// throughput quotas of the builder are created again. Objects in S3 stay if a directory was given for them.
    ///
    /// Receives that wait are answered as when their queue is deleted, and other running requests may be, too. Settings,
    /// connections and clients stay. Ids continue, so that receipt handles from before fit no message of later queues.
    pub fn reset(&self) {
        self.services.reset();
    }

    /// What `GET /metrics` answers: counters and gauges in the text format of Prometheus.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    pub async fn metrics(&self) -> String {
        self.services.metrics().await.into_text()
    }

    /// Stops: no new connections, requests under way finish, long polls end at once with an empty answer.
    /// What takes longer than [`Limits::grace`](crate::Limits::grace) is cut.
    ///
    /// # Cancel safety
    /// Dropped before its end, the server stops at once.
    pub async fn shutdown(mut self) {
        self.services.sqs.shut_down();
        let server = self.server.take();
        let stop = async move {
            if let Some(server) = server {
                server.stop().await;
            }
        };
        #[cfg(feature = "s3")]
        if let Some(mut s3) = self.s3.take() {
            tokio::join!(stop, s3.stop());
            return;
        }
        stop.await;
    }
}

#[cfg(test)]
mod tests;
