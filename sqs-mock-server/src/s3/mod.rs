//! An S3 server next to the SQS server, for payloads that are too large for messages. It speaks HTTP, runs in the same
//! process and keeps objects in files.
//!
//! ```text
//! MockS3::start -> http/server -> front: HTTP, faults -> s3s: signatures, XML -> ops: one method per operation -> store: files
//!                                                                                 `-> outbox: events to queues and topics
//! ```
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use sqs_mock_server::MockSqs;
//! use sqs_mock_server::faults::Fault;
//! use sqs_mock_server::s3::{S3, S3Action};
//!
//! let server = MockSqs::builder().s3(S3::temporary().bucket("payloads")).start().await?;
//! let endpoint = server.s3().endpoint_url(); // for any S3 client
//!
//! // The next GetObject breaks off in the middle of the body.
//! server.faults().inject(Fault::truncate().on_s3(S3Action::GetObject).bucket("payloads").times(1));
//! assert_eq!(server.s3().count("payloads"), 0);
//! # let _ = endpoint;
//! # Ok(())
//! # }
//! ```

pub(crate) mod body;
pub(crate) mod front;
pub(crate) mod inspect;
pub(crate) mod notifications;
pub(crate) mod ops;
pub(crate) mod outbox;
pub(crate) mod store;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

use http::Extensions;
use hyper::body::Incoming;
use parking_lot::Mutex;
use s3s::path::check_bucket_name;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::control::arn::Resource;
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::faults::Faults;
use crate::control::faults::fault::Plan;
use crate::control::journal::Journal;
use crate::control::metrics::Exposition;
pub use crate::control::operation::S3Action;
use crate::control::operation::ServiceName;
use crate::control::seed::Seed;
use crate::http::body::Limits;
use crate::http::guard::Names;
use crate::http::server::Server;
use crate::http::tls::Acceptor;
use crate::s3::front::{Front, Metrics};
pub use crate::s3::inspect::{S3Object, S3Request, S3Upload};
use crate::s3::notifications::Configuration;
use crate::s3::ops::Operations;
use crate::s3::ops::list::Query;
use crate::s3::outbox::{Outbox, Targets};
use crate::s3::store::Store;
use crate::s3::store::bucket::Bucket;
use crate::s3::store::object::read_all;

/// The parts that the S3 server shares with the SQS server.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    pub(crate) tls: Option<Acceptor>,
    /// Its account owns all buckets.
    pub(crate) names: Arc<Names>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) targets: Arc<Targets>,
    /// Names of initial buckets with their notification configurations. Other buckets keep theirs.
    pub(crate) notifications: Vec<(String, Configuration)>,
}

/// A request: its ids for events, its operation and faults, and what its operation adds to the error and to the recorded
/// request.
#[derive(Debug, Default)]
pub(crate) struct RequestContext {
    /// The header `x-amz-request-id` of the response; empty without HTTP.
    id: String,
    /// The AWS X-Ray trace header.
    trace_header: Option<String>,
    /// The number of resets before the request.
    resets: u64,
    /// Set once s3s has found the operation.
    info: OnceLock<RequestInfo>,
    /// Set once the operation is known.
    plan: OnceLock<Plan>,
    /// The rest of a body that was not read to its end.
    rest: Mutex<Option<Incoming>>,
    /// Notes for the recorded request.
    notes: Mutex<Vec<String>>,
    /// Elements of the error that the operation returns, such as `ArgumentName`.
    error_elements: Mutex<Vec<(String, String)>>,
    /// Whether the response is ready, or the caller gone.
    is_answered: AtomicBool,
}

/// Operation and resource of a request.
#[derive(Debug)]
struct RequestInfo {
    /// The name that AWS uses.
    operation: String,
    resource: Option<Resource>,
}

impl RequestContext {
    /// The context of an HTTP request; without HTTP, one with an empty id.
    fn of(extensions: &Extensions) -> Arc<Self> {
        extensions.get::<Arc<Self>>().cloned().unwrap_or_default()
    }

    /// Adds an element, such as `ArgumentName`, to the error that the operation returns.
    fn add_error_element(&self, name: &str, value: &str) {
        self.error_elements.lock().push((name.to_owned(), value.to_owned()));
    }

    /// The header `x-amz-id-2` of the response.
    fn host_id(&self) -> String {
        base64_simd::STANDARD.encode_to_string(&self.id)
    }
}

