//! Flags and environment variables of the binary, and how they override the settings of a config file.

mod apply;
mod environment;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use sqs_mock_server::explore::{Disturbance, SchedulePlan};
use sqs_mock_server::{
    Auth, ByteSize, Compat, DeliveryMode, Durability, LogFormat, Policies, QueueUrlStyle, Trigger,
};
use strum::VariantArray as _;

pub(crate) use apply::PORT;
use values::{
    AUTHS, COMPATS, DELIVERIES, DURABILITIES, FORMATS, Faults, POLICIES, Quotas, STYLES, count, faults, log,
    part, port, quotas, seed, time, trigger, truth, word,
};

const EXAMPLES: &str = "\
Examples:
  Start on the default port, and talk to it with the AWS CLI:
    sqs-mock-server
    export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
    aws --endpoint-url http://127.0.0.1:9324 sqs create-queue --queue-name orders

  S3 is on the same port:
    aws --endpoint-url http://127.0.0.1:9324 s3 mb s3://payloads

  With settings and queues from a file (docs/config-file.md of the project has an example):
    sqs-mock-server --config sqs.toml --check-config
    sqs-mock-server --config sqs.toml

  Reachable from other machines and containers (queue URLs follow the host that each caller uses):
    sqs-mock-server --host 0.0.0.0

  For an SDK in your own web page; pages of other origins can neither change nor read anything:
    sqs-mock-server --cors-origin http://localhost:3000

  Any free port, and as strict as AWS: mistakes are reported, and the name of a deleted queue is free after 60 s:
    sqs-mock-server --port 0 --strict

  The same ids and receipt handles in every run, with every request in the log:
    sqs-mock-server --seed 7 --log sqs_mock_server=debug --log-format json

  In place of LocalStack: port 4566, the line Ready., /_localstack/health:
    sqs-mock-server --compat localstack --host 0.0.0.0

  HTTPS, with a generated certificate for localhost:
    sqs-mock-server --tls
    curl -o root.pem http://127.0.0.1:9324/_mock/tls-root
    AWS_CA_BUNDLE=root.pem aws --endpoint-url https://localhost:9324 sqs list-queues

  A hundred schedules of faults for the tests of a worker, and the smallest one that breaks it:
    sqs-mock-server explore -- pytest tests/test_worker.py

  Health and Prometheus metrics:
    sqs-mock-server healthcheck
    curl http://127.0.0.1:9324/health
    curl http://127.0.0.1:9324/metrics

Each flag has an environment variable. Flags override the environment, which overrides the config
file, which overrides the defaults. Faults and triggers of the file and of flags add up. Empty variables are
ignored. An access key of 12 digits is the account of its caller, and the region of a signature
is that of its caller. Signatures are verified only with --auth sigv4.

The first ctrl-c or SIGTERM stops gracefully, the second one immediately.";

