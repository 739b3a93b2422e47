//! The settings of a server, with defaults and checks.
//!
//! ```text
//! TOML -> file: serde, then the rules below -> Config <- builder, flags of the binary;   start: the rules below
//!           | problems, all of them, with file, line, column and path
//! ```

#[cfg(feature = "s3")]
pub(crate) mod bucket;
pub(crate) mod file;
pub(crate) mod queue;
pub(crate) mod topics;
pub(crate) mod units;

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

use http::Uri;
use serde::{Deserialize, Deserializer};
use sqs_client::wire::validate::queue::is_account;

#[cfg(feature = "s3")]
use crate::config::bucket::BucketDefinition;
use crate::config::file::{Problem, Source};
use crate::config::queue::QueueDefinition;
use crate::config::topics::{SubscriptionDefinition, TopicDefinition};
use crate::control::caller::{Secret, is_region};
use crate::control::faults::fault::Fault;
use crate::control::policies::Policies;
use crate::http::body::Limits;
use crate::http::guard::{is_host, is_origin};
use crate::outgoing::guard::Destinations;
use crate::sqs::engine::DeliveryMode;
use crate::sqs::engine::throughput::{QuotaSetting, QuotaTable, ThroughputQuotas};
use crate::sqs::queue_url::QueueUrlStyle;
use crate::triggers::{self, Trigger};

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
pub struct Config {
    /// Address or host name to listen on. The default is `127.0.0.1`.
    pub host: Option<String>,
    /// Port to listen on; 0 takes a free one. The default is 0; for the binary 9324, or that of `compat`.
    pub port: Option<u16>,
    /// [`MockSqsBuilder::compat`](crate::mock::builder::MockSqsBuilder::compat).
    pub compat: Option<Compat>,
    /// Account of callers whose access key is not a 12-digit account. The default is `000000000000`.
    pub account: Option<String>,
    /// Region of callers that do not sign. The default is `us-east-1`.
    pub region: Option<String>,
    /// Base of all queue URLs.
    pub public_url: Option<String>,
    /// How queue URLs name the region.
    pub queue_url_style: QueueUrlStyle,
    /// [`MockSqsBuilder::auto_create`](crate::mock::builder::MockSqsBuilder::auto_create).
    pub auto_create: bool,
    /// [`MockSqsBuilder::one_minute_rules`](crate::mock::builder::MockSqsBuilder::one_minute_rules). The default is that of
    /// [`strict`](Self::strict).
    pub one_minute_rules: Option<bool>,
    /// How standard queues deliver.
    pub delivery: DeliveryMode,
    /// [`MockSqsBuilder::strict`](crate::mock::builder::MockSqsBuilder::strict).
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
    /// Whether the clock is frozen at the start. By default it is as an earlier server with the same data directory left it, and runs
    /// without one.
    pub clock_frozen: Option<bool>,
    /// Limits on connections, sizes and times.
    pub limits: Limits,
    /// Whether requests must be signed.
    pub auth: Auth,
    /// [`MockSqsBuilder::tls`](crate::mock::builder::MockSqsBuilder::tls).
    #[cfg(feature = "tls")]
    pub tls: Option<crate::http::tls::Tls>,
    /// The access keys that may sign, with their secrets.
    pub keys: BTreeMap<String, Secret>,
    /// [`MockSqsBuilder::allow_host`](crate::mock::builder::MockSqsBuilder::allow_host).
    pub allow_hosts: Vec<String>,
    /// [`MockSqsBuilder::deliver_to`](crate::mock::builder::MockSqsBuilder::deliver_to).
    pub deliver_to: Vec<String>,
    /// [`MockSqsBuilder::cors_origin`](crate::mock::builder::MockSqsBuilder::cors_origin).
    pub cors_origins: Vec<String>,
    /// [`MockSqsBuilder::admin_token`](crate::mock::builder::MockSqsBuilder::admin_token).
    pub admin_token: Option<Secret>,
    /// [`MockSqsBuilder::console`](crate::mock::builder::MockSqsBuilder::console).
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
    /// Queues that invoke functions.
    pub triggers: Vec<Trigger>,
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
    // For the binary.
    #[doc(hidden)]
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

    /// Whether the console is served.
    // For the binary.
    #[doc(hidden)]
    pub fn has_console(&self) -> bool {
        self.console.unwrap_or(true)
    }

