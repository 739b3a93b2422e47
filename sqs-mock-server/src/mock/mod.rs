//! The embedded server: start, inspect, reset, stop.

pub(crate) mod builder;
pub(crate) mod queue;
pub(crate) mod queues;
#[cfg(feature = "s3")]
pub(crate) mod s3;
pub(crate) mod topics;
pub(crate) mod verification;

use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use sqs_client::Client;
use sqs_client::config::{Config as ClientConfig, Region};

use crate::config::file::invalid;
use crate::control::arn::QueueArn;
use crate::control::clock::Clock;
use crate::control::faults::Faults;
use crate::http::guard::Names;
use crate::http::server::Server;
use crate::mock::builder::{Kept, MockSqsBuilder};
use crate::mock::queue::QueueView;
use crate::mock::verification::Verification;
use crate::outgoing::log::OutgoingRequest;
use crate::router::InProcess;
use crate::services::Services;
use crate::sqs::findings::Finding;
use crate::sqs::journal::Requests;
use crate::sqs::service::Service;
use crate::triggers::{NotAdded, Trigger, TriggerDescription};

/// Base URL of a server without a socket. `.invalid` never resolves, so that requests to such a server cannot reach a
/// real one.
const IN_PROCESS_URL: &str = "http://in-process.invalid";

/// A running SQS server.
///
/// Without a config file and a data directory, it starts without queues, and its content is dropped with it. Dropping it closes connections, ends move tasks and
/// long polls, and makes requests of clients without a socket fail. [`shutdown`](Self::shutdown) lets requests in
/// progress finish first.
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
    credentials: Credentials,
    configured_queues: Vec<String>,
    configured_topics: Vec<crate::control::arn::TopicArn>,
    server: Option<Server>,
    grace: Duration,
    #[cfg(feature = "s3")]
    s3: Option<crate::s3::MockS3>,
    verification: Option<Verification>,
    /// Dropped last, so that it stores the last changes of everything above.
    #[cfg_attr(
        not(feature = "durable"),
        expect(dead_code, reason = "without data directories, it is empty")
    )]
    kept: Kept,
}

impl MockSqs {
    /// Starts a server on a free port of the loopback interface. It accepts requests when this returns.
    ///
    /// # Panics
    /// It cannot listen: the machine has no loopback interface, or the process has no free file descriptors.
    /// [`MockSqsBuilder::start`] returns an error instead.
    ///
    /// # Cancel safety
    /// If the future is dropped, no server is left running.
    pub async fn start() -> Self {
        match Self::builder().start().await {
            Ok(server) => server,
            Err(error) => panic!("cannot listen on a loopback port: {error}"),
        }
    }

    /// Creates a server without a socket, for [`client`](Self::client) and [`transport`](Self::transport).
    pub fn in_process() -> Self {
        match Self::builder().in_process() {
            Ok(server) => server,
            Err(error) => unreachable!("the default settings are valid: {error}"),
        }
    }

    /// SQS.
    #[cfg(feature = "explore")]
    pub(crate) fn sqs(&self) -> &Service {
        &self.service
    }

    fn names(&self) -> &Names {
        self.services.sqs.names()
    }

    /// Returns a builder, for other settings.
    pub fn builder() -> MockSqsBuilder {
        MockSqsBuilder::default()
    }

    /// The base URL of the server, such as `http://127.0.0.1:41234`, without a trailing slash.
    pub fn endpoint_url(&self) -> &str {
        &self.url
    }

    /// The base URL for HTTPS; `None` without [TLS](crate::mock::builder::MockSqsBuilder::tls).
    #[cfg(feature = "tls")]
    pub fn https_url(&self) -> Option<String> {
        let host = self.url.strip_prefix("http://")?;
        self.tls_root().map(|_| format!("https://{host}"))
    }

    /// The certificate that clients must trust, in PEM; `None` without [TLS](crate::mock::builder::MockSqsBuilder::tls). If the server has
    /// files, it is the file of the certificate.
    #[cfg(feature = "tls")]
    pub fn tls_root(&self) -> Option<&str> {
        self.services.tls_root.get().map(|root| &**root)
    }

    /// The URL of the queue with this name in the server's own account, whether it exists or not.
    pub fn queue_url(&self, name: &str) -> String {
        let (sqs, names) = (&self.services.sqs, self.names());
        format!("{}/{}/{name}", sqs.base_url("http", &names.own_host, &names.region), names.account)
    }

