//! The handle of the S3 server: its address and its journal.

use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use tokio::net::TcpListener;

use super::front::{Front, FrontSettings};
use super::journal::{Journal, S3Count, S3Request};
use super::setup::S3;
use super::store::Store;
use crate::http::{Guard, Limits, Server};
use crate::service::clock::Clock;
use crate::service::faults::Faults;
use crate::service::keys::Keys;
use crate::service::seed::Seed;

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
    pub(super) store: Arc<Store>,
    pub(super) clock: Clock,
    journal: Arc<Journal>,
}

/// What the S3 server takes over from the SQS server.
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    pub(crate) keys: Option<Keys>,
    pub(crate) guard: Guard,
    pub(crate) account: String,
    pub(crate) journal: usize,
}

impl MockS3 {
    /// Opens the directory, creates the initial buckets, and serves connections of `listener`.
    pub(crate) fn start(settings: S3, listener: TcpListener, url: String, host: Host) -> io::Result<Self> {
        let (directory, is_temporary) = settings.directory()?;
        let shown = directory.display().to_string();
        let opened = Store::open(directory, is_temporary, host.seed);
        let explain = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot keep objects in {shown}: {error}"))
        };
        let store = Arc::new(opened.map_err(explain)?);
        let journal = Arc::new(Journal::new(host.journal));
        let front = Front::new(FrontSettings {
            store: Arc::clone(&store),
            clock: host.clock.clone(),
            faults: host.faults,
            journal: Arc::clone(&journal),
            limits: host.limits,
            keys: host.keys,
            guard: host.guard,
            account: host.account,
            ids: host.seed.generator("request ids of S3"),
        });
        let content = Content { settings, store, clock: host.clock, journal };
        content.create_initial_buckets().map_err(explain)?;
        let server = Some(Server::start(listener, front, host.limits));
        Ok(Self { url, content: Arc::new(content), server })
    }

    /// For the reset of the SQS server, which must not keep S3 alive.
    pub(crate) fn content(&self) -> Weak<Content> {
        Arc::downgrade(&self.content)
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }
}

impl Content {
    fn create_initial_buckets(&self) -> io::Result<()> {
        let now = self.clock.now().as_millis();
        self.settings.buckets().into_iter().try_for_each(|name| self.store.create(name, now).map(drop))
    }

    /// Clears the journal, and the objects if the directory is temporary.
    pub(crate) fn reset(&self) {
        self.journal.clear();
        if let Err(error) = self.store.clear_temporary().and_then(|()| self.create_initial_buckets()) {
            tracing::error!(%error, "cannot create the initial buckets again");
        }
    }

    /// The requests in the journal, oldest first.
    pub(crate) fn requests(&self) -> Vec<S3Request> {
        self.journal.all()
    }

    /// Clears the journal and returns how many requests it held.
    pub(crate) fn forget(&self) -> usize {
        self.journal.clear()
    }

    /// The number of requests by operation and status.
    pub(crate) fn counts(&self) -> Vec<S3Count> {
        self.journal.counts()
    }

    /// The number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.journal.connections()
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
        self.content.requests()
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.content.connections()
    }
}
