//! The binary: flags and environment in, a server out.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use sqs_mock_server::{Limits, MockSqs, QueueUrlStyle};
use tracing_subscriber::EnvFilter;

const EXAMPLES: &str = "\
Examples:
  Start on the default port, and talk to it with the AWS CLI:
    sqs-mock-server
    export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
    aws --endpoint-url http://127.0.0.1:9324 sqs create-queue --queue-name orders

  Reachable from other machines and containers (queue URLs follow the host that each caller uses):
    sqs-mock-server --host 0.0.0.0

  Any free port, without the 60 s that AWS asks for between deleting and creating a queue:
    sqs-mock-server --port 0 --relaxed-timing

  The same ids and receipt handles in every run, with every request in the log:
    sqs-mock-server --seed 7 --log sqs_mock_server=debug

Callers choose their account by an access key of 12 digits, and their region by the signature.
Signatures are not verified unless --auth sigv4 asks for it. Flags win over the environment.";

/// Amazon SQS on your machine: both protocols, full queue semantics, nothing to install.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Arguments {
    /// Address to listen on; 0.0.0.0 for all.
    #[arg(long, env = "SQS_MOCK_HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes a free one, which is printed.
    #[arg(long, env = "SQS_MOCK_PORT", default_value_t = 9324)]
    port: u16,
    /// Account of callers whose access key is not a 12-digit account.
    #[arg(long, env = "SQS_MOCK_ACCOUNT", default_value = "000000000000")]
    account: String,
    /// Region of callers that do not sign and whose host names none.
    #[arg(long, env = "SQS_MOCK_REGION", default_value = "us-east-1")]
    region: String,
    /// Base of all queue URLs, for servers behind a proxy; by default the host that the caller used.
    #[arg(long, env = "SQS_MOCK_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// How queue URLs name the region: not at all, as sqs.<region>.<host>, or as <region>.queue.<host>.
    #[arg(long, env = "SQS_MOCK_QUEUE_URL_STYLE", value_enum, default_value_t = Style::Path)]
    queue_url_style: Style,
    /// Makes queues when they are first named, with default attributes; FIFO queues when the name ends in .fifo.
    #[arg(long, env = "SQS_MOCK_AUTO_CREATE")]
    auto_create: bool,
    /// Lets queues be created again right after deletion and purged as often as you like.
    #[arg(long, env = "SQS_MOCK_RELAXED_TIMING")]
    relaxed_timing: bool,
    /// Makes everything random repeatable: the same seed gives the same ids, handles and order.
    #[arg(long, env = "SQS_MOCK_SEED", value_name = "NUMBER")]
    seed: Option<u64>,
    /// Whether requests must be signed with a known key; wrong ones are refused as AWS does.
    #[arg(long, env = "SQS_MOCK_AUTH", value_enum, default_value_t = Auth::None)]
    auth: Auth,
    /// A pair that may sign, for --auth sigv4; repeat it for more, or separate pairs by commas.
    #[arg(
        long = "key",
        env = "SQS_MOCK_KEYS",
        value_name = "ID:SECRET",
        value_delimiter = ',',
        default_value = "test:test",
        hide_env_values = true,
        value_parser = key
    )]
    keys: Vec<(String, String)>,
    /// Connections served at a time; more wait.
    #[arg(long, env = "SQS_MOCK_MAX_CONNECTIONS", value_name = "COUNT", default_value_t = Limits::default().max_connections)]
    max_connections: usize,
    /// What goes to standard error: error, warn, info, debug, or directives such as `sqs_mock_server=debug`.
    #[arg(
        long,
        env = "SQS_MOCK_LOG",
        value_name = "LEVEL",
        default_value = "warn",
        value_parser = |text: &str| EnvFilter::try_new(text)
    )]
    log: EnvFilter,
}

/// How queue URLs name the region.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Style {
    /// <host>/<account>/<name>
    Path,
    /// sqs.<region>.<host>/<account>/<name>
    Subdomain,
    /// <region>.queue.<host>/<account>/<name>
    Legacy,
}

impl From<Style> for QueueUrlStyle {
    fn from(style: Style) -> Self {
        match style {
            Style::Path => Self::Path,
            Style::Subdomain => Self::Subdomain,
            Style::Legacy => Self::Legacy,
        }
    }
}

/// How callers prove who they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Auth {
    /// Not at all.
    None,
    /// By a signature (version 4) with one of the keys.
    Sigv4,
}

fn key(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => Ok((id.to_owned(), secret.to_owned())),
        _ => Err("a key looks like ID:SECRET".to_owned()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let Arguments { host, port, account, region, public_url, relaxed_timing, seed, .. } = arguments;
    let Arguments { auth, keys, max_connections, log, queue_url_style, auto_create, .. } = arguments;
    tracing_subscriber::fmt().with_env_filter(log).with_writer(io::stderr).init();
    let mut limits = Limits::default();
    limits.max_connections = max_connections;
    let mut builder = MockSqs::builder().port(port).account(account).region(&region).limits(limits);
    builder = builder.queue_url_style(queue_url_style.into());
    if auto_create {
        builder = builder.auto_create_queues();
    }
    if relaxed_timing {
        builder = builder.relaxed_timing();
    }
    if let Some(seed) = seed {
        builder = builder.seed(seed);
    }
    if let Some(url) = public_url {
        builder = builder.public_url(url);
    }
    let mut credentials = ("test".to_owned(), "test".to_owned());
    if auth == Auth::Sigv4 {
        credentials = keys.first().cloned().unwrap_or(credentials);
        builder = builder.require_signatures(keys);
    }
    let server = builder.host(&host).start().await.map_err(|error| explain(&error, &host, port))?;
    // Whoever closed standard output does not want to read this; the server serves all the same.
    let _ = greet(server.endpoint_url(), &region, &credentials);
    stop_requested().await.map_err(|error| format!("cannot wait for signals: {error}"))?;
    tracing::info!("stopping");
    server.shutdown().await;
    Ok(())
}

fn explain(error: &io::Error, host: &str, port: u16) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "port {port} of {host} is in use; choose another with --port, or any free one with --port 0"
            )
        }
        io::ErrorKind::PermissionDenied => format!("listening on port {port} of {host} is not permitted"),
        io::ErrorKind::InvalidInput => error.to_string(),
        _ => format!("cannot listen on port {port} of {host}: {error}"),
    }
}

fn greet(endpoint: &str, region: &str, (id, secret): &(String, String)) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "sqs-mock-server {} listens on {endpoint}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out)?;
    writeln!(out, "export AWS_ENDPOINT_URL_SQS={endpoint}")?;
    writeln!(out, "export AWS_REGION={region}")?;
    writeln!(out, "export AWS_ACCESS_KEY_ID={id}")?;
    writeln!(out, "export AWS_SECRET_ACCESS_KEY={secret}")?;
    out.flush()
}

/// Returns on SIGTERM or ctrl-c.
#[cfg(unix)]
async fn stop_requested() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Returns on ctrl-c.
#[cfg(not(unix))]
async fn stop_requested() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
