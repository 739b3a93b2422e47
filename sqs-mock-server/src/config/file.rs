//! The config file: TOML with the settings of a server and the queues that it starts with.
//!
//! ```text
//! text -> toml's tables with spans -> Section: each key by name -> ConfigFile
//!                                        | faults, all of them, with file, line, column and key
//! ```

mod apply;
mod fault;
mod queue;
#[cfg(feature = "s3")]
mod s3;
mod section;
mod setting;
mod spot;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use toml::de::DeTable;

use section::Section;
use spot::Source;

use crate::service::faults::Fault;
use crate::sqs::engine::DeliveryMode;
use crate::sqs::front::QueueUrlStyle;

pub(crate) use queue::QueueDefinition;
#[cfg(feature = "s3")]
pub use s3::S3Section;
pub use setting::{Auth, LogFormat, Secret};

/// What a config file says. What it does not name is `None`. `docs/config-file.md` has an example with every setting.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_mock_server::{ConfigFile, MockSqs};
///
/// let mut file = ConfigFile::parse("port = 9324\n[[queues]]\nname = \"orders\"", "orders.toml")?;
/// file.port = Some(0);
/// let server = MockSqs::builder().config(file).start().await?;
/// assert!(server.queue("orders").exists());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConfigFile {
    /// Address or host name to listen on.
    pub host: Option<String>,
    /// Port to listen on; 0 takes a free one.
    pub port: Option<u16>,
    /// Account of callers whose access key is not a 12-digit account.
    pub account: Option<String>,
    /// Region of callers that do not sign.
    pub region: Option<String>,
    /// Base of all queue URLs.
    pub public_url: Option<String>,
    /// Whether the waiting times after deletions and purges are dropped.
    pub relaxed_timing: Option<bool>,
    /// Whether queues come into being when they are first named.
    pub auto_create: Option<bool>,
    /// How standard queues deliver.
    pub delivery: Option<DeliveryMode>,
    /// How queue URLs name the region.
    pub queue_url_style: Option<QueueUrlStyle>,
    /// How many of the latest requests are recorded.
    pub journal: Option<usize>,
    /// What everything random derives from.
    pub seed: Option<u64>,
    /// Whether the clock stands still.
    pub clock_frozen: Option<bool>,
    /// Whether requests must be signed.
    pub auth: Option<Auth>,
    /// The access keys that may sign, each with its secret.
    pub keys: Option<BTreeMap<String, Secret>>,
    /// [`MockSqsBuilder::allow_host`](crate::MockSqsBuilder::allow_host).
    pub allow_hosts: Option<Vec<String>>,
    /// [`MockSqsBuilder::cors_origin`](crate::MockSqsBuilder::cors_origin).
    pub cors_origins: Option<Vec<String>>,
    /// [`MockSqsBuilder::admin_token`](crate::MockSqsBuilder::admin_token).
    pub admin_token: Option<Secret>,
    /// What the binary logs: a level, or directives. Embedded servers leave that to whoever embeds them.
    pub log: Option<String>,
    /// How the binary logs.
    pub log_format: Option<LogFormat>,
    /// [`Limits::max_memory`](crate::Limits::max_memory).
    pub max_memory: Option<usize>,
    /// [`Limits::max_queues`](crate::Limits::max_queues).
    pub max_queues: Option<usize>,
    /// [`Limits::max_connections`](crate::Limits::max_connections).
    pub max_connections: Option<usize>,
    /// [`Limits::max_body`](crate::Limits::max_body).
    pub max_body: Option<usize>,
    /// [`Limits::max_bodies`](crate::Limits::max_bodies).
    pub max_bodies: Option<usize>,
    /// [`Limits::max_head`](crate::Limits::max_head).
    pub max_head: Option<usize>,
    /// [`Limits::head_timeout`](crate::Limits::head_timeout).
    pub head_timeout: Option<Duration>,
    /// [`Limits::body_timeout`](crate::Limits::body_timeout).
    pub body_timeout: Option<Duration>,
    /// [`Limits::write_timeout`](crate::Limits::write_timeout).
    pub write_timeout: Option<Duration>,
    /// [`Limits::grace`](crate::Limits::grace).
    pub grace: Option<Duration>,
    /// S3 beside SQS. Whether a directory is named, and where S3 listens, is up to its builder too.
    #[cfg(feature = "s3")]
    pub s3: S3Section,
    /// What goes wrong from the start on.
    pub faults: Vec<Fault>,
    queues: Vec<QueueDefinition>,
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read; otherwise as [`parse`](Self::parse).
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let name = path.as_ref().display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read the config file {name}: {error}"))
        })?;
        Self::parse(&text, &name)
    }

    /// Reads the text of a file, which errors call `name`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`], with a line of text for everything that is wrong: file, line, column, key, and
    /// what is allowed. What depends on several queues shows when the server starts.
    pub fn parse(text: &str, name: &str) -> io::Result<Self> {
        let source = Source::new(name, text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            // Not the whole rendering of the error, which quotes the line: there may be a secret on it.
            source.fault(&error.span().unwrap_or_default(), "", error.message());
        }
        let file =
            if errors.is_empty() { Self::read_root(Section::root(&source, &table)) } else { Self::default() };
        source.finish()?;
        Ok(file)
    }

    /// Names of the queues, in the order of the file.
    pub fn queue_names(&self) -> impl Iterator<Item = &str> {
        self.queues.iter().map(|queue| queue.name.value.as_str())
    }

    fn read_root(mut root: Section<'_, '_>) -> Self {
        let mut file = Self {
            host: root.get("host", value::text),
            port: root.get("port", |value| value::number(value, &(0..=u16::MAX))),
            account: root.get("account", value::account),
            region: root.get("region", value::region),
            public_url: root.get("public_url", value::url),
            relaxed_timing: root.get("relaxed_timing", value::flag),
            auto_create: root.get("auto_create", value::flag),
            delivery: root.get("delivery", value::delivery),
            queue_url_style: root.get("queue_url_style", value::queue_url_style),
            journal: root.get("journal", |value| value::number(value, &(0..=usize::MAX))),
            seed: root.get("seed", |value| value::number(value, &(0..=u64::MAX))),
            clock_frozen: root.get("clock_frozen", value::flag),
            auth: root.get("auth", value::auth),
            keys: root.section("keys").map(|keys| keys.entries(value::secret).into_iter().collect()),
            allow_hosts: root.get("allow_hosts", value::hosts),
            cors_origins: root.get("cors_origins", value::origins),
            admin_token: root.get("admin_token", value::secret),
            log: root.get("log", value::log),
            log_format: root.get("log_format", value::log_format),
            faults: root.list("faults", fault::fault),
            ..Self::default()
        };
        if let Some(limits) = root.section("limits") {
            file.read_limits(limits);
        }
        #[cfg(feature = "s3")]
        if let Some(s3) = root.section("s3") {
            file.s3 = S3Section::read(s3);
        }
        #[cfg(not(feature = "s3"))]
        if root.section("s3").is_some() {
            root.fault_at("s3", "this build has no S3; it takes the cargo feature s3");
        }
        file.queues = root.sections("queues").into_iter().filter_map(QueueDefinition::read).collect();
        root.finish();
        file
    }

    fn read_limits(&mut self, mut limits: Section<'_, '_>) {
        let count = |value: &_| value::number(value, &(1..=usize::MAX));
        self.max_memory = limits.get("max_memory", value::size);
        self.max_queues = limits.get("max_queues", count);
        self.max_connections = limits.get("max_connections", count);
        self.max_body = limits.get("max_body", value::size);
        self.max_bodies = limits.get("max_bodies", value::size);
        self.max_head = limits.get("max_head", value::size);
        self.head_timeout = limits.get("head_timeout", value::patience);
        self.body_timeout = limits.get("body_timeout", value::patience);
        self.write_timeout = limits.get("write_timeout", value::patience);
        self.grace = limits.get("grace", value::duration);
        limits.finish();
    }
}
