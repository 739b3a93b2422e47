//! The builder of a server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
#[cfg(any(feature = "s3", feature = "tls"))]
use std::sync::OnceLock;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use tokio::net::TcpListener;

use crate::config::{Auth, Compat, Config};
use crate::control::caller::{Keys, Secret};
use crate::control::delivery::Queues;
use crate::control::faults::fault::Fault;
use crate::control::journal::{DEFAULT_CAPACITY, Journal};
use crate::control::policies::Policies;
use crate::front::Front;
use crate::http::body::Limits;
use crate::http::guard::{Guard, Names, name_of};
use crate::http::server::Server;
#[cfg(feature = "tls")]
use crate::http::tls::Acceptor;
use crate::mock::verification::Verification;
use crate::mock::{IN_PROCESS_URL, MockSqs, queues};
use crate::outgoing::Outgoing;
use crate::outgoing::connect::Connector;
use crate::outgoing::guard::Destinations;
use crate::query::Query;
use crate::router::Router;
use crate::services::{InitialState, Services};
#[cfg(feature = "durable")]
use crate::sns::Restored;
use crate::sns::{self, Sns};
use crate::sqs::engine::throughput::{QuotaScope, QuotaTable, ThroughputQuotas};
use crate::sqs::engine::{DeliveryMode, Settings};
use crate::sqs::front::Endpoint;
use crate::sqs::locked_queue::ChangeReader;
use crate::sqs::queue_url::QueueUrlStyle;
use crate::sqs::service::{Service, Start};
#[cfg(feature = "durable")]
use crate::store::Store;
use crate::sts::Sts;
use crate::triggers::{Trigger, Triggers};

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

    /// Creates queues and topics on first use, with default attributes, and as FIFO queues and topics if their name ends in `.fifo`. By
    /// default requests to unknown ones fail, as on AWS.
    ///
    /// `GetQueueUrl` and every operation with a queue URL except `DeleteQueue` create queues. `Publish`, `PublishBatch` and
    /// `Subscribe` create topics. Requests with invalid names still fail, and so do requests to queues deleted less than 60
    /// seconds ago with [`one_minute_rules`](Self::one_minute_rules).
    pub fn auto_create(mut self) -> Self {
        self.config.auto_create = true;
        self
    }

    /// Sets whether 60 seconds must pass, as on AWS, between deleting a queue and creating one of the same name
    /// (`QueueDeletedRecently`), and between two purges (`PurgeQueueInProgress`). [`strict`](Self::strict) implies it, unless this
    /// is `false`.
    ///
    /// By default these requests succeed. A [finding](crate::inspect::FindingKind::OneMinuteRule) then tells what AWS would
    /// have answered; [`Verification::deny_finding`](crate::Verification::deny_finding) makes tests fail on it.
    pub fn one_minute_rules(mut self, enforced: bool) -> Self {
        self.config.one_minute_rules = Some(enforced);
        self
    }

    /// Reports requests that work here but are mistakes on AWS; [`FindingKind`](crate::inspect::FindingKind) lists
    /// them. Enforces the [`one_minute_rules`](Self::one_minute_rules). Findings are in the [requests](MockSqs::requests) that caused them, in [`MockSqs::findings`], in
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

    /// Freezes the clock: only [`Clock::advance`](crate::control::clock::Clock::advance) and its siblings change it.
    pub fn clock_frozen(mut self) -> Self {
        self.config.clock_frozen = Some(true);
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

    /// Also sends notifications to web hooks and invocations to functions on this host, network or address, such as
    /// `hooks.example.com`, `10.0.0.0/8` or `192.0.2.7`, or in all private networks, for `private`. By default only loopback
    /// addresses get any. Addresses of metadata services, such as `169.254.169.254`, never do. Call it once for each.
    pub fn deliver_to(mut self, destination: impl Into<String>) -> Self {
        self.config.deliver_to.push(destination.into());
        self
    }

    /// Adds a trigger: messages of its queue invoke its function. A [reset](MockSqs::reset) restarts it. Call it once for each.
    ///
    /// Triggers need a tokio runtime. Those of a server that [`in_process`](Self::in_process) creates outside of one do not run.
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.config.triggers.push(trigger);
        self
    }

    /// Requires this token on `/_mock`, `/_aws` and `/_localstack`, in the header `Authorization: Bearer <token>` or
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
    /// if it is missing. Pass its path, or [`Data`](crate::store::Data) for other settings.
    ///
    /// A response is sent when its changes are stored. Changes by methods, such as [`MockSqs::reset`], are stored with
    /// the next request or at the stop. The clock is restored, too; [`clock_start`](Self::clock_start) has an effect only
    /// in an empty directory. Reading a directory with a million messages blocks the thread for seconds. Do not pause the clock of tokio. Outside of a runtime, restored move tasks do not continue.
    #[cfg(feature = "durable")]
    pub fn data_dir(mut self, data: impl Into<crate::store::Data>) -> Self {
        self.config.data = Some(data.into());
        self
    }

    /// Also serves HTTPS, on the port of HTTP. A generated certificate is valid for `localhost` and its subdomains, the loopback addresses,
    /// the [host](Self::host), the host of the [public URL](Self::public_url) and the [allowed hosts](Self::allow_host). Clients must trust
    /// [`MockSqs::tls_root`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use sqs_mock_server::{MockSqs, Tls};
    ///
    /// let server = MockSqs::builder().tls(Tls::default()).start().await?;
    /// let url = server.https_url().unwrap(); // https://127.0.0.1:41234
    /// std::fs::write(std::env::temp_dir().join("root.pem"), server.tls_root().unwrap())?; // for AWS_CA_BUNDLE
    /// # assert!(url.starts_with("https://127.0.0.1:"));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::http::tls::Tls) -> Self {
        self.config.tls = Some(tls);
        self
    }

    /// The settings for a run that repeats: this seed, and the same start of the clock.
    #[cfg(feature = "explore")]
    pub(crate) fn repeatable(mut self, seed: u64) -> Self {
        let start = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000);
        self.config.clock_start.get_or_insert(start);
        self.seed(seed)
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
        #[cfg(feature = "tls")]
        let (acceptor, root) = load_tls(&config)?;
        #[cfg(not(feature = "tls"))]
        let acceptor = None;
        let mut mock = MockSqs::assemble(service, &config, url, self.verification, kept)?;
        #[cfg_attr(not(feature = "s3"), expect(unused_mut, reason = "only S3 changes it"))]
        let mut router = Router::new(Arc::clone(&mock.services), limits);
        #[cfg(feature = "s3")]
        if let Some(settings) = config.s3.clone().filter(|s3| s3.enabled) {
            let (listener, url) = match settings.own_port() {
                Some(port) => {
                    let explain = |error: io::Error| io::Error::new(error.kind(), format!("S3: {error}"));
                    let (listener, url) = listen(host, port).await.map_err(explain)?;
                    (Some(listener), url)
                }
                None => (None, mock.url.clone()),
            };
            router.serve_s3(mock.start_s3(settings, listener, url, &config, acceptor.clone())?);
        }
        #[cfg(feature = "tls")]
        if let Some(root) = root {
            // Nothing else sets it.
            mock.services.outgoing.trust(&root);
            let _ = mock.services.tls_root.set(root);
        }
        mock.server = Some(Server::start(listener, Arc::new(router), limits, acceptor));
        mock.services.triggers.start(&mock.services);
        Ok(mock)
    }

    /// Creates the server without a socket. Host, port, S3 and the connection limits do not apply; TLS is checked only.
    ///
    /// # Errors
    /// A setting or a queue of the config file is invalid, or the data directory cannot be used.
    pub fn in_process(self) -> io::Result<MockSqs> {
        let config = self.config.checked()?;
        #[cfg(feature = "tls")]
        load_tls(&config)?;
        let (service, kept) = MockSqs::service(&config)?;
        let mock = MockSqs::assemble(service, &config, IN_PROCESS_URL.to_owned(), self.verification, kept)?;
        mock.services.triggers.start(&mock.services);
        Ok(mock)
    }
}

