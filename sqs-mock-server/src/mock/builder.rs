//! The builder of a server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::net::TcpListener;

use super::{IN_PROCESS_URL, MockSqs, Verification};
use crate::config::{Auth, Compat, Config};
use crate::http::{Limits, Server};
use crate::router::Router;
use crate::service::faults::Fault;
use crate::service::keys::Secret;
use crate::service::policies::Policies;
use crate::sqs::engine::{DeliveryMode, QuotaScope, ThroughputQuotas};
use crate::sqs::front::QueueUrlStyle;

/// Builds a [`MockSqs`] from its settings.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// use std::time::{Duration, UNIX_EPOCH};
///
/// use sqs_mock_server::faults::Fault;
///
/// let server = MockSqs::builder()
///     .region("eu-west-1")
///     .seed(7) // the same ids in every run
///     .clock_start(UNIX_EPOCH + Duration::from_secs(1_900_000_000))
///     .fault(Fault::throttle().probability(0.05))
///     .start()
///     .await?;
/// println!("{:?}", server.environment());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct MockSqsBuilder {
    config: Config,
    verification: Option<Verification>,
}

/// Later calls of the builder replace these settings.
impl From<Config> for MockSqsBuilder {
    fn from(config: Config) -> Self {
        Self { config, verification: None }
    }
}