/// The initial bucket if the settings list none.
pub(crate) const DEFAULT_BUCKET: &str = "payloads";

/// Settings of the S3 server.
///
/// ```
/// use sqs_mock_server::s3::S3;
///
/// let settings = S3::temporary().bucket("orders").bucket("audit");
/// # let _ = settings;
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct S3 {
    /// Whether S3 is served. The default is `true`.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Where objects are kept. The default is a temporary directory; for the binary, `s3` in the data directory if it has
    /// one.
    pub directory: Option<PathBuf>,
    /// Port to listen on; 0 takes a free one. The default is 0. The binary listens on 9325 if a directory is set, otherwise
    /// only on the port of SQS.
    pub port: Option<u16>,
    /// Initial buckets. If there are none, a bucket named `payloads` is created, unless S3 is
    /// [on demand](Self::on_demand).
    #[serde(default)]
    pub buckets: Vec<String>,
    /// Whether it starts without a port of its own and without the default bucket.
    #[serde(skip)]
    pub(crate) is_on_demand: bool,
}

fn yes() -> bool {
    true
}

impl S3 {
    /// Keeps objects in this directory and creates it if it is missing. A later server with the same directory has the
    /// same objects. Two servers must not use one directory at the same time.
    pub fn in_dir(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..Self::temporary() }
    }

    /// Keeps objects in a temporary directory, which is removed when the server stops. A later server removes that of a
    /// process that was killed.
    pub fn temporary() -> Self {
        Self { enabled: true, directory: None, port: None, buckets: Vec::new(), is_on_demand: false }
    }

    /// Serves S3 on the port of SQS only, unless [`port`](Self::port) sets one, and without an initial bucket, unless
    /// [`bucket`](Self::bucket) adds one. The first bucket creates the directory. So S3 costs nothing until it is used.
    pub fn on_demand(mut self) -> Self {
        self.is_on_demand = true;
        self
    }

    /// Sets the port, on the host of the SQS server. The default, 0, takes a free port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Adds an initial bucket, which is created if it is missing. The default is one bucket named `payloads`.
    pub fn bucket(mut self, name: impl Into<String>) -> Self {
        self.buckets.push(name.into());
        self
    }

    /// The port to listen on; `None` if S3 is only on the port of SQS.
    pub(crate) fn own_port(&self) -> Option<u16> {
        if self.is_on_demand { self.port } else { Some(self.port.unwrap_or(0)) }
    }

    /// The names of the initial buckets.
    pub(crate) fn buckets(&self) -> Vec<&str> {
        if self.buckets.is_empty() && !self.is_on_demand {
            vec![DEFAULT_BUCKET]
        } else {
            self.buckets.iter().map(String::as_str).collect()
        }
    }
}

/// Why a name is not a valid bucket name.
pub(crate) fn problem_of_bucket_name(name: &str) -> Option<String> {
    let text = || {
        format!(
            "{name:?} is not a valid bucket name; allowed are 3 to 63 characters of a-z, 0-9, - and ., with a letter or \
             digit at both ends"
        )
    };
    (!check_bucket_name(name)).then(text)
}

/// The S3 server, as returned by [`MockSqs::s3`](crate::mock::MockSqs::s3).
///
/// Its methods do not use HTTP: no fault affects them, and the journal does not show them.
#[derive(Debug)]
pub struct MockS3 {
    url: String,
    pub(crate) content: Arc<Content>,
    server: Option<Server>,
}

