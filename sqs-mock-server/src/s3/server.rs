//! The handle of the S3 server: its address and its journal.

use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use tokio::net::TcpListener;

use super::front::Front;
use super::host::Host;
use super::journal::S3Request;
use super::metrics::Metrics;
use super::ops::Operations;
use super::outbox::Outbox;
use super::setup::S3;
use super::store::Store;
use crate::http::Server;
use crate::service::metrics::Exposition;

/// The S3 server, as returned by [`MockSqs::s3`](crate::MockSqs::s3).
///
/// Its methods do not use HTTP: no fault affects them, and the journal does not show them.
#[derive(Debug)]
pub struct MockS3 {
    url: String,
    pub(super) content: Arc<Content>,
    server: Option<Server>,
}

/// The parts that a reset changes.
#[derive(Debug)]
pub(crate) struct Content {
    settings: S3,
    pub(super) host: Arc<Host>,
    pub(super) store: Arc<Store>,
    pub(super) operations: Operations,
    metrics: Arc<Metrics>,
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
        let operations = Operations { store: Arc::clone(&store), outbox };
        let front = Arc::new(Front::new(operations.clone(), Arc::clone(&metrics), Arc::clone(&host)));
        let limits = host.limits;
        let content = Content { settings, host, store, operations, metrics };
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

impl Content {
    fn create_initial_buckets(&self) -> io::Result<()> {
        let now = self.host.clock.now().as_millis();
        self.settings.buckets().into_iter().try_for_each(|name| self.store.create(name, now).map(drop))?;
        for (name, configuration) in &self.host.notifications {
            if let Some(bucket) = self.store.bucket(name) {
                bucket.set_notifications(configuration.clone())?;
            }
        }
        Ok(())
    }

    /// Drops the events that are not delivered yet.
    pub(crate) fn discard_events(&self) {
        self.operations.outbox.discard();
    }

    /// Removes the objects if the directory is temporary.
    pub(crate) fn reset(&self) {
        if let Err(error) = self.store.clear_temporary().and_then(|()| self.create_initial_buckets()) {
            tracing::error!(%error, "cannot create the initial buckets again");
        }
    }

    /// Writes the counters.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        self.metrics.write(text);
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
        self.content.store.root()
    }

    /// The first of the initial buckets.
    pub fn default_bucket(&self) -> &str {
        self.content.settings.buckets().first().copied().unwrap_or_default()
    }

    /// The latest requests, oldest first; [`journal`](crate::MockSqsBuilder::journal) sets how many are kept.
    pub fn requests(&self) -> Vec<S3Request> {
        S3Request::all(&self.content.host.journal)
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.content.metrics.connections.count()
    }
}