    /// Environment variables that direct an AWS SDK to this server, for example in a child process: the endpoint of each
    /// service that it has, region, and credentials.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![("AWS_ENDPOINT_URL_SQS", self.url.clone())];
        variables
            .extend(["AWS_ENDPOINT_URL_SNS", "AWS_ENDPOINT_URL_STS"].map(|name| (name, self.url.clone())));
        variables.extend([
            ("AWS_REGION", self.names().region.clone()),
            // For boto3, and version 1 of the AWS CLI.
            ("AWS_DEFAULT_REGION", self.names().region.clone()),
            ("AWS_ACCESS_KEY_ID", self.credentials.access_key_id().to_owned()),
            ("AWS_SECRET_ACCESS_KEY", self.credentials.secret_access_key().to_owned()),
        ]);
        #[cfg(feature = "s3")]
        variables.extend(self.s3_endpoint_url().map(|url| ("AWS_ENDPOINT_URL_S3", url.to_owned())));
        variables
    }

    /// The data directory, if the server has one.
    // For the binary.
    #[cfg(feature = "durable")]
    #[doc(hidden)]
    pub fn data(&self) -> Option<&crate::store::Data> {
        self.kept.store.as_ref().map(|store| &store.data)
    }

    /// URLs of the queues that the config file defines, in the order of the file.
    pub fn configured_queues(&self) -> &[String] {
        &self.configured_queues
    }

    /// A client of this server. It uses no socket, but encodes and signs its requests as usual.
    pub fn client(&self) -> Client {
        Client::from_conf(self.client_config().build())
    }

    /// The configuration of [`client`](Self::client), to change parts of it.
    pub fn client_config(&self) -> sqs_client::config::Builder {
        ClientConfig::builder()
            .region(Region::new(self.names().region.clone()))
            .credentials_provider(self.credentials.clone())
            .endpoint_url(&self.url)
            .transport(self.transport())
    }

    /// A transport that calls the server without a socket.
    pub fn transport(&self) -> InProcess {
        InProcess::new(Arc::clone(&self.services))
    }

    /// The clock of the queues. Advance it to let timeouts, delays and retention expire.
    pub fn clock(&self) -> &Clock {
        self.service.clock()
    }

    /// The fault injection of this server: errors, lost and damaged responses, latency.
    pub fn faults(&self) -> &Faults {
        self.service.faults()
    }

    /// A view of a queue in the server's own account and region, whether it exists or not.
    pub fn queue(&self, name: &str) -> QueueView<'_> {
        QueueView::new(&self.service, QueueArn::new(&self.names().region, &self.names().account, name))
    }

    /// The [latest](MockSqsBuilder::journal) requests to SQS. S3, SNS and STS have their own.
    pub fn requests(&self) -> Requests {
        Requests::of_sqs(&self.services.front.journal)
    }

    /// Requests since the start or the last reset that work here but are mistakes on AWS, at most the first 1,000
    /// of each kind, and of those of the one-minute rules the latest of each queue. Most kinds are looked for in
    /// [strict mode](MockSqsBuilder::strict) only.
    pub fn findings(&self) -> Vec<Arc<Finding>> {
        self.service.all_findings().0
    }

    /// The [latest](MockSqsBuilder::journal) requests that the server sent to web hooks and functions, oldest first, each when its
    /// answer had arrived. [`TopicView::deliveries`](crate::TopicView::deliveries) has those of one topic.
    pub fn deliveries(&self) -> Vec<Arc<OutgoingRequest>> {
        self.services.outgoing.log.all()
    }

    /// The [triggers](crate::Trigger) with what they have done: those of the builder and the config file, and then those that were
    /// added.
    pub fn triggers(&self) -> Vec<TriggerDescription> {
        self.services.triggers.describe()
    }

    /// Adds a trigger, as `POST /_mock/triggers` does. A reset removes it.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`](std::io::ErrorKind::InvalidInput): a setting is not valid, there is a trigger of the same queue and URL, or
    /// there are 1,000 triggers.
    pub fn add_trigger(&self, trigger: Trigger) -> std::io::Result<TriggerDescription> {
        self.services.triggers.add(&self.services, trigger).map_err(|NotAdded(why)| invalid(why))
    }

    /// The seed of all random values: ids, receipt handles, sequence numbers. Another server with the same
    /// [`seed`](MockSqsBuilder::seed) repeats them. A test that panics prints the seed.
    pub fn seed(&self) -> u64 {
        self.service.seed().0
    }

    /// Resets the server to its initial state: removes queues, topics, move tasks, recorded requests and findings, and
    /// ends long polls.
    ///
    /// - The clock returns to its start time, by default the system time, and is running or frozen as at the start.
    /// - Queues and topics of a config file, faults and throughput quotas of the builder are created again.
    /// - S3 objects are kept if a directory was configured for them, and removed otherwise. Events that are not delivered
    ///   yet are dropped.
    /// - Waiting receives return as if their queue was deleted; other requests in progress may fail in the same way.
    /// - Invocations of [triggers](crate::Trigger) are cut off. Triggers that were added later are removed, the others start anew.
    /// - Settings, connections and clients stay.
    /// - Ids do not repeat, so old receipt handles match no message of later queues.
    ///
    /// # Panics
    /// The files of S3 cannot be removed or created, or their directory does not exist any more.
    pub fn reset(&self) {
        if let Err(error) = self.services.reset() {
            panic!("{error}");
        }
    }

    /// The response of `GET /metrics`: metrics in the text format of Prometheus.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn metrics(&self) -> String {
        self.services.metrics().await.into_text()
    }

    /// Stops the server gracefully: it accepts no new connections, lets requests, requests to web hooks and invocations of
    /// [triggers](crate::Trigger) in progress finish, and ends long polls with an empty response. Those that take longer than
    /// [`Limits::grace`](crate::http::body::Limits::grace) are cut
    /// off.
    ///
    /// # Cancel safety
    /// If the future is dropped, the server stops immediately.
    pub async fn shutdown(mut self) {
        self.services.triggers.end();
        self.services.sqs.service().shut_down();
        let server = self.server.take();
        let stop = async move {
            if let Some(server) = server {
                server.stop().await;
            }
        };
        let services = Arc::clone(&self.services);
        let stop = async move {
            tokio::join!(stop, services.triggers.all_ended());
        };
        #[cfg(feature = "s3")]
        let mut s3 = self.s3.take();
        #[cfg(feature = "s3")]
        let stop = async move {
            let Some(s3) = &mut s3 else { return stop.await };
            tokio::join!(stop, s3.stop());
            s3.drain().await;
        };
        stop.await;
        // Messages for web hooks that do not answer in time are lost without a data directory.
        let _ = tokio::time::timeout(self.grace, self.services.sns.actions.hooks.finish()).await;
        #[cfg(feature = "durable")]
        {
            // Closing a data directory may wait for the disk.
            let kept = std::mem::take(&mut self.kept);
            let _ = tokio::task::spawn_blocking(move || drop(kept)).await;
        }
    }
}

#[cfg(test)]
#[path = "mock_tests.rs"]
mod tests;
