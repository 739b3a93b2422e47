//! The handle of the S3 server: its address and its journal.

use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use tokio::net::TcpListener;

use super::Host;
use super::content::Content;
use super::front::{Front, Metrics};
use super::ops::Operations;
use super::outbox::Outbox;
use super::setup::S3;
use super::store::Store;
use super::types::S3Request;
use crate::http::Server;
use crate::service::operation::ServiceName;

/// The S3 server, as returned by [`MockSqs::s3`](crate::MockSqs::s3).
///
/// Its methods do not use HTTP: no fault affects them, and the journal does not show them.
#[derive(Debug)]
pub struct MockS3 {
    url: String,
    pub(super) content: Arc<Content>,
    server: Option<Server>,
}

impl MockS3 {
    /// Opens the directory, creates the initial buckets, and serves connections of `listener`. The front also answers
    /// requests of other connections.
    pub(crate) fn start(
        settings: S3,
        listener: TcpListener,
        url: String,
        host: Host,
    ) -> io::Result<(Self, Arc<Front>)> {
        let directory = settings.directory.as_deref();
        let shown = directory.map_or("a temporary directory".to_owned(), |path| path.display().to_string());
        let explain = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot store objects in {shown}: {error}"))
        };
        let store = Arc::new(Store::open(directory, host.seed).map_err(explain)?);
        let (host, metrics) = (Arc::new(host), Arc::new(Metrics::default()));
        let outbox = Outbox::new(host.clock.clone(), host.names.region.clone(), Arc::clone(&host.targets));
        let operations = Operations { store, outbox };
        let front = Arc::new(Front::new(operations.clone(), Arc::clone(&metrics), Arc::clone(&host)));
        let limits = host.limits;
        let content = Content { settings, host, operations, metrics };
        content.create_initial_buckets().map_err(explain)?;
        let server = Some(Server::start(listener, Arc::clone(&front), limits));
        Ok((Self { url, content: Arc::new(content), server }, front))
    }

    /// For the reset of the SQS server, which must not keep S3 alive.
    pub(crate) fn content(&self) -> Weak<Content> {
        Arc::downgrade(&self.content)
    }

    /// Stops serving its connections.
    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }

    /// Delivers the remaining events. No server may serve requests to S3 any more.
    ///
    /// # Cancel safety
    /// If the future is dropped, the other events are not delivered.
    pub(crate) async fn drain(&self) {
        self.content.operations.outbox.drain().await;
    }
}

/// Address, directory and journal.
impl MockS3 {
    /// The base URL, such as `http://127.0.0.1:41235`, without a trailing slash.
    pub fn endpoint_url(&self) -> &str {
        &self.url
    }

    /// The directory of the objects.
    pub fn directory(&self) -> &Path {
        &self.content.operations.store.root
    }

    /// The first of the initial buckets.
    pub fn default_bucket(&self) -> &str {
        self.content.settings.buckets().first().copied().unwrap_or_default()
    }

    /// The latest requests, oldest first; [`journal`](crate::MockSqsBuilder::journal) sets how many are kept.
    pub fn requests(&self) -> Vec<S3Request> {
        let records = self.content.host.journal.records();
        let own = records.iter().filter(|record| record.service == ServiceName::S3);
        own.map(|record| S3Request::from(&**record)).collect()
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.content.metrics.connections.count()
    }
}