/// Amazon SQS, SNS and S3 on your machine: full queue semantics, topics, buckets and their events. Nothing else to install.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) task: Option<Task>,
    /// TOML file with settings and initial queues.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Checks settings and queues, reports problems, and exits without listening.
    #[arg(long, value_name = "BOOL", value_parser = truth)]
    pub(crate) check_config: Option<bool>,
    /// Address to listen on; 0.0.0.0 for all [default: 127.0.0.1].
    #[arg(long, help_heading = "Network", global = true)]
    host: Option<String>,
    /// Port to listen on; 0 takes a free port and prints it [default: 9324].
    #[arg(long, value_parser = port, help_heading = "Network", global = true)]
    port: Option<u16>,
    /// Takes the default port of another server and answers its readiness checks, for tools that start that server.
    #[arg(
        long,
        value_name = "SERVER",
        value_parser = word::<Compat>(&COMPATS),
        help_heading = "Network",
        global = true
    )]
    compat: Option<Compat>,
    /// Also serves HTTPS on the same port, by default with a generated certificate for localhost. GET /_mock/tls-root returns
    /// the root to trust [default: false, or true with --tls-cert].
    #[arg(long, value_name = "BOOL", value_parser = truth, help_heading = "Network")]
    tls: Option<bool>,
    /// The certificate for HTTPS in PEM, with intermediate ones.
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    tls_cert: Option<PathBuf>,
    /// The private key of --tls-cert in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    tls_key: Option<PathBuf>,
    /// Base of all queue URLs, for servers behind a proxy. By default it is the host that the caller used.
    #[arg(long, value_name = "URL", help_heading = "Network")]
    public_url: Option<String>,
    /// How queue URLs name the region [default: path].
    #[arg(
        long,
        value_name = "STYLE",
        value_parser = word::<QueueUrlStyle>(&STYLES),
        help_heading = "Network"
    )]
    queue_url_style: Option<QueueUrlStyle>,
    /// A host name that /_mock, /metrics, actions by GET and S3 accept, with its subdomains. Repeat the flag for more
    /// names, or separate them by commas. Names that public DNS cannot resolve are always accepted.
    #[arg(long = "allow-host", value_name = "NAME", value_delimiter = ',', help_heading = "Browsers")]
    allow_hosts: Vec<String>,
    /// An origin whose pages may use the server, such as `http://localhost:3000`. Repeat the flag for more origins, or
    /// separate them by commas. By default web pages can neither change nor read anything.
    #[arg(long = "cors-origin", value_name = "ORIGIN", value_delimiter = ',', help_heading = "Browsers")]
    cors_origins: Vec<String>,
    /// A host, network or address that web hooks and functions may have besides loopback addresses: `hooks`, `10.0.0.0/8`,
    /// or `private` for all private networks. Repeat the flag for more, or separate them by commas.
    #[arg(long, value_name = "DESTINATION", value_delimiter = ',', help_heading = "Deliveries")]
    deliver_to: Vec<String>,
    /// Invokes a function with the messages of a queue, as an event source mapping of AWS Lambda does: the URL is that of the
    /// invoke API of cargo lambda, the Runtime Interface Emulator or SAM, or a plain hook. Repeat the flag for more, or separate them
    /// by commas. Triggers of flags and of the config file add up.
    #[arg(
        long,
        value_name = "QUEUE=URL",
        value_delimiter = ',',
        value_parser = trigger,
        hide_env_values = true,
        help_heading = "Deliveries"
    )]
    trigger: Vec<Trigger>,
    /// Token that /_mock, /_aws and /_localstack require: `Authorization: Bearer <TOKEN>`.
    #[arg(long, value_name = "TOKEN", hide_env_values = true, help_heading = "Browsers")]
    admin_token: Option<String>,
    /// Does not serve the page at /_mock/console/.
    #[arg(long, help_heading = "Browsers")]
    no_console: bool,
    /// Account of callers whose access key is not a 12-digit account [default: 000000000000].
    #[arg(long, help_heading = "Callers")]
    account: Option<String>,
    /// Region of callers that do not sign and whose host does not name a region [default: us-east-1].
    #[arg(long, help_heading = "Callers")]
    region: Option<String>,
    /// Whether requests must be signed with a known key; others are rejected as by AWS [default: none].
    #[arg(long, value_parser = word::<Auth>(&AUTHS), help_heading = "Callers")]
    auth: Option<Auth>,
    /// A key pair that may sign, for --auth sigv4. Repeat the flag for more pairs, or separate them by commas
    /// [default: test:test].
    #[arg(
        long = "key",
        value_name = "ID:SECRET",
        value_delimiter = ',',
        hide_env_values = true,
        help_heading = "Callers"
    )]
    keys: Vec<String>,
    /// Requires 60 s between deleting and creating a queue, and between two purges, as AWS does [default: the value of --strict].
    #[arg(long, value_name = "BOOL", value_parser = truth, help_heading = "Behavior")]
    one_minute_rules: Option<bool>,
    /// How standard queues deliver [default: ordered].
    #[arg(
        long,
        value_name = "MODE",
        value_parser = word::<DeliveryMode>(&DELIVERIES),
        help_heading = "Behavior"
    )]
    delivery: Option<DeliveryMode>,
    /// Creates queues and topics on first use, with default attributes; names that end in .fifo become FIFO ones.
    #[arg(long, value_name = "BOOL", value_parser = truth, help_heading = "Behavior")]
    auto_create: Option<bool>,
    /// Reports calls that work here but are mistakes on AWS, rejects queue URLs of other regions, and implies
    /// --one-minute-rules.
    #[arg(long, value_name = "BOOL", value_parser = truth, help_heading = "Behavior")]
    strict: Option<bool>,
    /// What access policies of queues do [default: warn].
    #[arg(
        long,
        value_name = "MODE",
        value_parser = word::<Policies>(&POLICIES),
        help_heading = "Behavior"
    )]
    policies: Option<Policies>,
    /// Limits calls to FIFO queues per second to the quotas of AWS, or to others as JSON: {"calls":300}. The page
    /// docs/fifo.md of the project lists all quotas [default: false].
    #[arg(long, value_name = "BOOL|JSON", value_parser = quotas, help_heading = "Behavior")]
    throughput_quotas: Option<Quotas>,
    /// Keeps queues and messages in this directory, over restarts. The directory is created if it is missing.
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    data: Option<PathBuf>,
    /// What stored changes survive [default: process].
    #[arg(long, value_name = "MODE", value_parser = word::<Durability>(&DURABILITIES), help_heading = "Data")]
    durability: Option<Durability>,
    /// Keeps the objects of S3 in this directory, which is created if it is missing. By default they are in `s3` in the
    /// directory of --data, or else in a temporary directory, which is deleted when the process exits.
    #[arg(long, value_name = "DIR", help_heading = "S3")]
    with_s3: Option<PathBuf>,
    /// A port for S3 only, which needs neither a signature nor a host `s3.*`; 0 takes a free port and prints it [default:
    /// 9325 with --with-s3, otherwise none].
    #[arg(long, value_name = "PORT", value_parser = port, help_heading = "S3")]
    s3_port: Option<u16>,
    /// An initial bucket. Repeat the flag for more buckets, or separate them by commas [default: payloads with --with-s3,
    /// otherwise none].
    #[arg(long = "s3-bucket", value_name = "NAME", value_delimiter = ',', help_heading = "S3")]
    s3_buckets: Vec<String>,
    /// Does not serve S3.
    #[arg(long, help_heading = "S3")]
    no_s3: bool,
    /// How many of the latest requests are recorded; 0 records none. GET /_mock/requests shows 100 of them, or up to
    /// 1000 with limit=, and earlier ones with skip= [default: 1000].
    #[arg(long, value_name = "COUNT", value_parser = count::<usize>, help_heading = "Behavior")]
    journal: Option<usize>,
    /// A fault as JSON: {"effect":"throttle","probability":0.05}. Repeat the flag for more faults, or pass an array.
    #[arg(long, value_name = "JSON", value_parser = faults, help_heading = "Behavior")]
    fault: Vec<Faults>,
    /// Makes random values repeatable: the same seed produces the same ids and order.
    #[arg(long, value_name = "NUMBER", value_parser = seed, help_heading = "Behavior")]
    seed: Option<u64>,
    /// Memory of all messages, topics and subscriptions together; sends beyond it fail [default: 2GiB].
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    max_memory: Option<ByteSize>,
    /// Queues in all accounts and regions; creating more fails [default: 100000].
    #[arg(long, value_name = "COUNT", value_parser = count::<usize>, help_heading = "Limits")]
    max_queues: Option<usize>,
    /// Connections at a time; more wait [default: 4096].
    #[arg(long, value_name = "COUNT", value_parser = count::<usize>, help_heading = "Limits")]
    max_connections: Option<usize>,
    /// Log level of standard error: error, warn, info, debug, or directives such as `sqs_mock_server=debug`
    /// [default: warn].
    #[arg(long, value_name = "LEVEL", value_parser = log, help_heading = "Log")]
    log: Option<String>,
    /// The format of the log [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = word::<LogFormat>(&FORMATS), help_heading = "Log")]
    log_format: Option<LogFormat>,
}