/// What accepts encrypted connections, and the root that clients must trust, if the server has TLS.
#[cfg(feature = "tls")]
fn load_tls(config: &Config) -> io::Result<(Option<Acceptor>, Option<Box<str>>)> {
    let public = config.public_url.as_ref().and_then(|url| url.parse::<http::Uri>().ok());
    let public = public.as_ref().and_then(http::Uri::host).map(str::to_owned);
    let hosts: Vec<_> =
        [config.host().to_owned()].into_iter().chain(config.allow_hosts.clone()).chain(public).collect();
    let loaded = config.tls.as_ref().map(|tls| tls.load(&hosts, config.region())).transpose()?;
    Ok(loaded.map(|loaded| (loaded.acceptor, loaded.root)).unzip())
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

impl MockSqs {
    /// A service with its initial queues and faults.
    pub(crate) fn service(config: &Config) -> io::Result<(Service, Kept)> {
        let (service, kept) = service(config)?;
        create_initial_state(&service, config)?;
        Ok((service, kept))
    }

    /// # Errors
    /// [`io::ErrorKind::InvalidInput`]: a topic or subscription of the config file is refused.
    pub(crate) fn assemble(
        service: Service,
        config: &Config,
        url: String,
        verification: Option<Verification>,
        mut kept: Kept,
    ) -> io::Result<Self> {
        let service = Arc::new(service);
        let keys = (config.auth == Auth::Sigv4).then(|| Keys(config.keys.clone()));
        let key = keys.as_ref().and_then(Keys::first).unwrap_or(("test", "test"));
        let credentials = Credentials::new(key.0, key.1, None, None, "mock");
        let own_host = host_of(&url).to_owned();
        let names = Arc::new(Names {
            account: config.account().to_owned(),
            region: config.region().to_owned(),
            public_url: config.public_url.clone(),
            guard: guard(config, &own_host),
            own_host,
            keys,
        });
        let journal = Arc::new(Journal::new(journal_capacity(config)));
        // The settings were checked before.
        let destinations = Destinations::parse(&config.deliver_to).unwrap_or_default();
        let outgoing = Arc::new(Outgoing::new(Connector::new(destinations), journal_capacity(config)));
        let (sns, sts) = topics(&service, &names, &journal, &outgoing, config, &mut kept);
        crate::mock::topics::create(&sns.actions, config)?;
        let endpoint = Endpoint::new(Arc::clone(&service), Arc::clone(&names), config.queue_url_style);
        let home = (config.region(), config.account());
        let triggers = Triggers::new(&config.triggers, home, service.seed(), config.limits.grace);
        let configured_queues =
            queues::urls(config, |region| endpoint.base_url("http", &names.own_host, region));
        let services = Services {
            front: Front { names, journal, clock: service.clock().clone() },
            sqs: endpoint,
            sns,
            sts,
            outgoing,
            triggers,
            is_localstack: config.compat == Some(Compat::LocalStack),
            has_console: config.has_console(),
            initial: initial_state(config.clone()),
            #[cfg(feature = "tls")]
            tls_root: OnceLock::new(),
            #[cfg(feature = "s3")]
            s3: OnceLock::new(),
        };
        Ok(Self {
            service,
            services: Arc::new(services),
            url,
            credentials,
            configured_queues,
            configured_topics: crate::mock::topics::arns(config),
            server: None,
            grace: config.limits.grace,
            #[cfg(feature = "s3")]
            s3: None,
            verification,
            kept,
        })
    }
}

/// SNS and STS, with the defaults of SQS.
#[cfg_attr(not(feature = "durable"), expect(unused_variables, reason = "no directory, no topics in it"))]
fn topics(
    service: &Arc<Service>,
    names: &Arc<Names>,
    journal: &Arc<Journal>,
    outgoing: &Arc<Outgoing>,
    config: &Config,
    kept: &mut Kept,
) -> (Query<Sns>, Query<Sts>) {
    let (clock, seed, faults) = (service.clock().clone(), service.seed(), service.faults().clone());
    // Ids differ from those of earlier processes on the directory.
    #[cfg(feature = "durable")]
    let (seed, reader) = (seed.after(kept.starts), kept.store.as_ref().map(Store::topic_reader));
    #[cfg(not(feature = "durable"))]
    let reader = None;
    let queues: Arc<dyn Queues> = Arc::<Service>::clone(service);
    let published = journal_capacity(config);
    let start_clock = clock.clone();
    let sns = Sns::new(sns::Start {
        queues,
        outgoing: Arc::clone(outgoing),
        clock: start_clock,
        seed,
        journal: Arc::clone(journal),
        published,
        auto_create: config.auto_create,
        reader,
    });
    #[cfg(feature = "durable")]
    sns.restore(std::mem::take(&mut kept.topics));
    let (sns, sts) = (Arc::new(sns), Arc::new(Sts::new(Arc::clone(names), seed)));
    let sts = Query::new(sts, Arc::clone(names), clock.clone(), faults.clone(), seed);
    (Query::new(sns, Arc::clone(names), clock, faults, seed), sts)
}

fn journal_capacity(config: &Config) -> usize {
    config.journal.unwrap_or(DEFAULT_CAPACITY)
}

/// Also allows the hosts of the server itself.
fn guard(config: &Config, own_host: &str) -> Guard {
    let public = config.public_url.as_ref().and_then(|url| url.parse::<http::Uri>().ok());
    let public = public.as_ref().and_then(http::Uri::host);
    let own = [config.host(), own_host].into_iter().chain(public);
    let hosts = own.chain(config.allow_hosts.iter().map(String::as_str));
    Guard {
        hosts: hosts.map(|host| name_of(host).to_ascii_lowercase()).collect(),
        cors_origins: config.cors_origins.clone(),
        admin_token: config.admin_token.clone(),
    }
}

/// What each reset creates again.
fn initial_state(config: Config) -> InitialState {
    InitialState(Box::new(move |services| {
        let created = [
            create_initial_state(services.sqs.service(), &config),
            crate::mock::topics::create(&services.sns.actions, &config),
        ];
        for error in created.into_iter().filter_map(Result::err) {
            tracing::error!(%error, "cannot create all initial queues and topics again");
        }
    }))
}

/// Creates the initial queues and faults.
fn create_initial_state(service: &Service, config: &Config) -> io::Result<()> {
    service.change_quotas(|table| *table = quotas(config));
    for fault in &config.faults {
        service.faults().inject(fault.clone());
    }
    let problems = queues::problems(config).into_iter();
    let problems = problems.chain(crate::mock::topics::problems(config));
    #[cfg(feature = "s3")]
    let problems = problems.chain(crate::mock::s3::problems(config));
    config.source.check(problems.collect())?;
    queues::create(service, config)
}

/// The initial throughput quotas.
fn quotas(config: &Config) -> QuotaTable {
    let mut table = QuotaTable::default();
    table.set(QuotaScope::Server, config.throughput_quotas);
    for (arn, quotas) in queues::quotas(config) {
        table.set(QuotaScope::Queue(arn), quotas);
    }
    for (scope, quotas) in config.quota_overrides.iter() {
        table.set(scope.clone(), quotas);
    }
    table
}

/// The host of a URL without a path.
fn host_of(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}

/// Keeps a data directory open.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    #[cfg(feature = "durable")]
    pub(crate) store: Option<Store>,
    /// The topics of the directory, until they are restored.
    #[cfg(feature = "durable")]
    pub(crate) topics: Restored,
    /// The number of earlier processes.
    #[cfg(feature = "durable")]
    pub(crate) starts: u64,
}

