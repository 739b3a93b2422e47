//! Run with: `cargo bench -p sqs-mock-server --bench peers`
//!
//! Compares sqs-mock-server with other SQS servers, and with the floor: the cost of the same HTTP without any work.
//!
//! | Module | Contents |
//! |---|---|
//! | `options` | the command line |
//! | `peer` | the servers, and how each is started |
//! | `obtain` | pinned packages of pip, Maven and cargo, cached in the target folder |
//! | `process` | a server as a process: its first response, CPU time and memory |
//! | `floor` | the server that only sends constant responses |
//! | `requests`, `wire` | requests as bytes; connections |
//! | `work` | operations, rounds, and counts of responses |
//! | `check` | checks that a server behaves like SQS |
//! | `report` | the tables and the plot |

mod check;
mod floor;
#[expect(dead_code, reason = "other benches use the rest")]
mod obtain;
mod options;
mod peer;
mod process;
mod report;
mod requests;
mod wire;
mod work;

use std::process::ExitCode;

use options::{Mode, Options};
use peer::Peer;
use process::{Process, Usage};
use report::Measured;
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::figures::median;
use work::{Operation, Tally};

/// The allocator of the binary of sqs-mock-server, for the floor.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of starts of each server.
const STARTS: usize = 3;

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(arguments: Arguments) -> Result<(), BoxError> {
    match options::read(arguments)? {
        Mode::Help => println!("{}", options::HELP),
        Mode::Floor(port) => floor::run(port)?,
        Mode::Compare(options) => compare(&options)?,
    }
    Ok(())
}

fn compare(options: &Options) -> Result<(), BoxError> {
    let (mut measured, mut missing) = (Vec::new(), Vec::new());
    for &peer in &options.servers {
        let installed = peer.install().unwrap_or_else(|error| Err(error.to_string()));
        let start = match installed {
            Ok(start) => start,
            Err(reason) => {
                println!("skipped: {peer}, because {reason}\n");
                missing.push(peer);
                continue;
            }
        };
        if options.only_prepare {
            continue;
        }
        match measure(peer, &start, options) {
            Ok(of) => measured.push(of),
            Err(error) => {
                println!("skipped: {peer}, because of an error: {error}\n");
                missing.push(peer);
            }
        }
    }
    report::print(&measured);
    if let Some(path) = options.svg.as_ref().filter(|_| !measured.is_empty()) {
        report::plot(&measured).save(path)?;
    }
    match missing.iter().find(|peer| matches!(peer, Peer::Floor | Peer::Ours)) {
        Some(peer) => Err(format!("{peer} is missing").into()),
        None => Ok(()),
    }
}

/// Starts a server and runs all rounds of every operation.
fn measure(peer: Peer, start: &process::Start, options: &Options) -> Result<Measured, BoxError> {
    eprint!("{peer}: starting ..");
    let mut starts: Vec<_> =
        (1..STARTS).map(|_| Ok(Process::start(start)?.first_response)).collect::<Result<_, BoxError>>()?;
    let process = Process::start(start)?;
    starts.push(process.first_response);
    let queue = check::create_queue(process.address)?;
    if peer != Peer::Floor {
        check::keeps_messages(process.address, &queue)?;
    }
    let mut tallies = Operation::ALL.map(|_| Tally::default());
    for round in 0..=options.rounds {
        // Receives remove the messages that the batches of the same round send.
        let mut stock = 0;
        for (operation, tally) in Operation::ALL.into_iter().zip(&mut tallies) {
            eprint!("\r\x1b[K{peer}: round {round} of {}, {operation}", options.rounds);
            let before = process.usage()?;
            let mut tally_of_round = options.bench.round(operation, process.address, &queue, stock)?;
            tally_of_round.cpu = process.usage()?.cpu.saturating_sub(before.cpu);
            stock = tally_of_round.left;
            *tally = if round == 0 {
                Tally { left: tally_of_round.left, ..Tally::default() }
            } else {
                tally.add(tally_of_round)
            };
        }
    }
    eprintln!("\r\x1b[K{peer}: done");
    let Usage { memory, .. } = process.usage()?;
    Ok(Measured { peer, tallies, memory, first_response: median(starts, Ord::cmp).unwrap_or_default() })
}
