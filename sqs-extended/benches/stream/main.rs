//! Run with: `cargo bench -p sqs-extended --bench stream`
//!
//! Measures the throughput of streaming a file to S3 and back, compared with aws-sdk-s3 by hand, against the same
//! server in the same run. One server is a sink, which shows the cost of the client; the other is s3s with its file
//! store. Each server runs in a separate process. Our rows are `send_stream` and `body_stream`, up to the sent message
//! or the file on disk, with queues in this process.

mod by_hand;
mod report;
mod rows;
mod server;
#[path = "../../tests/it/s3/sink.rs"]
mod sink;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use report::Compared;
use rows::{DOWN, Row, Setting, UP};
use server::{Kind, Server};
use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use sqs_benchmarks::figures::median;
use sqs_benchmarks::process::{Cpu, now};

const HELP: &str = "\
Compares streaming a file through sqs-extended with aws-sdk-s3 by hand.

  --mib COUNT         the size of the file, 256 by default
  --rounds COUNT      how often each row is measured, in turns, 5 by default; the median counts
  --part-mib COUNT    the size of parts of everybody, 8 by default
  --parts COUNT       parts on their way at once of everybody, 4 by default
  --servers LIST      sink,s3s by default
  --rows TEXT         only rows with this text in their names
  --svg FILE          also draws MiB/s as bars;
                      cargo runs benches in the folder of their package: that is where a relative FILE begins
  --help              this text

The file lies in the directory for temporary files until the end, also where that comes by Ctrl-c; TMPDIR names another one,
and one in memory (/dev/shm) leaves the disk out. A download has ended when its bytes are on the disk, whoever writes them. The table goes to standard output. `Of the
best` is the throughput compared with the best row of aws-sdk-s3 in the same direction against the same server; CPU is
that of this process, user and system, for the whole file.";

struct Options {
    setting: Setting,
    rounds: usize,
    servers: Vec<Kind>,
    rows: String,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
    let setting = Setting { bytes: 256 << 20, part: 8 << 20, in_flight: 4 };
    let servers = vec![Kind::Sink, Kind::S3s];
    let mut options = Options { setting, rounds: 5, servers, rows: String::new(), svg: None };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--mib" => options.setting.bytes = arguments.number(1..=10_000)? << 20,
            "--rounds" => options.rounds = arguments.number(1..=1000)?,
            "--part-mib" => options.setting.part = arguments.number(5..=1000)? << 20,
            "--parts" => options.setting.in_flight = arguments.number(1..=1000)?,
            "--servers" => options.servers = arguments.words()?,
            "--rows" => options.rows = arguments.value()?,
            "--svg" => options.svg = Some(arguments.output()?),
            // Internal: this program starts itself with this option.
            "--serve" => return server::run(arguments.word()?, arguments.word()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let compared = runtime.block_on(all(&options))?;
    options.svg.as_ref().map_or(Ok(()), |path| Ok(report::plot(&options, compared).save(path)?))
}

async fn all(options: &Options) -> Result<Vec<Compared>, Failed> {
    report::head();
    let mut compared = Vec::new();
    for &kind in &options.servers {
        let server = Server::start(kind, options.setting.bytes)?;
        let [from, to] = ["from", "to"].map(|name| server.directory().join(name));
        write_file(&from, options.setting.bytes)?;
        for (direction, rows, path) in [("up", UP, &from), ("down", DOWN, &to)] {
            if direction == "down" && kind == Kind::S3s {
                rows::prepare(server.client(), from.clone()).await?;
            }
            let rows: Vec<_> = rows.iter().filter(|row| row.name.contains(&options.rows)).collect();
            let measured = measure(&rows, &server, options, path).await?;
            compared.push(report::rows(kind, direction, &rows, &measured, options.setting.bytes));
        }
    }
    Ok(compared)
}

/// The bytes that the sink returns.
fn write_file(path: &Path, bytes: u64) -> Result<(), Failed> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path)?;
    let block = sink::block();
    for _ in 0..bytes / sink::BLOCK as u64 {
        file.write_all(&block)?;
    }
    Ok(())
}

/// Wall and CPU time of each row, from the median round.
async fn measure(
    rows: &[&Row],
    server: &Server,
    options: &Options,
    path: &Path,
) -> Result<Vec<(Duration, Duration)>, Failed> {
    let mut times = vec![Vec::new(); rows.len()];
    for round in 0..options.rounds {
        for (number, row) in rows.iter().enumerate() {
            let key = if row.reads { "read".to_owned() } else { format!("{round}-{number}") };
            if row.reads && path.exists() {
                // A new file for each measurement: overwriting an existing one finds its pages in memory.
                std::fs::remove_file(path)?;
            }
            let (cpu, start) = (Cpu::of_this_process()?, now());
            (row.run)(server.client(), options.setting, path.to_owned(), key).await?;
            if let Some(times) = times.get_mut(number) {
                times.push((start.elapsed(), Cpu::of_this_process()?.since(cpu).total()));
            }
        }
    }
    Ok(times.into_iter().map(|times| median(times, Ord::cmp).unwrap_or_default()).collect())
}
