//! The S3 beside SQS in the hand of a test: its address, and what it was asked.

use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use tokio::net::TcpListener;

use super::front::{Front, Parts};
use super::journal::{Journal, S3Count, S3Request};
use super::setup::S3;
use super::store::Store;
use crate::clock::Clock;
use crate::faults::Faults;
use crate::http::{Keys, Limits, Server};
use crate::seed::Seed;

/// The S3 beside SQS, as [`MockSqs::s3`](crate::MockSqs::s3) gives it.
///
/// What it shows is not asked for over HTTP: it strikes no fault, and is no request.
#[derive(Debug)]
pub struct MockS3 {
    url: String,
    pub(super) content: Arc<Content>,
    server: Option<Server>,
}

/// What a reset makes anew.
#[derive(Debug)]
pub(crate) struct Content {
    settings: S3,
    pub(super) store: Arc<Store>,
    pub(super) clock: Clock,
    journal: Arc<Journal>,
}

/// What S3 needs of the server that it is beside.
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    pub(crate) keys: Option<Keys>,
    pub(crate) account: String,
    pub(crate) journal: usize,
}

impl MockS3 {
    /// Opens the directory, creates buckets, and serves connections of `listener`.
    pub(crate) fn start(settings: S3, listener: TcpListener, url: String, host: Host) -> io::Result<Self> {
        let (directory, is_temporary) = settings.directory()?;
        let shown = directory.display().to_string();
        let opened = Store::open(directory, is_temporary, host.seed);
        let explain = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot keep objects in {shown}: {error}"))
        };
        let store = Arc::new(opened.map_err(explain)?);
        let journal = Arc::new(Journal::new(host.journal));
        let front = Front::new(Parts {
            store: Arc::clone(&store),
            clock: host.clock.clone(),
            faults: host.faults,
            journal: Arc::clone(&journal),
            limits: host.limits,
            keys: host.keys,
            account: host.account,
            ids: host.seed.generator("request ids of S3"),
        });
        let content = Content { settings, store, clock: host.clock, journal };
        content.furnish().map_err(explain)?;
        let server = Some(Server::start(listener, front, host.limits));
        Ok(Self { url, content: Arc::new(content), server })
    }

    /// For whoever resets the server. It is gone with this.
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
    fn furnish(&self) -> io::Result<()> {
        let now = self.clock.now().as_millis();
        self.settings.buckets().into_iter().try_for_each(|name| self.store.create(name, now).map(drop))
    }

    /// Forgets requests, and what is in a temporary directory.
    pub(crate) fn reset(&self) {
        self.journal.clear();
        if let Err(error) = self.store.clear_temporary().and_then(|()| self.furnish()) {
            tracing::error!(%error, "the buckets of the start cannot be made again");
        }
    }

    /// The latest requests, from the oldest on.
    pub(crate) fn requests(&self) -> Vec<S3Request> {
        self.journal.all()
    }

    /// Forgets requests, and says how many that were.
    pub(crate) fn forget(&self) -> usize {
        self.journal.clear()
    }

    /// How many requests there were, by operation and status.
    pub(crate) fn counts(&self) -> Vec<S3Count> {
        self.journal.counts()
    }

    /// How many connections are open.
    pub(crate) fn connections(&self) -> usize {
        self.journal.connections()
    }
}

/// Where it is, and what it was asked.
impl MockS3 {
    /// Base URL, such as `http://127.0.0.1:41235`, without a slash at its end.
    pub fn endpoint_url(&self) -> &str {
        &self.url
    }

    /// Where objects are kept.
    pub fn directory(&self) -> &Path {
        self.content.store.root()
    }

    /// The first of the buckets that are there from the start.
    pub fn default_bucket(&self) -> &str {
        self.content.settings.buckets().first().copied().unwrap_or_default()
    }

    /// The latest requests, from the oldest on: as many as [`journal`](crate::MockSqsBuilder::journal) says.
    pub fn requests(&self) -> Vec<S3Request> {
        self.content.requests()
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.content.connections()
    }
}