impl MockS3 {
    /// Opens the directory, creates the initial buckets, and serves connections of `listener`, if there is one. The front
    /// also answers requests of other connections.
    pub(crate) fn start(
        settings: S3,
        listener: Option<TcpListener>,
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
        let (limits, tls) = (host.limits, host.tls.clone());
        let content = Content { settings, host, operations, metrics };
        content.create_initial_buckets().map_err(explain)?;
        let server = listener.map(|listener| Server::start(listener, Arc::clone(&front), limits, tls));
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
    /// The base URL, such as `http://127.0.0.1:41235`, without a trailing slash. Without a port of its own, it is that of SQS.
    pub fn endpoint_url(&self) -> &str {
        &self.url
    }

    /// The directory of the objects, which exists once there is a bucket.
    pub fn directory(&self) -> &Path {
        &self.content.operations.store.root
    }

    /// The latest requests, oldest first; [`journal`](crate::mock::builder::MockSqsBuilder::journal) sets how many are kept.
    pub fn requests(&self) -> Vec<S3Request> {
        let records = self.content.host.journal.records();
        let own = records.iter().filter(|record| record.service == ServiceName::S3);
        own.map(|record| S3Request::from(&**record)).collect()
    }

    /// The number of open connections.
    // For the tests of sqs-extended.
    #[doc(hidden)]
    pub fn connections(&self) -> usize {
        self.content.metrics.connections.count()
    }
}

/// The parts of the S3 server that outlive a connection.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) settings: S3,
    pub(crate) host: Arc<Host>,
    pub(crate) operations: Operations,
    pub(crate) metrics: Arc<Metrics>,
}

impl Content {
    pub(crate) fn create_initial_buckets(&self) -> io::Result<()> {
        let (store, now) = (&self.operations.store, self.host.clock.now().as_millis());
        self.settings.buckets().into_iter().try_for_each(|name| store.create(name, None, now).map(drop))?;
        for (name, configuration) in &self.host.notifications {
            if let Some(bucket) = store.bucket(name) {
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
    ///
    /// # Errors
    /// A directory cannot be removed or created, or a kept one does not exist any more.
    pub(crate) fn reset(&self) -> io::Result<()> {
        let store = &self.operations.store;
        let cleared = store.clear_temporary();
        self.create_initial_buckets().and(cleared).and_then(|()| store.check_directories())
    }

    /// Writes the counters.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        self.metrics.write(text);
    }

    /// All buckets, sorted by name.
    pub(crate) fn describe_buckets(&self) -> Vec<Value> {
        let region = &self.host.names.region;
        self.operations.store.buckets().iter().map(|bucket| describe(bucket, region)).collect()
    }

    /// The names of all buckets with the numbers of their objects.
    pub(crate) fn sizes(&self) -> Vec<(String, usize)> {
        let buckets = self.operations.store.buckets();
        buckets.iter().map(|bucket| (bucket.name.clone(), bucket.objects(BTreeMap::len))).collect()
    }

    /// A page of at most `limit` objects whose key begins with `prefix` and follows `after`; `next` is the last key, except
    /// on the last page. `None` if there is no such bucket.
    pub(crate) fn describe_objects(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Option<Value> {
        let query = Query { prefix, delimiter: None, after, limit };
        let found = self.operations.store.bucket(bucket)?.objects(|all| query.page(all));
        let objects = found.rows.iter().map(|object| {
            json!({
                "key": object.key,
                "size": object.size(),
                "etag": object.etag,
                "modified": Timestamp::from_millis(object.modified).to_string(),
                "content_type": object.attributes.content_type,
            })
        });
        let mut page = json!({ "objects": objects.collect::<Vec<_>>() });
        if let Some(next) = found.next {
            page["next"] = next.into();
        }
        Some(page)
    }

    /// The size of an object and its first bytes, at most `at_most`. `None` if it does not exist.
    ///
    /// # Errors
    /// Its file cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn beginning(
        &self,
        bucket: &str,
        key: &str,
        at_most: u64,
    ) -> io::Result<Option<(u64, Vec<u8>)>> {
        let Some(object) = self.operations.store.bucket(bucket).and_then(|bucket| bucket.object(key)) else {
            return Ok(None);
        };
        let size = object.size();
        Ok(Some((size, read_all(&object, 0..size.min(at_most)).await?)))
    }
}

/// Describes a bucket of a server in this region.
fn describe(bucket: &Bucket, region: &str) -> Value {
    let (objects, bytes) =
        bucket.objects(|all| (all.len(), all.values().map(|object| object.size()).sum::<u64>()));
    let configuration = bucket.notifications();
    let rules = configuration.rules.iter().map(|rule| {
        json!({
            "id": rule.id,
            "target": rule.target.arn,
            "events": rule.events,
            "prefix": rule.filter.prefix,
            "suffix": rule.filter.suffix,
        })
    });
    json!({
        "name": bucket.name,
        "region": bucket.region(region),
        "created": Timestamp::from_millis(bucket.created).to_string(),
        "objects": objects,
        "bytes": bytes,
        "notifications": rules.collect::<Vec<_>>(),
    })
}
