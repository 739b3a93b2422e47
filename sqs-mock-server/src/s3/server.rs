//! The handle of the S3 server: its address and its journal.

use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use tokio::net::TcpListener;

use super::front::{Access, Front, FrontSettings, Observers};
use super::journal::S3Request;
use super::metrics::Metrics;
use super::notifications::Configuration;
use super::ops::Operations;
use super::outbox::{Outbox, Running, Targets};
use super::setup::S3;
use super::store::Store;
use crate::http::{Limits, Names, Server};
use crate::service::clock::Clock;
use crate::service::faults::Faults;
use crate::service::journal::Journal;
use crate::service::metrics::Exposition;
use crate::service::seed::Seed;

/// The S3 server, as returned by [`MockSqs::s3`](crate::MockSqs::s3).
///
/// Its methods do not use HTTP: no fault affects them, and the journal does not show them.
#[derive(Debug)]
pub struct MockS3 {
    url: String,
    pub(super) content: Arc<Content>,
    server: Option<Server>,
    /// Delivers events.
    worker: Option<Running>,
}

/// The parts that a reset changes.
#[derive(Debug)]
pub(crate) struct Content {
    settings: S3,
    notifications: Vec<(String, Configuration)>,
    pub(super) store: Arc<Store>,
    pub(super) operations: Operations,
    pub(super) clock: Clock,
    journal: Arc<Journal>,
    metrics: Arc<Metrics>,
}

/// The parts that the S3 server shares with the SQS server.
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    pub(crate) names: Arc<Names>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) targets: Targets,
    /// Names of initial buckets with their notification configurations. Other buckets keep theirs.
    pub(crate) notifications: Vec<(String, Configuration)>,
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
        let (directory, is_temporary) = settings.directory()?;
        let shown = directory.display().to_string();
        let opened = Store::open(directory, is_temporary, host.seed);
        let explain = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot store objects in {shown}: {error}"))
        };
        let store = Arc::new(opened.map_err(explain)?);
        let metrics = Arc::new(Metrics::default());
        let targets = Arc::new(host.targets);
        let (outbox, worker) =
            Outbox::new(host.clock.clone(), host.names.region.clone(), Arc::clone(&targets));
        let operations = Operations::new(Arc::clone(&store), host.clock.clone(), outbox, targets);
        let front = Front::new(FrontSettings {
            store: Arc::clone(&store),
            operations: operations.clone(),
            access: Access {
                faults: host.faults,
                clock: host.clock.clone(),
                account: host.names.account.clone(),
                region: host.names.region.clone(),
                allows_anonymous: host.names.keys.is_none(),
            },
            observers: Observers {
                metrics: Arc::clone(&metrics),
                journal: Arc::clone(&host.journal),
                clock: host.clock.clone(),
            },
            limits: host.limits,
            keys: host.names.keys.clone(),
            guard: host.names.guard.clone(),
            ids: host.seed.generator("request ids of S3"),
        });
        let Host { clock, journal, notifications, .. } = host;
        let content = Content { settings, notifications, store, operations, clock, journal, metrics };
        content.create_initial_buckets().map_err(explain)?;
        let (content, front) = (Arc::new(content), Arc::new(front));
        let server = Some(Server::start(listener, Arc::clone(&front), host.limits));
        Ok((Self { url, content, server, worker: Some(worker.start()) }, front))
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
    pub(crate) async fn drain(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.stop().await;
        }
    }
}

impl Content {
    fn create_initial_buckets(&self) -> io::Result<()> {
        let now = self.clock.now().as_millis();
        self.settings.buckets().into_iter().try_for_each(|name| self.store.create(name, now).map(drop))?;
        for (name, configuration) in &self.notifications {
            if let Some(bucket) = self.store.bucket(name) {
                bucket.set_notifications::<io::Error>(configuration.clone())?;
            }
        }
        Ok(())
    }

    /// Drops the events that are not delivered yet.
    pub(crate) fn discard_events(&self) {
        self.operations.discard_events();
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
        S3Request::all(&self.content.journal)
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.content.metrics.connections.count()
    }
}
