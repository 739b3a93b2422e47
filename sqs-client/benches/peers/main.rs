//! Run with: `cargo bench -p sqs-client --bench peers`, and with `--features hyper` to measure that transport too.
//!
//! Measures the cost of a request: sqs-client, aws-sdk-sqs, and a floor, a bare HTTP client that sends prepared bytes.
//!
//! This program starts the server, which sends fixed responses, and one process per measurement:
//!
//! ```text
//! main --serve--> server <--HTTP-- client <--client-- main      for each round, row, concurrency and peer
//! ```

mod canned;
mod client;
mod figures;
mod floor;
mod options;
mod peers;
mod plot;
mod server;
mod table;

use std::process::{Command, ExitCode, Stdio};

use figures::Figures;
use options::{Measurement, Mode, Options};
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use table::Table;

/// Counts the allocations of all peers.
#[global_allocator]
static ALLOCATOR: alloc_tracker::Allocator<std::alloc::System> = alloc_tracker::Allocator::system();

fn main() -> ExitCode {
    exit_code(run())
}

fn run() -> Result<(), BoxError> {
    match options::read(Arguments::from_env())? {
        Mode::Help => println!("{}", options::HELP),
        Mode::Serve(body) => server::run(body)?,
        Mode::Client(measurement, url) => println!("{}", client::run(&measurement, &url)?),
        Mode::Compare(options) => compare(&options)?,
    }
    Ok(())
}

fn compare(options: &Options) -> Result<(), BoxError> {
    let (_server, url) = server::start(options.body)?;
    let mut table = Table::default();
    for _ in 0..options.rounds {
        // Alternates between peers, so that a slow phase of the machine affects all of them.
        for measurement in options.measurements() {
            let figures = measure(&measurement, &url)?;
            table.add(measurement, figures);
        }
    }
    println!("{table}");
    if let Some(path) = &options.svg {
        plot::bars(&table).save(path)?;
    }
    Ok(())
}

fn measure(measurement: &Measurement, url: &str) -> Result<Figures, BoxError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--client", url]).args(measurement.arguments());
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{measurement:?} failed").into());
    }
    String::from_utf8(output.stdout)?.trim().parse()
}
