//! The binary: starts a server from flags, environment and config file, or asks a running one for its health.

mod cli;
mod greeting;
mod healthcheck;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Duration;

use sqs_mock_server::explore::ExploreCommand;
use sqs_mock_server::{Config, LogFormat, MockSqs, MockSqsBuilder};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use cli::{Arguments, ExploreArguments, Task};

/// Messages are allocated one by one, and freed in another order by other threads. This allocator is much faster at
/// that than libc's: compare with `cargo bench -p sqs-mock-server --bench peers`. Embedded servers use the allocator of
/// their program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often the clock makes up for time in which the system was suspended.
const CATCH_UP: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> ExitCode {
    let (arguments, warnings) = Arguments::read();
    // The server has shown them when it started, and the health of a container has one line.
    let shown = if arguments.task.is_none() { warnings } else { Vec::new() };
    for warning in shown {
        eprintln!("warning: {warning}");
    }
    match run(arguments).await {
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
    let (path, only_check) = (arguments.config.clone(), arguments.check_config.unwrap_or_default());
    let task = arguments.task.clone();
    let file = path.as_ref().map_or_else(|| Ok(Config::default()), Config::read);
    let mut config = file.map_err(|error| error.to_string())?;
    arguments.apply(&mut config)?;
    if task == Some(Task::Healthcheck) {
        return healthcheck::check(&config).await;
    }
    if task.is_some() {
        // Of thousands of requests that are disturbed, each would be a line.
        config.log.get_or_insert_with(|| "error,s3s=off".to_owned());
    }
    start_log(&config)?;
    if let Some(Task::Explore(arguments)) = task {
        return explore(config, arguments).await;
    }
    if only_check {
        return check(config, path.as_deref());
    }
    let (auth, compat, has_console) = (config.auth, config.compat, config.has_console());
    let mut signals = Signals::listen().map_err(|error| format!("cannot wait for signals: {error}"))?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "starting");
    // A large data directory is read for seconds, which must not keep signals waiting.
    let runtime = Handle::current();
    let starting = spawn_blocking(move || runtime.block_on(MockSqsBuilder::from(config).start()));
    let started = tokio::select! {
        started = starting => started.map_err(|error| error.to_string())?,
        signal = signals.next() => {
            tracing::info!(signal = signal.name, "ended before the start was complete");
            exit(signal.exit_code);
        }
    };
    let server = started.map_err(|error| explain(&error))?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        endpoint = server.endpoint_url(),
        config = path.as_deref().map(|path| tracing::field::display(path.display())),
        ?auth,
        queues = server.configured_queues().len(),
        topics = server.configured_topics().len(),
        "listening"
    );
    // A closed standard output must not stop the server.
    let _ = greeting::greet(&server, has_console, compat);
    let clock = server.clock().clone();
    let catching_up = tokio::spawn(async move {
        loop {
            tokio::time::sleep(CATCH_UP).await;
            clock.catch_up();
        }
    });
    stop(server, &mut signals).await;
    catching_up.abort();
    Ok(())
}

/// The exit code of `explore` if it cannot run. A schedule that breaks the command has 1.
const CANNOT_RUN: i32 = 2;

/// Explores a command, until it is done or a signal ends it.
async fn explore(config: Config, arguments: ExploreArguments) -> Result<(), String> {
    let has_directory = config.s3.as_ref().is_some_and(|s3| s3.directory.is_some());
    if config.data.is_some() || has_directory {
        eprintln!(
            "error: explore cannot be combined with a data directory or a directory of S3: each run has a new server"
        );
        exit(CANNOT_RUN)
    }
    let mut signals = Signals::listen().map_err(|error| format!("cannot wait for signals: {error}"))?;
    let mut explored = ExploreCommand::new(arguments.command)
        .server(MockSqsBuilder::from(config))
        .schedules(arguments.schedules)
        .seed(arguments.seed)
        .rate(arguments.rate)
        .undisturbed(arguments.undisturbed)
        .timeout(arguments.timeout)
        .invocation(invocation());
    if !arguments.kinds.is_empty() {
        explored = explored.kinds(arguments.kinds);
    }
    if let Some(plan) = arguments.replay {
        explored = explored.replay(plan);
    }
    let ended = tokio::select! {
        ended = explored.run() => Ok(ended),
        signal = signals.next() => Err(signal),
    };
    // The command that ran is killed.
    let ended = ended.unwrap_or_else(|signal| exit(signal.exit_code));
    match ended {
        Ok(Ok(explored)) => {
            println!("{explored}");
            Ok(())
        }
        Ok(Err(broken)) => {
            println!("{broken}");
            Err(if broken.plan.decisions.is_empty() {
                "the command fails"
            } else {
                "a schedule breaks the command"
            }
            .to_owned())
        }
        Err(error) => {
            eprintln!("error: {error}");
            exit(CANNOT_RUN)
        }
    }
}

