//! The binary: flags, environment and config file in, a server out.

mod cli;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use sqs_mock_server::{Auth, ConfigFile, LogFormat, MockSqs};
use tracing_subscriber::EnvFilter;

use cli::Arguments;

/// How many queues are listed at the start.
const LISTED: usize = 20;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            for line in message.lines() {
                eprintln!("error: {line}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let (path, only_check) = (arguments.config.clone(), arguments.check_config);
    let faults = arguments.faults.clone();
    let file = path.as_ref().map_or_else(|| Ok(ConfigFile::default()), ConfigFile::read);
    let config = arguments.merged_into(file.map_err(|error| error.to_string())?)?;
    start_log(&config)?;
    if only_check {
        return check(config, path.as_deref());
    }
    let auth = config.auth.unwrap_or(Auth::None);
    let stop_requested = stop_requested().map_err(|error| format!("cannot wait for signals: {error}"))?;
    let builder =
        faults.into_iter().fold(MockSqs::builder().config(config), sqs_mock_server::MockSqsBuilder::fault);
    let started = builder.start().await;
    let server = started.map_err(|error| explain(&error))?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        endpoint = server.endpoint_url(),
        config = path.as_deref().map(|path| tracing::field::display(path.display())),
        ?auth,
        queues = server.configured_queues().len(),
        "listening"
    );
    // Whoever closed standard output does not want to read this; the server serves all the same.
    let _ = greet(&server);
    let signal = stop_requested.await;
    tracing::info!(signal, "stopping");
    server.shutdown().await;
    tracing::info!("stopped");
    Ok(())
}

fn start_log(config: &ConfigFile) -> Result<(), String> {
    let directives = config.log.as_deref().unwrap_or("warn");
    let filter = EnvFilter::try_new(directives).map_err(|error| format!("--log {directives}: {error}"))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match config.log_format {
        Some(LogFormat::Json) => log.json().flatten_event(true).init(),
        _ => log.with_ansi(io::stderr().is_terminal()).init(),
    }
    Ok(())
}

/// Does all that a start does but listen.
fn check(config: ConfigFile, path: Option<&Path>) -> Result<(), String> {
    let server = MockSqs::builder().config(config).in_process().map_err(|error| error.to_string())?;
    let name = path.map_or("flags and environment".into(), Path::to_string_lossy);
    println!("{name}: no fault found, queues: {}", server.configured_queues().len());
    Ok(())
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{error}; choose another with --port, or any free one with --port 0")
        }
        _ => error.to_string(),
    }
}

fn greet(server: &MockSqs) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "sqs-mock-server {} listens on {}", env!("CARGO_PKG_VERSION"), server.endpoint_url())?;
    writeln!(out)?;
    for (name, value) in server.environment() {
        writeln!(out, "export {name}={value}")?;
    }
    let queues = server.configured_queues();
    if !queues.is_empty() {
        writeln!(out, "\nQueues:")?;
        for url in queues.iter().take(LISTED) {
            writeln!(out, "  {url}")?;
        }
        if queues.len() > LISTED {
            writeln!(out, "  and {} more", queues.len() - LISTED)?;
        }
    }
    out.flush()
}

/// Waits for a signal to stop. It is listened for from here on, which has to be before anybody is told that the server
/// runs: a signal that nobody listens for kills.
#[cfg(unix)]
fn stop_requested() -> io::Result<impl Future<Output = &'static str>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        }
    })
}

/// Waits for ctrl-c.
#[cfg(windows)]
fn stop_requested() -> io::Result<impl Future<Output = &'static str>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
        "ctrl-c"
    })
}
