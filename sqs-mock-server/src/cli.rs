//! Flags and environment of the binary, and how they change the settings of a config file.

mod environment;

use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::{DeserializeOwned, IntoDeserializer, value};
use sqs_mock_server::faults::Fault;
#[cfg(feature = "s3")]
use sqs_mock_server::s3::S3;
use sqs_mock_server::{Auth, ByteSize, Config, DeliveryMode, LogFormat, QueueUrlStyle, Secret};
use tracing_subscriber::EnvFilter;

/// The port of ElasticMQ, which its users have configured.
const PORT: u16 = 9324;
/// The port of S3.
#[cfg(feature = "s3")]
const S3_PORT: u16 = 9325;

const EXAMPLES: &str = "\
Examples:
  Start on the default port, and talk to it with the AWS CLI:
    sqs-mock-server
    export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
    aws --endpoint-url http://127.0.0.1:9324 sqs create-queue --queue-name orders

  With settings and queues from a file (docs/config-file.md of the project has an example):
    sqs-mock-server --config sqs.toml --check-config
    sqs-mock-server --config sqs.toml

  Reachable from other machines and containers (queue URLs follow the host that each caller uses):
    sqs-mock-server --host 0.0.0.0

  For an SDK in your own web page; pages of other origins can neither change nor read anything:
    sqs-mock-server --cors-origin http://localhost:3000

  Any free port, without the 60 s that AWS requires between deleting and creating a queue:
    sqs-mock-server --port 0 --relaxed-timing

  The same ids and receipt handles in every run, with every request in the log:
    sqs-mock-server --seed 7 --log sqs_mock_server=debug --log-format json

  Health and Prometheus metrics:
    curl http://127.0.0.1:9324/health
    curl http://127.0.0.1:9324/metrics

Each flag has an environment variable. Flags override the environment, which overrides the config
file, which overrides the defaults. Faults of the file and of flags add up. Empty variables are
ignored. An access key of 12 digits is the account of its caller, and the region of a signature
is that of its caller. Signatures are verified only with --auth sigv4.

The first ctrl-c or SIGTERM stops gracefully, a second one at once.";

