//! Run with: `cargo bench -p sqs-client --bench peers`, and with `--features hyper` to measure that transport too.
//!
//! What a request costs: sqs-client beside aws-sdk-sqs, and beside the floor, which is a bare HTTP client that sends bytes
//! made beforehand. The server, which always gives the same answers, and each measurement are processes of their own, started
//! from this program:
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
use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use table::Table;

/// Counts allocations, in all peers alike.
#[global_allocator]
static ALLOCATOR: alloc_tracker::Allocator<std::alloc::System> = alloc_tracker::Allocator::system();

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), Failed> {
    match options::read(Arguments::of_process())? {
        Mode::Help => println!("{}", options::HELP),
        Mode::Serve(body) => server::run(body)?,
        Mode::Client(measurement, url) => println!("{}", client::run(&measurement, &url)?),
        Mode::Compare(options) => compare(&options)?,
    }
    Ok(())
}

fn compare(options: &Options) -> Result<(), Failed> {
    let (_server, url) = server::start(options.body)?;
    let mut table = Table::default();
    for _ in 0..options.rounds {
        // Peers take turns, so that a slow moment of the machine strikes none of them alone.
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

fn measure(measurement: &Measurement, url: &str) -> Result<Figures, Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--client", url]).args(measurement.arguments());
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{measurement:?} failed").into());
    }
    String::from_utf8(output.stdout)?.trim().parse()
}