impl MockSqsBuilder {
    /// Address or host name to listen on; `127.0.0.1` by default.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.config.host = Some(host.into());
        self
    }

    /// Port to listen on. The default, 0, takes a free port.
    pub fn port(mut self, port: u16) -> Self {
        self.config.port = Some(port);
        self
    }

    /// Also has the readiness check of another server, for tools that start that one. By default, it has none.
    pub fn compat(mut self, compat: Compat) -> Self {
        self.config.compat = Some(compat);
        self
    }

    /// Account of callers whose access key is not a 12-digit account number; `000000000000` by default.
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.config.account = Some(account.into());
        self
    }

    /// Region of callers that do not sign and whose host does not name a region; `us-east-1` by default.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.config.region = Some(region.into());
        self
    }

    /// Base of all queue URLs, such as `https://sqs.example.test`. By default it is the host that the caller
    /// used, so that the URLs work from inside and outside of containers.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.config.public_url = Some(url.into());
        self
    }

    /// How queue URLs name the region. By default they do not name it. [`public_url`](Self::public_url) overrides this.
    pub fn queue_url_style(mut self, style: QueueUrlStyle) -> Self {
        self.config.queue_url_style = style;
        self
    }

    /// Creates queues on first use, with default attributes, and as FIFO queues if their name ends in `.fifo`. By
    /// default requests to unknown queues fail, as on AWS.
    ///
    /// `GetQueueUrl` and every operation with a queue URL except `DeleteQueue` create queues. Requests with invalid
    /// names still fail, and so do requests to queues deleted less than 60 seconds ago.
    pub fn auto_create_queues(mut self) -> Self {
        self.config.auto_create = true;
        self
    }

    /// Removes waiting times that AWS requires and tests rarely need: 60 seconds between deleting a queue and creating
    /// one of the same name, and between two purges.
    pub fn relaxed_timing(mut self) -> Self {
        self.config.relaxed_timing = true;
        self
    }

    /// Reports requests that work here but are mistakes on AWS; [`FindingKind`](crate::inspect::FindingKind) lists
    /// them. Findings are in the [requests](MockSqs::requests) that caused them, in [`MockSqs::findings`], in
    /// [`MockSqs::verify`] and, as warnings, in the log. Off by default.
    pub fn strict(mut self) -> Self {
        self.config.strict = true;
        self
    }

    /// What access policies do. The default is [`Policies::Warn`].
    pub fn policies(mut self, policies: Policies) -> Self {
        self.config.policies = policies;
        self
    }

    /// Limits the calls to FIFO queues per second, from the start and after each [reset](MockSqs::reset). By default
    /// there are no quotas. `ThroughputQuotas::default()` has those of AWS. A later call adds a scope or replaces it;
    /// see [`MockSqs::set_throughput_quotas`].
    pub fn throughput_quotas(
        mut self,
        scope: QuotaScope,
        quotas: impl Into<Option<ThroughputQuotas>>,
    ) -> Self {
        match scope {
            QuotaScope::Server => self.config.throughput_quotas = quotas.into(),
            _ => self.config.quota_overrides.set(scope, quotas.into()),
        }
        self
    }

    /// How standard queues deliver. The default is [`DeliveryMode::Ordered`].
    pub fn delivery(mut self, delivery: DeliveryMode) -> Self {
        self.config.delivery = delivery;
        self
    }

    /// Makes random values repeatable: the same seed and the same calls produce the same ids.
    pub fn seed(mut self, seed: u64) -> Self {
        self.config.seed = Some(seed);
        self
    }

    /// The initial time of the clock. The default is the system time.
    pub fn clock_start(mut self, start: SystemTime) -> Self {
        self.config.clock_start = Some(start);
        self
    }

    /// Freezes the clock: only [`Clock::advance`](crate::clock::Clock::advance) and its siblings change it.
    pub fn clock_frozen(mut self) -> Self {
        self.config.clock_frozen = true;
        self
    }

    /// Requires a signature with one of these pairs of access key and secret, within five minutes of the system time.
    /// Other requests fail as on AWS. By default signatures are not verified.
    pub fn require_signatures<I, S>(mut self, keys: impl IntoIterator<Item = (I, S)>) -> Self
    where
        I: Into<String>,
        S: Into<String>,
    {
        self.config.auth = Auth::Sigv4;
        self.config.keys = keys.into_iter().map(|(id, secret)| (id.into(), secret.into().into())).collect();
        self
    }

    /// Lets web pages of this origin, such as `http://localhost:3000`, use the server and read its responses. By
    /// default pages of other sites can neither change nor read anything. Call it once for each origin.
    pub fn cors_origin(mut self, origin: impl Into<String>) -> Self {
        self.config.cors_origins.push(origin.into());
        self
    }

    /// Also accepts `/_mock`, `/metrics`, actions by GET, and S3 reads under this host name and its subdomains. IP
    /// addresses, names without a dot, and names that public DNS does not resolve, such as those in `localhost`,
    /// `internal`, `local` and `test`, are always accepted. Other names are rejected, since a web page could use them
    /// for DNS rebinding. Call it once for each name.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.config.allow_hosts.push(host.into());
        self
    }

    /// Requires this token on `/_mock` and `/_aws`, in the header `Authorization: Bearer <token>` or
    /// `x-sqs-mock-token`.
    pub fn admin_token(mut self, token: impl Into<String>) -> Self {
        self.config.admin_token = Some(Secret::from(token));
        self
    }

    /// Whether a page at `/_mock/console/` shows the server in a browser. The default is true.
    pub fn console(mut self, console: bool) -> Self {
        self.config.console = Some(console);
        self
    }

    /// How many of the latest requests [`MockSqs::requests`] keeps, with at most 16 MiB of their contents. The default
    /// is 1,000; 0 records none. The same limits apply to the messages that topics show as published.
    pub fn journal(mut self, capacity: usize) -> Self {
        self.config.journal = Some(capacity);
        self
    }

    /// Makes the drop of the server panic with a report if its queues still have messages. A drop during another panic
    /// does not panic. `Verification::default()` allows no leftover messages.
    pub fn verify_on_drop(mut self, rules: Verification) -> Self {
        self.verification = Some(rules);
        self
    }

    /// Adds an initial fault, which each [reset](MockSqs::reset) restores.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.config.faults.push(fault);
        self
    }

    /// Limits on connections, sizes and times. All except [`Limits::grace`] must be more than 0.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Also starts S3 on its own port, with its objects in this directory and a bucket `payloads`. Creates the
    /// directory if it is missing. Short for [`s3`](Self::s3) with [`S3::in_dir`](crate::s3::S3::in_dir).
    #[cfg(feature = "s3")]
    pub fn with_s3(self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.s3(crate::s3::S3::in_dir(directory))
    }

    /// Also starts S3, on its own port and on that of SQS.
    #[cfg(feature = "s3")]
    pub fn s3(mut self, settings: crate::s3::S3) -> Self {
        self.config.s3 = Some(settings);
        self
    }

    /// Starts from the settings and queues of a TOML file. Later calls replace settings of the file. Its queues are
    /// created when the server starts, before it accepts requests.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn from_file(path: impl AsRef<std::path::Path>) -> io::Result<Self> {
        Config::read(path).map(Self::from)
    }

    /// As [`from_file`](Self::from_file), from the text of a file.
    ///
    /// # Errors
    /// As [`Config::parse`].
    pub fn from_toml(text: &str) -> io::Result<Self> {
        Config::parse(text, "config").map(Self::from)
    }

    /// Keeps queues, messages and topics in a directory, and restores those of an earlier server. The directory is created
    /// if it is missing. Pass its path, or [`Data`](crate::Data) for other settings.
    ///
    /// A response is sent when its changes are stored. Changes by methods, such as [`MockSqs::reset`], are stored with
    /// the next request or at the stop. The clock is restored, too; [`clock_start`](Self::clock_start) has an effect only
    /// in an empty directory. Reading a directory with a million messages blocks the thread for seconds. Do not pause the clock of tokio. Outside of a runtime, restored move tasks do not continue.
    #[cfg(feature = "durable")]
    pub fn data_dir(mut self, data: impl Into<crate::Data>) -> Self {
        self.config.data = Some(data.into());
        self
    }

    /// Starts the server. It accepts requests when this returns.
    ///
    /// # Errors
    /// The server cannot listen on the address, or, as [`io::ErrorKind::InvalidInput`], a setting or a queue of the
    /// config file is invalid, or the data directory cannot be used.
    ///
    /// # Cancel safety
    /// If the future is dropped, no server is left running.
    pub async fn start(self) -> io::Result<MockSqs> {
        let config = self.config.checked()?;
        // Before it listens: a server with invalid queues must not accept connections.
        let (service, kept) = MockSqs::service(&config)?;
        let (host, port) = (config.host(), config.port.unwrap_or(0));
        let (listener, url) = listen(host, port).await?;
        let limits = config.limits;
        let mut mock = MockSqs::assemble(service, &config, url, self.verification, kept)?;
        #[cfg_attr(not(feature = "s3"), expect(unused_mut, reason = "only S3 changes it"))]
        let mut router = Router::new(Arc::clone(&mock.services), limits);
        #[cfg(feature = "s3")]
        if let Some(settings) = config.s3.clone() {
            let (listener, url) = listen(host, settings.port.unwrap_or(0)).await?;
            router.serve_s3(mock.start_s3(settings, listener, url, &config)?);
        }
        mock.server = Some(Server::start(listener, Arc::new(router), limits));
        Ok(mock)
    }

    /// Creates the server without a socket. Host, port, S3 and the connection limits do not apply.
    ///
    /// # Errors
    /// A setting or a queue of the config file is invalid, or the data directory cannot be used.
    pub fn in_process(self) -> io::Result<MockSqs> {
        let config = self.config.checked()?;
        let (service, kept) = MockSqs::service(&config)?;
        MockSqs::assemble(service, &config, IN_PROCESS_URL.to_owned(), self.verification, kept)
    }
}

/// A listening socket and its URL.
async fn listen(host: &str, port: u16) -> io::Result<(TcpListener, String)> {
    let listener = TcpListener::bind((host, port)).await.map_err(|error| explain(&error, host, port))?;
    let url = reachable_url(listener.local_addr()?);
    Ok((listener, url))
}

fn explain(error: &io::Error, host: &str, port: u16) -> io::Error {
    let text = match error.kind() {
        io::ErrorKind::AddrInUse => format!("port {port} of {host} is in use"),
        io::ErrorKind::PermissionDenied => format!("listening on port {port} of {host} is not permitted"),
        _ => format!("cannot listen on port {port} of {host}: {error}"),
    };
    io::Error::new(error.kind(), text)
}

/// The URL to connect to; for all interfaces, that of the loopback address.
fn reachable_url(address: SocketAddr) -> String {
    let loopback: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(loopback, address.port()))
}