/// Amazon SQS on your machine: both protocols, full queue semantics, nothing to install.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// TOML file with settings and initial queues.
    #[arg(long, env = "SQS_MOCK_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Checks settings and queues, reports what is wrong, and exits without listening.
    #[arg(
        long,
        env = "SQS_MOCK_CHECK_CONFIG",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        value_parser = truth
    )]
    pub(crate) check_config: Option<bool>,
    /// Address to listen on; 0.0.0.0 for all [default: 127.0.0.1].
    #[arg(long, env = "SQS_MOCK_HOST", help_heading = "Network")]
    host: Option<String>,
    /// Port to listen on; 0 takes a free port and prints it [default: 9324].
    #[arg(long, env = "SQS_MOCK_PORT", help_heading = "Network")]
    port: Option<u16>,
    /// Base of all queue URLs, for servers behind a proxy. By default it is the host that the caller used.
    #[arg(long, env = "SQS_MOCK_PUBLIC_URL", value_name = "URL", help_heading = "Network")]
    public_url: Option<String>,
    /// How queue URLs name the region [default: path].
    #[arg(
        long,
        env = "SQS_MOCK_QUEUE_URL_STYLE",
        value_name = "STYLE",
        value_parser = word::<QueueUrlStyle>(&STYLES),
        help_heading = "Network"
    )]
    queue_url_style: Option<QueueUrlStyle>,
    /// A host name that /_mock, /metrics, actions by GET and S3 accept, with its subdomains. Repeat the flag for more
    /// names, or separate them by commas. Names that public DNS cannot resolve are always accepted.
    #[arg(
        long = "allow-host",
        env = "SQS_MOCK_ALLOW_HOSTS",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Browsers"
    )]
    allow_hosts: Vec<String>,
    /// An origin whose pages may use the server, such as `http://localhost:3000`. Repeat the flag for more origins, or
    /// separate them by commas. By default web pages can neither change nor read anything.
    #[arg(
        long = "cors-origin",
        env = "SQS_MOCK_CORS_ORIGINS",
        value_name = "ORIGIN",
        value_delimiter = ',',
        help_heading = "Browsers"
    )]
    cors_origins: Vec<String>,
    /// Token that /_mock and /_aws require: `Authorization: Bearer <TOKEN>`.
    #[arg(
        long,
        env = "SQS_MOCK_ADMIN_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true,
        help_heading = "Browsers"
    )]
    admin_token: Option<String>,
    /// Account of callers whose access key is not a 12-digit account [default: 000000000000].
    #[arg(long, env = "SQS_MOCK_ACCOUNT", help_heading = "Callers")]
    account: Option<String>,
    /// Region of callers that do not sign and whose host names none [default: us-east-1].
    #[arg(long, env = "SQS_MOCK_REGION", help_heading = "Callers")]
    region: Option<String>,
    /// Whether requests must be signed with a known key; others are rejected as by AWS [default: none].
    #[arg(long, env = "SQS_MOCK_AUTH", value_parser = word::<Auth>(&AUTHS), help_heading = "Callers")]
    auth: Option<Auth>,
    /// A key pair that may sign, for --auth sigv4. Repeat the flag for more pairs, or separate them by commas
    /// [default: test:test].
    #[arg(
        long = "key",
        env = "SQS_MOCK_KEYS",
        value_name = "ID:SECRET",
        value_delimiter = ',',
        hide_env_values = true,
        help_heading = "Callers"
    )]
    keys: Vec<String>,
    /// Removes the 60 s between deleting and creating a queue, and between two purges.
    #[arg(
        long,
        env = "SQS_MOCK_RELAXED_TIMING",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        value_parser = truth,
        help_heading = "Behaviour"
    )]
    relaxed_timing: Option<bool>,
    /// How standard queues deliver [default: ordered].
    #[arg(
        long,
        env = "SQS_MOCK_DELIVERY",
        value_name = "MODE",
        value_parser = word::<DeliveryMode>(&DELIVERIES),
        help_heading = "Behaviour"
    )]
    delivery: Option<DeliveryMode>,
    /// Creates queues on first use, with default attributes; names that end in .fifo become FIFO queues.
    #[arg(
        long,
        env = "SQS_MOCK_AUTO_CREATE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        value_parser = truth,
        help_heading = "Behaviour"
    )]
    auto_create: Option<bool>,
    /// Starts S3 too, with objects in this directory. The directory is created if it is missing.
    #[cfg(feature = "s3")]
    #[arg(long, env = "SQS_MOCK_WITH_S3", value_name = "DIR", help_heading = "S3")]
    with_s3: Option<PathBuf>,
    /// Port of S3; 0 takes a free port and prints it [default: 9325].
    #[cfg(feature = "s3")]
    #[arg(long, env = "SQS_MOCK_S3_PORT", value_name = "PORT", help_heading = "S3")]
    s3_port: Option<u16>,
    /// An initial bucket. Repeat the flag for more buckets, or separate them by commas [default: payloads].
    #[cfg(feature = "s3")]
    #[arg(
        long = "s3-bucket",
        env = "SQS_MOCK_S3_BUCKETS",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "S3"
    )]
    s3_buckets: Vec<String>,
    /// How many of the latest requests are recorded; 0 records none. GET /_mock/requests shows 100 of them, or up to 1000
    /// with limit=, and earlier ones with skip= [default: 1000].
    #[arg(long, env = "SQS_MOCK_JOURNAL", value_name = "COUNT", help_heading = "Behaviour")]
    journal: Option<usize>,
    /// A fault as JSON: {"effect":"throttle","probability":0.05}. Repeat the flag for more faults, or give an array of
    /// them.
    #[arg(
        long = "fault",
        env = "SQS_MOCK_FAULT",
        value_name = "JSON",
        value_parser = faults,
        help_heading = "Behaviour"
    )]
    faults: Vec<Faults>,
    /// Makes random values repeatable: the same seed gives the same ids and order.
    #[arg(long, env = "SQS_MOCK_SEED", value_name = "NUMBER", value_parser = seed, help_heading = "Behaviour")]
    seed: Option<u64>,
    /// Memory of all messages together; sends beyond it fail [default: 2GiB].
    #[arg(long, env = "SQS_MOCK_MAX_MEMORY", value_name = "SIZE", help_heading = "Limits")]
    max_memory: Option<ByteSize>,
    /// Queues in all accounts and regions; creating more fails [default: 100000].
    #[arg(long, env = "SQS_MOCK_MAX_QUEUES", value_name = "COUNT", help_heading = "Limits")]
    max_queues: Option<usize>,
    /// Connections at a time; more wait [default: 4096].
    #[arg(long, env = "SQS_MOCK_MAX_CONNECTIONS", value_name = "COUNT", help_heading = "Limits")]
    max_connections: Option<usize>,
    /// What is logged to standard error: error, warn, info, debug, or directives such as `sqs_mock_server=debug`
    /// [default: warn].
    #[arg(long, env = "SQS_MOCK_LOG", value_name = "LEVEL", value_parser = log, help_heading = "Log")]
    log: Option<String>,
    /// The format of the log [default: text].
    #[arg(
        long,
        env = "SQS_MOCK_LOG_FORMAT",
        value_name = "FORMAT",
        value_parser = word::<LogFormat>(&FORMATS),
        help_heading = "Log"
    )]
    log_format: Option<LogFormat>,
}

/// The faults of one `--fault`.
#[derive(Clone, Debug)]
struct Faults(Vec<Fault>);

/// A setting with the words that a config file has for it, each with its help.
fn word<T>(words: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let values = words.iter().map(|(word, help)| PossibleValue::new(word).help(help));
    let deserialize =
        |word: String| T::deserialize(IntoDeserializer::<value::Error>::into_deserializer(word));
    PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(deserialize)
}

