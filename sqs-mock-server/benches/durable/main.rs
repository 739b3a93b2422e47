//! Run with: `cargo bench -p sqs-mock-server --bench durable`
//!
//! What a data directory costs: sends in memory and with each durability, beside other servers that keep messages in
//! files, and restarts after SIGKILL.
//!
//! | Module | Contents |
//! |---|---|
//! | `options` | the command line |
//! | `server` | the servers and their settings |
//! | `load` | sends on a number of connections, with the latency of each |
//! | `syncs` | sends per fsync, counted by strace |
//! | `restart` | memory and file of many messages, and the time to restore them |
//! | `report` | the tables |

mod load;
#[path = "../peers/obtain.rs"]
#[expect(dead_code, reason = "other benches use the rest")]
mod obtain;
mod options;
#[path = "../peers/process.rs"]
mod process;
mod report;
#[path = "../peers/requests.rs"]
#[expect(dead_code, reason = "other benches use the rest")]
mod requests;
mod restart;
mod server;
mod syncs;
#[path = "../peers/wire.rs"]
mod wire;

use std::path::Path;
use std::process::ExitCode;

use options::Options;
use process::Process;
use report::{Measured, Restarted};
use server::Server;
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(arguments: Arguments) -> Result<(), BoxError> {
    let Some(options) = options::read(arguments)? else {
        println!("{}", options::HELP);
        return Ok(());
    };
    let directory = tempfile::tempdir_in(&options.directory)?;
    let mut servers = Vec::new();
    for server in options.servers.iter().copied() {
        match server.install().unwrap_or_else(|error| Err(error.to_string())) {
            Ok(()) => servers.push(server),
            Err(reason) => println!("skipped: {server}, because {reason}\n"),
        }
    }
    let measured = sends(&servers, directory.path(), &options)?;
    report::sends(&measured);
    if options.messages > 0 {
        let restarted = restarts(&servers, directory.path(), &options)?;
        report::restarts(&restarted);
    }
    Ok(())
}

/// All servers run at once; each round measures one after the other.
fn sends(servers: &[Server], directory: &Path, options: &Options) -> Result<Vec<Measured>, BoxError> {
    let mut running = Vec::new();
    for &server in servers {
        let process = Process::start(&server.start(&subdirectory(directory, server, "sends")?))?;
        running.push((process, Measured::new(server, &options.connections)));
    }
    for round in 0..=options.rounds {
        for (process, measured) in &mut running {
            eprint!("\r\x1b[K{}: round {round} of {}", measured.server, options.rounds);
            for (&connections, rounds) in options.connections.iter().zip(&mut measured.rounds) {
                let sends = load::round(process, connections, options.time)?;
                // The first one warms up.
                rounds.extend((round > 0).then_some(sends));
            }
        }
    }
    let mut all: Vec<_> = running.into_iter().map(|(_, measured)| measured).collect();
    for measured in &mut all {
        eprint!("\r\x1b[K{}: counting fsyncs", measured.server);
        let directory = subdirectory(directory, measured.server, "syncs")?;
        for &connections in &options.connections {
            let start = measured.server.start(&directory);
            measured.per_sync.push(syncs::sends_per_sync(start, connections, options.time)?);
        }
    }
    eprint!("\r\x1b[K");
    Ok(all)
}

fn restarts(servers: &[Server], directory: &Path, options: &Options) -> Result<Vec<Restarted>, BoxError> {
    let mut all = Vec::new();
    for &server in servers {
        let directory = subdirectory(directory, server, "restart")?;
        match restart::measure(server, &directory, options.messages) {
            Ok(restarted) => all.push(restarted),
            Err(error) => println!("skipped: restart of {server}, because of an error: {error}\n"),
        }
        std::fs::remove_dir_all(directory)?;
    }
    Ok(all)
}

fn subdirectory(directory: &Path, server: Server, name: &str) -> Result<std::path::PathBuf, BoxError> {
    let path = directory.join(format!("{server}-{name}"));
    std::fs::create_dir_all(&path)?;
    Ok(path)
}