/// A service with the state of its data directory, or without queues.
#[cfg_attr(not(feature = "durable"), expect(clippy::unnecessary_wraps, reason = "no directory, no errors"))]
pub(crate) fn service(config: &Config) -> io::Result<(Service, Kept)> {
    #[cfg(feature = "durable")]
    if let Some(data) = &config.data {
        let (store, contents) = Store::open(data)?;
        let service = empty_service(config, Some(store.reader()));
        let (topics, starts) = (contents.topics, contents.sqs.starts);
        service.restore(contents.sqs)?;
        match config.clock_frozen {
            Some(true) => service.clock().freeze(),
            Some(false) => service.clock().resume(),
            None if service.clock().is_frozen() => tracing::warn!(
                "the clock is frozen at {}, as an earlier server left it; to resume it, set clock_frozen to false, or call \
                 POST /_mock/clock with {{\"frozen\":false}}",
                service.clock().now()
            ),
            None => {}
        }
        store.follow(service.clock());
        let kept = Kept { store: Some(store), topics, starts };
        return Ok((service, kept));
    }
    Ok((empty_service(config, None), Kept::default()))
}

/// A service without queues.
fn empty_service(config: &Config, reader: Option<Arc<dyn ChangeReader>>) -> Service {
    let start = Start {
        seed: config.seed,
        time: config.clock_start.map(Into::into),
        frozen: config.clock_frozen.unwrap_or_default(),
        auto_create: config.auto_create,
    };
    let settings = Settings {
        one_minute_rules: config.has_one_minute_rules(),
        delivery: config.delivery,
        strict: config.strict,
        policies: config.policies,
        max_memory: config.limits.max_memory,
        max_queues: config.limits.max_queues,
        ..Settings::default()
    };
    Service::new(start, settings, reader)
}