/// The kinds, as far as they need no process in Rust.
fn kinds_help() -> String {
    let kinds = Disturbance::VARIANTS.iter().filter(|kind| !kind.is_kill());
    let lines: Vec<_> = kinds.map(|kind| format!("{:<14} {}", kind.as_str(), kind.about())).collect();
    format!(
        "The disturbances that may happen, with commas between them [default: all]:\n{}",
        lines.join("\n")
    )
}

/// What to do instead of starting a server.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub(crate) enum Task {
    /// Asks a running server for its health; the exit code is 0 if it is healthy, otherwise 1.
    ///
    /// Host, port and --compat are those of the server: set them in the same way. It waits at most 2 s.
    Healthcheck,
    /// Runs a command, such as the tests of a worker, under many schedules of faults, and finds the smallest one that breaks it.
    ///
    /// Each run has a server of its own: the command finds it in `AWS_ENDPOINT_URL`. A failing exit code is a failing schedule.
    Explore(ExploreArguments),
}

/// What is explored, and how.
#[derive(Clone, Debug, PartialEq, Args)]
pub(crate) struct ExploreArguments {
    /// The number of schedules, after a run without any disturbance.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = count::<u32>)]
    pub(crate) schedules: u32,
    /// The seed of the first schedule; those of the others follow.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// The part of all calls that are disturbed, from 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 0.1, value_parser = part)]
    pub(crate) rate: f64,
    /// The disturbances that may happen, with commas between them [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', long_help = kinds_help())]
    pub(crate) kinds: Vec<Disturbance>,
    /// Access keys whose calls are left alone, with commas between them, such as the key of the test itself.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) undisturbed: Vec<String>,
    /// A run that takes longer is killed, and fails.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) timeout: Duration,
    /// Runs this plan alone, three times, as a report prints it.
    #[arg(long, value_name = "PLAN")]
    pub(crate) replay: Option<SchedulePlan>,
    /// The command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