    pub(crate) fn has_one_minute_rules(&self) -> bool {
        self.one_minute_rules.unwrap_or(self.strict)
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

    /// The problems of single settings, and of each queue, topic, subscription, trigger and bucket.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let texts = [
            ("account", &self.account, ACCOUNT),
            ("region", &self.region, REGION),
            ("public_url", &self.public_url, URL),
        ];
        let texts = texts.into_iter().filter_map(|(path, text, rule)| rule.check(path, text.as_deref()?));
        let hosts = HOST.check_list("allow_hosts", &self.allow_hosts);
        let origins = ORIGIN.check_list("cors_origins", &self.cors_origins);
        let mut found: Vec<_> = texts.chain(hosts).chain(origins).collect();
        found.extend(self.zero_limits().chain(self.long_limits()));
        if let Err((at, text)) = Destinations::parse(&self.deliver_to) {
            found.push(Problem::new(format!("deliver_to[{at}]"), text));
        }
        for (id, _) in self.keys.iter().filter(|(_, secret)| secret.as_str().is_empty()) {
            found.push(Problem::new(format!("keys.{id}"), "allowed is a secret that is not empty"));
        }
        let token = self.admin_token.as_ref().map(Secret::as_str);
        if token.is_some_and(|token| token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            found.push(Problem::new("admin_token", "allowed is one or more visible ASCII characters"));
        }
        #[cfg(feature = "cli")]
        found.extend(self.log.as_deref().and_then(problem_of_log));
        #[cfg(feature = "s3")]
        if let Some(s3) = &self.s3 {
            if s3.directory.as_ref().is_some_and(|directory| directory.as_os_str().is_empty()) {
                found.push(Problem::new("s3.directory", "it is empty; allowed is the path of a directory"));
            }
            for (at, bucket) in s3.buckets.iter().enumerate() {
                let text = crate::s3::problem_of_bucket_name(bucket);
                found.extend(text.map(|text| Problem::new(format!("s3.buckets[{at}]"), text)));
            }
        }
        for (at, queue) in self.queues.iter().enumerate() {
            found.extend(queue.problems(&format!("queues[{at}]")));
        }
        for (at, topic) in self.topics.iter().enumerate() {
            found.extend(topic.problems(&format!("topics[{at}]")));
        }
        for (at, subscription) in self.subscriptions.iter().enumerate() {
            found.extend(subscription.problems(&format!("subscriptions[{at}]")));
        }
        for (at, trigger) in self.triggers.iter().enumerate() {
            found.extend(trigger.problems(&format!("triggers[{at}]")));
        }
        found.extend(triggers::problems(&self.triggers, self.region(), self.account()));
        #[cfg(feature = "s3")]
        for (at, bucket) in self.buckets.iter().enumerate() {
            found.extend(bucket.problems(&format!("buckets[{at}]")));
        }
        found
    }

    /// Limits of 0 that would make the server useless.
    fn zero_limits(&self) -> impl Iterator<Item = Problem> {
        let limits = &self.limits;
        let table = [
            ("max_memory", limits.max_memory == 0, "no message could be sent"),
            ("max_queues", limits.max_queues == 0, "no queue could be created"),
            ("max_connections", limits.max_connections == 0, "no client could connect"),
            ("max_body", limits.max_body == 0, "no request could have a body"),
            ("max_bodies", limits.max_bodies == 0, "no request could have a body"),
            ("max_head", limits.max_head == 0, "no request could have a head"),
            ("head_timeout", limits.head_timeout.is_zero(), "no request could arrive"),
            ("body_timeout", limits.body_timeout.is_zero(), "no request could arrive"),
            ("body_idle_timeout", limits.body_idle_timeout.is_zero(), "no large request could arrive"),
            ("write_timeout", limits.write_timeout.is_zero(), "no response could be sent"),
        ];
        let zero = table.into_iter().filter(|(_, is_zero, _)| *is_zero);
        zero.map(|(name, _, why)| {
            Problem::new(format!("limits.{name}"), format!("0 is not allowed: {why}; allowed is more than 0"))
        })
    }

    /// Limits that are too long.
    fn long_limits(&self) -> impl Iterator<Item = Problem> {
        let limits = &self.limits;
        let table = [
            ("head_timeout", limits.head_timeout),
            ("body_timeout", limits.body_timeout),
            ("body_idle_timeout", limits.body_idle_timeout),
            ("write_timeout", limits.write_timeout),
            ("grace", limits.grace),
        ];
        table.into_iter().filter(|(_, time)| *time > MAX_TIME).map(|(name, time)| {
            let given = humantime::format_duration(time);
            Problem::new(format!("limits.{name}"), format!("{given} is too long; allowed is at most 365d"))
        })
    }
}

/// The longest time limit. Clocks cannot add much longer durations to the present.
const MAX_TIME: Duration = Duration::from_hours(365 * 24);

/// A rule for the text of a setting.
struct Rule {
    is_legal: fn(&str) -> bool,
    allowed: &'static str,
}

const ACCOUNT: Rule = Rule { is_legal: is_account, allowed: "allowed are 12 digits" };

