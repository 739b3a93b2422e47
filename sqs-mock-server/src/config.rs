//! The settings of a server, with defaults and checks.
//!
//! ```text
//! TOML -> file: serde, then the rules below -> Config <- builder, flags of the binary;   start: the rules below
//!           | problems, all of them, with file, line, column and path
//! ```

#[cfg(feature = "s3")]
mod bucket;
mod file;
mod queue;
mod rules;
mod source;
mod subscription;
#[cfg(test)]
mod tests;
mod topic;

use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer};

use crate::http::Limits;
use crate::service::faults::Fault;
use crate::service::keys::Secret;
use crate::service::policies::Policies;
use crate::sqs::engine::{DeliveryMode, QuotaSetting, QuotaTable, ThroughputQuotas};
use crate::sqs::front::QueueUrlStyle;

#[cfg(feature = "s3")]
pub(crate) use bucket::BucketDefinition;
pub(crate) use queue::QueueDefinition;
pub(crate) use source::{Problem, Source};
pub(crate) use subscription::SubscriptionDefinition;
pub(crate) use topic::{TopicDefinition, reason};

/// The settings of a server, with the fields of a config file. `docs/config-file.md` has an example of each.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # {
/// use sqs_mock_server::{Config, MockSqsBuilder};
///
/// let mut config = Config::parse("port = 9324\n[[queues]]\nname = \"orders\"", "orders.toml")?;
/// config.port = None;
/// let server = MockSqsBuilder::from(config).start().await?;
/// assert!(server.queue("orders").exists());
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
pub struct Config {
    /// Address or host name to listen on. The default is `127.0.0.1`.
    pub host: Option<String>,
    /// Port to listen on; 0 takes a free one. The default is 0; for the binary 9324, or that of `compat`.
    pub port: Option<u16>,
    /// [`MockSqsBuilder::compat`](crate::MockSqsBuilder::compat).
    pub compat: Option<Compat>,
    /// Account of callers whose access key is not a 12-digit account. The default is `000000000000`.
    pub account: Option<String>,
    /// Region of callers that do not sign. The default is `us-east-1`.
    pub region: Option<String>,
    /// Base of all queue URLs.
    pub public_url: Option<String>,
    /// How queue URLs name the region.
    pub queue_url_style: QueueUrlStyle,
    /// [`MockSqsBuilder::auto_create_queues`](crate::MockSqsBuilder::auto_create_queues).
    pub auto_create: bool,
    /// [`MockSqsBuilder::relaxed_timing`](crate::MockSqsBuilder::relaxed_timing).
    pub relaxed_timing: bool,
    /// How standard queues deliver.
    pub delivery: DeliveryMode,
    /// [`MockSqsBuilder::strict`](crate::MockSqsBuilder::strict).
    pub strict: bool,
    /// What access policies do.
    pub policies: Policies,
    /// The throughput quotas of all FIFO queues. A file has `true` for those of AWS, `false`, or a table. The default is no
    /// quotas.
    #[serde(deserialize_with = "quotas")]
    pub throughput_quotas: Option<ThroughputQuotas>,
    /// The quotas of accounts and queues, without those of the file.
    #[serde(skip)]
    pub(crate) quota_overrides: QuotaTable,
    /// The seed of all random values.
    pub seed: Option<u64>,
    /// The initial time of the clock. The default is the system time. Config files cannot set it.
    #[serde(skip)]
    pub clock_start: Option<SystemTime>,
    /// Whether the clock is frozen at the start.
    pub clock_frozen: bool,
    /// Limits on connections, sizes and times.
    pub limits: Limits,
    /// Whether requests must be signed.
    pub auth: Auth,
    /// The access keys that may sign, with their secrets.
    pub keys: BTreeMap<String, Secret>,
    /// [`MockSqsBuilder::allow_host`](crate::MockSqsBuilder::allow_host).
    pub allow_hosts: Vec<String>,
    /// [`MockSqsBuilder::cors_origin`](crate::MockSqsBuilder::cors_origin).
    pub cors_origins: Vec<String>,
    /// [`MockSqsBuilder::admin_token`](crate::MockSqsBuilder::admin_token).
    pub admin_token: Option<Secret>,
    /// [`MockSqsBuilder::console`](crate::MockSqsBuilder::console).
    pub console: Option<bool>,
    /// How many of the latest requests are recorded. The default is 1,000.
    pub journal: Option<usize>,
    /// The log level or directives of the binary. An embedded server leaves logging to its program.
    pub log: Option<String>,
    /// The log format of the binary.
    pub log_format: LogFormat,
    /// The initial faults.
    #[serde(deserialize_with = "each")]
    pub faults: Vec<Fault>,
    /// Where queues and messages are kept. By default, they end with the process.
    #[cfg(feature = "durable")]
    pub data: Option<crate::store::Data>,
    /// Settings of the S3 server, if there is one.
    #[cfg(feature = "s3")]
    pub s3: Option<crate::s3::S3>,
    #[cfg(feature = "s3")]
    pub(crate) buckets: Vec<BucketDefinition>,
    pub(crate) queues: Vec<QueueDefinition>,
    pub(crate) topics: Vec<TopicDefinition>,
    pub(crate) subscriptions: Vec<SubscriptionDefinition>,
    /// The positions of all values in the file.
    #[serde(skip)]
    pub(crate) source: std::sync::Arc<Source>,
}

/// A server that this one can replace in programs that start it and wait until it is ready.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Compat {
    /// `GET /_localstack/health` answers. The binary listens on port 4566 by default, and prints the line `Ready.` when it
    /// accepts requests.
    LocalStack,
}

impl Compat {
    /// The default port of the binary.
    pub fn port(self) -> u16 {
        match self {
            Self::LocalStack => 4566,
        }
    }
}

/// How callers prove their identity.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Auth {
    /// Identity is not verified.
    #[default]
    None,
    /// By a signature (version 4) with one of the keys.
    Sigv4,
}

/// The format of a log.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LogFormat {
    /// A line of text for each event.
    #[default]
    Text,
    /// A line with a JSON object for each event.
    Json,
}

fn quotas<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ThroughputQuotas>, D::Error> {
    QuotaSetting::deserialize(deserializer).map(|QuotaSetting(quotas)| quotas)
}

/// Deserializes a list so that errors point to the element: toml sets the span of an error in a newtype.
fn each<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    struct Element<T>(T);
    let elements = Vec::deserialize(deserializer)?;
    Ok(elements.into_iter().map(|Element(value)| value).collect())
}

impl Config {
    pub(crate) fn host(&self) -> &str {
        self.host.as_deref().unwrap_or("127.0.0.1")
    }

    pub(crate) fn account(&self) -> &str {
        self.account.as_deref().unwrap_or("000000000000")
    }

    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or("us-east-1")
    }

    /// The settings, if they are valid.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`], with a line of text for each problem.
    pub(crate) fn checked(mut self) -> io::Result<Self> {
        let mut problems = self.problems();
        if self.auth == Auth::Sigv4 && self.keys.is_empty() {
            problems.push(Problem::new("auth", "signatures cannot be verified without a single key"));
        }
        if !problems.is_empty() {
            let line = |Problem { path, text }: &Problem| format!("{path}: {text}");
            let lines: Vec<_> = problems.iter().map(line).collect();
            return Err(io::Error::new(io::ErrorKind::InvalidInput, lines.join("\n")));
        }
        if let Some(url) = &mut self.public_url {
            url.truncate(url.trim_end_matches('/').len());
        }
        Ok(self)
    }
}
