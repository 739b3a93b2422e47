//! Run with: `cargo bench -p sqs-extended --bench stream`
//!
//! Measures the throughput of streaming a file to and from S3, compared with hand-written aws-sdk-s3 code. The rows of
//! sqs-extended are `send_stream` and `body_stream`, with queues in this process.
//!
//! The servers are separate processes: a sink, which shows the cost of the client, and s3s with its file store.

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
use rows::{DOWNLOADS, Row, Setting, UPLOADS};
use server::{Kind, Server};
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::figures::median;
use sqs_benchmarks::process::{Cpu, now};

const HELP: &str = "\
Compares streaming a file through sqs-extended with hand-written aws-sdk-s3 code.

  --mib COUNT         size of the file in MiB (default: 256)
  --rounds COUNT      rounds that alternate between the rows (default: 5); the table has medians
  --part-mib COUNT    part size of all rows in MiB (default: 8)
  --parts COUNT       concurrent parts of all rows (default: 4)
  --servers LIST      servers (default: sink,s3s)
  --rows TEXT         only rows with this text in their names
  --svg FILE          plot MiB/s; a relative FILE starts at the directory of the package
  --help              print this help

The file is in the directory for temporary files and is removed at the end, also after Ctrl-c. TMPDIR selects another
directory; a directory in memory (/dev/shm) excludes the disk. A download ends when its bytes are on the disk. The table
goes to standard output. `of the best` is the throughput relative to the best row of aws-sdk-s3 in the same direction
against the same server. CPU is the user and system time of this process for the whole file.";

struct Options {
    setting: Setting,
    rounds: usize,
    servers: Vec<Kind>,
    rows: String,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
    let setting = Setting { bytes: 256 << 20, part: 8 << 20, in_flight: 4 };
    let servers = vec![Kind::Sink, Kind::S3s];
    let mut options = Options { setting, rounds: 5, servers, rows: String::new(), svg: None };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--mib" => options.setting.bytes = arguments.number(1..=10_000)? << 20,
            "--rounds" => options.rounds = arguments.number(1..=1000)?,
            "--part-mib" => options.setting.part = arguments.number(5..=1000)? << 20,
            "--parts" => options.setting.in_flight = arguments.number(1..=1000)?,
            "--servers" => options.servers = arguments.parse_list()?,
            "--rows" => options.rows = arguments.value()?,
            "--svg" => options.svg = Some(arguments.output()?),
            // Internal: this program starts itself with this option.
            "--serve" => return server::run(arguments.parse()?, arguments.parse()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let compared = runtime.block_on(compare_all(&options))?;
    options.svg.as_ref().map_or(Ok(()), |path| Ok(report::plot(&options, compared).save(path)?))
}

async fn compare_all(options: &Options) -> Result<Vec<Compared>, BoxError> {
    report::print_head();
    let mut compared = Vec::new();
    for &kind in &options.servers {
        let server = Server::start(kind, options.setting.bytes)?;
        let [source, target] = ["source", "target"].map(|name| server.directory().join(name));
        write_file(&source, options.setting.bytes)?;
        for (direction, rows, path) in [("upload", UPLOADS, &source), ("download", DOWNLOADS, &target)] {
            if direction == "download" && kind == Kind::S3s {
                rows::put_download_object(server.client(), source.clone()).await?;
            }
            let rows: Vec<_> = rows.iter().filter(|row| row.name.contains(&options.rows)).collect();
            let measured = measure(&rows, &server, options, path).await?;
            compared.push(report::print_rows(kind, direction, &rows, &measured, options.setting.bytes));
        }
    }
    Ok(compared)
}

/// Writes a file with the same bytes that the sink returns.
fn write_file(path: &Path, bytes: u64) -> Result<(), BoxError> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path)?;
    let block = sink::block();
    for _ in 0..bytes / sink::BLOCK as u64 {
        file.write_all(&block)?;
    }
    Ok(())
}

/// The wall and CPU time of each row, from the round with the median wall time.
async fn measure(
    rows: &[&Row],
    server: &Server,
    options: &Options,
    path: &Path,
) -> Result<Vec<(Duration, Duration)>, BoxError> {
    let mut times = vec![Vec::new(); rows.len()];
    for round in 0..options.rounds {
        for (number, row) in rows.iter().enumerate() {
            let key = if row.downloads { rows::DOWNLOAD_KEY.to_owned() } else { format!("{round}-{number}") };
            if row.downloads && path.exists() {
                // Overwriting the file would reuse its pages in memory.
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