const REGION: Rule =
    Rule { is_legal: is_region, allowed: "allowed are 1 to 32 of a-z, 0-9 and -, such as \"eu-west-1\"" };

const URL: Rule = Rule { is_legal: is_base_url, allowed: "allowed is a URL such as \"http://host:port\"" };

const HOST: Rule = Rule { is_legal: is_host, allowed: "allowed is a host name or address without a port" };

const ORIGIN: Rule =
    Rule { is_legal: is_origin, allowed: "allowed is an origin such as \"http://localhost:3000\"" };

/// The problems of the region and the account of a queue or a topic, whose path in the file is `at`.
pub(crate) fn problems_of_home(at: &str, region: Option<&str>, account: Option<&str>) -> Vec<Problem> {
    let region = region.and_then(|region| REGION.check(format!("{at}.region"), region));
    let account = account.and_then(|account| ACCOUNT.check(format!("{at}.account"), account));
    region.into_iter().chain(account).collect()
}

impl Rule {
    fn check(&self, path: impl Into<String>, given: &str) -> Option<Problem> {
        let text = || format!("{given:?} is not allowed; {}", self.allowed);
        (!(self.is_legal)(given)).then(|| Problem::new(path, text()))
    }

    fn check_list(&self, path: &str, given: &[String]) -> impl Iterator<Item = Problem> {
        given.iter().enumerate().filter_map(move |(at, given)| self.check(format!("{path}[{at}]"), given))
    }
}

fn is_base_url(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some() && uri.query().is_none()
}

/// Only the binary can parse log directives.
#[cfg(feature = "cli")]
fn problem_of_log(directives: &str) -> Option<Problem> {
    let error = directives.parse::<tracing_subscriber::filter::Targets>().err()?;
    let text = format!(
        "{directives:?} is not allowed: {error}; allowed is error, warn, info, debug, trace, off, or directives such \
         as \"sqs_mock_server=debug\""
    );
    Some(Problem::new("log", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        assert!(Config::default().checked().is_ok());
    }

    #[test]
    fn error_names_invalid_setting() {
        let account = Config { account: Some("12".to_owned()), ..Config::default() };
        assert_eq!(
            account.checked().unwrap_err().to_string(),
            "account: \"12\" is not allowed; allowed are 12 digits"
        );
        let region = Config { region: Some("Ireland".to_owned()), ..Config::default() };
        assert!(region.checked().unwrap_err().to_string().contains("Ireland"));
        for url in ["sqs:9324", "/queue", "ftp://sqs", "http://", "http://sqs/?x=1", ""] {
            let config = Config { public_url: Some(url.to_owned()), ..Config::default() };
            assert!(config.checked().is_err(), "{url}");
        }
    }

    #[test]
    fn hosts_and_origins_that_match_nothing_are_rejected() {
        for host in ["", "sqs:9324", "http://sqs", "a b", "*.example.com"] {
            let config = Config { allow_hosts: vec![host.to_owned()], ..Config::default() };
            let text = format!(
                "allow_hosts[0]: {host:?} is not allowed; allowed is a host name or address without a port"
            );
            assert_eq!(config.checked().unwrap_err().to_string(), text);
        }
        for origin in ["*", "null", "localhost:3000", "http://localhost:3000/", "HTTP://LOCALHOST", "http://"]
        {
            let config = Config { cors_origins: vec![origin.to_owned()], ..Config::default() };
            let text = format!(
                "cors_origins[0]: {origin:?} is not allowed; allowed is an origin such as \"http://localhost:3000\""
            );
            assert_eq!(config.checked().unwrap_err().to_string(), text);
        }
        for token in ["", "a b", "\u{e4}"] {
            let config = Config { admin_token: Some(Secret::from(token)), ..Config::default() };
            let text = "admin_token: allowed is one or more visible ASCII characters";
            assert_eq!(config.checked().unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn limits_of_zero_are_rejected_by_name() {
        let zero = |set: fn(&mut Limits)| {
            let mut config = Config::default();
            set(&mut config.limits);
            config.checked().unwrap_err().to_string()
        };
        let table = [
            (zero(|limits| limits.max_connections = 0), "max_connections", "no client could connect"),
            (zero(|limits| limits.max_queues = 0), "max_queues", "no queue could be created"),
            (zero(|limits| limits.max_memory = 0), "max_memory", "no message could be sent"),
        ];
        for (text, name, why) in table {
            assert_eq!(text, format!("limits.{name}: 0 is not allowed: {why}; allowed is more than 0"));
        }
    }

    #[test]
    fn trailing_slash_of_public_url_is_removed() {
        let config = Config { public_url: Some("https://sqs.test/base/".to_owned()), ..Config::default() };
        assert_eq!(config.checked().unwrap().public_url.as_deref(), Some("https://sqs.test/base"));
    }
}
