//! What can be said about a server before it starts.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::net::TcpListener;

use super::{IN_PROCESS_URL, MockSqs, Verification};
use crate::config::{Auth, Config};
use crate::http::{Limits, Server};
use crate::router::Router;
use crate::service::faults::Fault;
use crate::service::keys::Secret;
use crate::sqs::engine::DeliveryMode;
use crate::sqs::front::QueueUrlStyle;

/// Settings of a [`MockSqs`] that is to start.
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

/// Later calls of the builder's methods change these settings.
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

    /// Port to listen on; 0, which is the default, takes a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.config.port = Some(port);
        self
    }

    /// Account of callers whose access key is not a 12-digit account; `000000000000` by default.
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.config.account = Some(account.into());
        self
    }

    /// Region of callers that do not sign and whose host names none; `us-east-1` by default.
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

    /// How queue URLs name the region: by default not at all. With [`public_url`](Self::public_url) it does not matter.
    pub fn queue_url_style(mut self, style: QueueUrlStyle) -> Self {
        self.config.queue_url_style = style;
        self
    }

    /// Makes queues when they are first asked for, with the attributes that queues have by default, and as FIFO queues
    /// when their name ends in `.fifo`. By default whoever names an unknown queue is refused, as by AWS.
    ///
    /// Every operation that takes a queue URL does it, and `GetQueueUrl`; only `DeleteQueue` does not. Names that no
    /// queue can have are refused as ever, and so are those of queues deleted less than 60 seconds ago.
    pub fn auto_create_queues(mut self) -> Self {
        self.config.auto_create = true;
        self
    }

    /// Drops the waiting times that AWS asks for and tests rarely want: 60 seconds between deleting a queue
    /// and creating one of the same name, and between two purges.
    pub fn relaxed_timing(mut self) -> Self {
        self.config.relaxed_timing = true;
        self
    }

    /// How standard queues deliver: exactly, which is the default, or with the looseness of AWS.
    pub fn delivery(mut self, delivery: DeliveryMode) -> Self {
        self.config.delivery = delivery;
        self
    }

    /// Makes everything random repeatable: the same seed and the same calls give the same ids.
    pub fn seed(mut self, seed: u64) -> Self {
        self.config.seed = Some(seed);
        self
    }

    /// What the clock shows at the start; the time of the system by default.
    pub fn clock_start(mut self, start: SystemTime) -> Self {
        self.config.clock_start = Some(start);
        self
    }

    /// Starts with a stopped clock, which moves only when told to.
    pub fn clock_frozen(mut self) -> Self {
        self.config.clock_frozen = true;
        self
    }

    /// Takes only requests that are signed with one of these pairs of access key and secret, within five minutes of
    /// the system's clock, and refuses all others as AWS does. By default signatures are not looked at.
    pub fn require_signatures<I, S>(mut self, keys: impl IntoIterator<Item = (I, S)>) -> Self
    where
        I: Into<String>,
        S: Into<String>,
    {
        self.config.auth = Auth::Sigv4;
        self.config.keys = keys.into_iter().map(|(id, secret)| (id.into(), secret.into().into())).collect();
        self
    }

    /// Lets pages of this origin, such as `http://localhost:3000`, use the server and read its answers. By default pages of
    /// other sites can change nothing and read nothing. Call it once for each origin.
    pub fn cors_origin(mut self, origin: impl Into<String>) -> Self {
        self.config.cors_origins.push(origin.into());
        self
    }

    /// Accepts `/_mock`, `/metrics`, actions by GET and reads of S3 under this host name too, and under names below it. IP
    /// addresses, names without a dot, and names that public DNS does not resolve, such as those in `localhost`, `internal`, `local`
    /// and `test`, are always accepted; other names could be those of a web page that uses DNS rebinding. Call it once for each name.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.config.allow_hosts.push(host.into());
        self
    }

    /// Asks for this token on `/_mock` and `/_aws`, in the header `Authorization: Bearer <token>` or `x-sqs-mock-token`.
    pub fn admin_token(mut self, token: impl Into<String>) -> Self {
        self.config.admin_token = Some(Secret::from(token));
        self
    }

    /// How many of the latest requests [`MockSqs::requests`] keeps: 1,000 by default, and of their contents at most
    /// 16 MiB. With 0 none is recorded.
    pub fn journal(mut self, capacity: usize) -> Self {
        self.config.journal = Some(capacity);
        self
    }

    /// Makes the drop of the server panic when messages are left in its queues, with a report of them. It
    /// does not while another panic is under way. `Verification::default()` allows nothing to be left.
    pub fn verify_on_drop(mut self, rules: Verification) -> Self {
        self.verification = Some(rules);
        self
    }

    /// Something that goes wrong from the start on, and again after each [reset](MockSqs::reset). Said more than once,
    /// all of it.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.config.faults.push(fault);
        self
    }

    /// Bounds on connections, sizes and patience. Connections, queues and memory have to be at least 1.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Starts S3 too, on a port of its own, with objects in this directory, which is made if it is missing, and a bucket
    /// `payloads`. Short for [`s3`](Self::s3) with [`S3::in_dir`](crate::s3::S3::in_dir).
    #[cfg(feature = "s3")]
    pub fn with_s3(self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.s3(crate::s3::S3::in_dir(directory))
    }

    /// Starts S3 too, on a port of its own.
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
    #[cfg(feature = "config-file")]
    pub fn from_file(path: impl AsRef<std::path::Path>) -> io::Result<Self> {
        Config::read(path).map(Self::from)
    }

    /// As [`from_file`](Self::from_file), from the text of a file.
    ///
    /// # Errors
    /// As [`Config::parse`].
    #[cfg(feature = "config-file")]
    pub fn from_toml(text: &str) -> io::Result<Self> {
        Config::parse(text, "config").map(Self::from)
    }

    /// Starts the server. It accepts requests when this returns.
    ///
    /// # Errors
    /// The address cannot be listened on, or, as [`io::ErrorKind::InvalidInput`], a setting or a queue of the config
    /// file is wrong.
    ///
    /// # Cancel safety
    /// Dropped before its end, no server is left.
    pub async fn start(self) -> io::Result<MockSqs> {
        let config = self.config.checked()?;
        // Before the port: a server with invalid queues must never listen.
        let service = MockSqs::service(&config)?;
        let (host, port) = (config.host(), config.port.unwrap_or(0));
        let (listener, url) = listen(host, port).await?;
        let limits = config.limits;
        let mut mock = MockSqs::assemble(service, &config, url, self.verification);
        #[cfg(feature = "s3")]
        if let Some(settings) = config.s3.clone() {
            let (listener, url) = listen(host, settings.port.unwrap_or(0)).await?;
            mock.start_s3(settings, listener, url, &config)?;
        }
        mock.server = Some(Server::start(listener, Router::new(Arc::clone(&mock.services), limits), limits));
        Ok(mock)
    }

    /// Makes the server without a socket. Host, port, S3 and the limits of connections do not apply.
    ///
    /// # Errors
    /// A setting or a queue of the config file is invalid.
    pub fn in_process(self) -> io::Result<MockSqs> {
        let config = self.config.checked()?;
        let service = MockSqs::service(&config)?;
        Ok(MockSqs::assemble(service, &config, IN_PROCESS_URL.to_owned(), self.verification))
    }
}

/// A socket, and the URL that it is reached by.
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

/// A server that listens on all interfaces is reached through the loopback one.
fn reachable_url(address: SocketAddr) -> String {
    let loopback: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(loopback, address.port()))
}