const STYLES: [(&str, &str); 3] = [
    ("path", "<host>/<account>/<name>"),
    ("subdomain", "sqs.<region>.<host>/<account>/<name>"),
    ("legacy", "<region>.queue.<host>/<account>/<name>"),
];
const AUTHS: [(&str, &str); 2] =
    [("none", "Not at all"), ("sigv4", "By a signature (version 4) with one of the keys")];
const DELIVERIES: [(&str, &str); 2] = [
    ("ordered", "In order, each message once, and every message that is available"),
    ("aws-like", "As AWS: short polls miss some messages, the order varies slightly, a few are duplicated"),
];
const FORMATS: [(&str, &str); 2] =
    [("text", "A line of text for each event"), ("json", "A line with a JSON object for each event")];

fn truth(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("allowed is true or false"),
    }
}

/// Decimal, or hexadecimal as GET /_mock shows it.
fn seed(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|error| format!("a seed is a 64-bit number, such as 7 or 0xbeef: {error}"))
}

/// One fault, or an array of them.
fn faults(text: &str) -> Result<Faults, String> {
    if !text.trim_start().starts_with('[') {
        return text.parse().map(|fault| Faults(vec![fault])).map_err(|error| format!("{error}"));
    }
    let list: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let read = |(at, fault): (usize, &serde_json::Value)| {
        fault.to_string().parse().map_err(|error| format!("number {} of the array: {error}", at + 1))
    };
    list.iter().enumerate().map(read).collect::<Result<_, String>>().map(Faults)
}

fn log(text: &str) -> Result<String, tracing_subscriber::filter::ParseError> {
    EnvFilter::try_new(text).map(|_| text.to_owned())
}

impl Arguments {
    /// Changes the settings of a file or the defaults to those of flags and environment. Only faults add up, those of
    /// the file first.
    ///
    /// # Errors
    /// A key is malformed; the text does not show it. Settings of S3 are given without a directory.
    pub(crate) fn apply(self, config: &mut Config) -> Result<(), String> {
        fn set<T>(to: &mut T, from: Option<T>) {
            if let Some(value) = from {
                *to = value;
            }
        }
        set(&mut config.host, self.host.map(Some));
        config.port = self.port.or(config.port).or(Some(PORT));
        set(&mut config.public_url, self.public_url.map(Some));
        set(&mut config.queue_url_style, self.queue_url_style);
        set(&mut config.allow_hosts, given(self.allow_hosts));
        set(&mut config.cors_origins, given(self.cors_origins));
        set(&mut config.admin_token, self.admin_token.map(|token| Some(Secret::from(token))));
        set(&mut config.account, self.account.map(Some));
        set(&mut config.region, self.region.map(Some));
        set(&mut config.auth, self.auth);
        set(&mut config.relaxed_timing, self.relaxed_timing);
        set(&mut config.delivery, self.delivery);
        set(&mut config.auto_create, self.auto_create);
        set(&mut config.journal, self.journal.map(Some));
        config.faults.extend(self.faults.into_iter().flat_map(|Faults(faults)| faults));
        set(&mut config.seed, self.seed.map(Some));
        set(&mut config.limits.max_memory, self.max_memory.map(|ByteSize(bytes)| bytes));
        set(&mut config.limits.max_queues, self.max_queues);
        set(&mut config.limits.max_connections, self.max_connections);
        set(&mut config.log, self.log.map(Some));
        set(&mut config.log_format, self.log_format);
        #[cfg(feature = "s3")]
        s3(self.with_s3, self.s3_port, self.s3_buckets, &mut config.s3)?;
        if !self.keys.is_empty() {
            config.keys = self.keys.iter().map(|text| key(text)).collect::<Result<_, _>>()?;
        } else if config.keys.is_empty() {
            config.keys.insert("test".to_owned(), Secret::from("test"));
        }
        Ok(())
    }
}

/// The values of a repeated flag, if it is given.
fn given(list: Vec<String>) -> Option<Vec<String>> {
    Some(list).filter(|list| !list.is_empty())
}

/// Changes the settings of S3 to those of flags.
#[cfg(feature = "s3")]
fn s3(
    directory: Option<PathBuf>,
    port: Option<u16>,
    buckets: Vec<String>,
    settings: &mut Option<S3>,
) -> Result<(), String> {
    if directory.is_some() {
        settings.get_or_insert_with(S3::temporary).directory = directory;
    }
    match settings {
        Some(settings) => {
            settings.port = port.or(settings.port).or(Some(S3_PORT));
            settings.buckets = given(buckets).unwrap_or_else(|| std::mem::take(&mut settings.buckets));
        }
        None if port.is_some() || !buckets.is_empty() => {
            return Err("--s3-port and --s3-bucket require --with-s3 DIR".to_owned());
        }
        None => {}
    }
    Ok(())
}

fn key(text: &str) -> Result<(String, Secret), String> {
    match text.split_once(':') {
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => {
            Ok((id.to_owned(), Secret::from(secret)))
        }
        _ => Err("a key of --key or SQS_MOCK_KEYS must have the form ID:SECRET".to_owned()),
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