/// This program and its flags, without those of the subcommand.
fn invocation() -> Vec<OsString> {
    const OWN: [&str; 7] =
        ["--kinds", "--rate", "--replay", "--schedules", "--seed", "--timeout", "--undisturbed"];
    let mut words = env::args_os().take_while(|word| word != "--");
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        match OWN.iter().find_map(|own| text.strip_prefix(own)) {
            Some("") => drop(words.next()),
            Some(rest) if rest.starts_with('=') => {}
            _ => kept.push(word),
        }
    }
    if let Some(subcommand) = kept.iter().rposition(|word| word == "explore") {
        kept.remove(subcommand);
    }
    kept
}

/// Waits for a signal and stops gracefully. A second signal ends the process immediately.
async fn stop(server: MockSqs, signals: &mut Signals) {
    let signal = signals.next().await;
    tracing::info!(signal = signal.name, "stopping");
    tokio::select! {
        () = server.shutdown() => tracing::info!("stopped"),
        signal = signals.next() => {
            tracing::info!(signal = signal.name, "ended");
            exit(signal.exit_code);
        }
    }
}

fn start_log(config: &Config) -> Result<(), String> {
    // s3s logs rejected requests as errors.
    let default = "warn,s3s=off";
    let directives = config.log.as_deref().unwrap_or(default);
    let targets: Targets = directives.parse().map_err(|error| format!("--log {directives}: {error}"))?;
    let log = tracing_subscriber::registry().with(targets);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    match config.log_format {
        LogFormat::Json => log.with(lines.json().flatten_event(true)).init(),
        _ => log.with(lines.with_ansi(io::stderr().is_terminal())).init(),
    }
    Ok(())
}

/// Starts a server without a socket.
fn check(mut config: Config, path: Option<&Path>) -> Result<(), String> {
    // The queues of the file would be created in it.
    config.data = None;
    // On a thread without the runtime, so that no trigger starts.
    let started = thread::spawn(|| MockSqsBuilder::from(config).in_process()).join();
    let started = started.map_err(|_| "the check failed; the message above says why".to_owned())?;
    let server = started.map_err(|error| error.to_string())?;
    let name = path.map_or("flags and environment".into(), Path::to_string_lossy);
    let (queues, topics) = (server.configured_queues().len(), server.configured_topics().len());
    println!("{name}: no problems found, queues: {queues}, topics: {topics}");
    Ok(())
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            let flag = if error.to_string().starts_with("S3: ") { "--s3-port" } else { "--port" };
            format!("{error}; choose another with {flag}, or any free one with {flag} 0")
        }
        _ => error.to_string(),
    }
}

/// A received signal.
#[derive(Clone, Copy, Debug)]
struct Signal {
    name: &'static str,
    /// The exit code of a process that this signal ended, as shells report it.
    exit_code: i32,
}

const INTERRUPT: Signal = Signal { name: if cfg!(windows) { "ctrl-c" } else { "SIGINT" }, exit_code: 130 };
#[cfg(unix)]
const TERMINATE: Signal = Signal { name: "SIGTERM", exit_code: 143 };

/// Receives signals. It must be created before the server reports that it runs: an unhandled signal kills the process.
#[derive(Debug)]
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Signals {
    #[cfg(unix)]
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(windows)]
    fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPT,
            _ = self.terminate.recv() => TERMINATE,
        }
    }

    /// Waits for the next signal.
    #[cfg(windows)]
    async fn next(&mut self) -> Signal {
        self.interrupt.recv().await;
        INTERRUPT
    }
}
