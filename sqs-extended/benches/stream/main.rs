//! Run with: `cargo bench -p sqs-extended --bench stream`
//!
//! Throughput of streaming a file into S3 and out of it, beside aws-sdk-s3 by hand, against the same server in the same run:
//! a sink, which shows what the client costs, and s3s with its file store. Each server is a process of its own. Our rows are
//! `send_stream` and `body_stream`, from the call to the message sent and to the file on the disk, with queues in this process.

mod rows;
mod server;
#[path = "../../tests/it/s3/sink.rs"]
mod sink;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use rows::{DOWN, Row, Setting, UP};
use server::{Kind, Server};

const HELP: &str = "\
Compares streaming a file through sqs-extended with aws-sdk-s3 by hand.

  --mib COUNT         the size of the file, 256 by default
  --rounds COUNT      how often each row is measured, in turns, 5 by default; the median counts
  --part-mib COUNT    the size of parts of everybody, 8 by default
  --parts COUNT       parts on their way at once of everybody, 4 by default
  --servers LIST      sink,s3s by default
  --rows TEXT         only rows with this text in their names
  --help              this text

The file lies in the directory for temporary files; TMPDIR names another one, and one in memory (/dev/shm) leaves the disk
out. A download has ended when its bytes are on the disk, whoever writes them. The table goes to standard output. `Of the
best` is the throughput compared with the best row of aws-sdk-s3 in the same direction against the same server; CPU is
that of this process, user and system, for the whole file.";

type Failed = Box<dyn Error + Send + Sync>;

struct Options {
    setting: Setting,
    rounds: usize,
    servers: Vec<Kind>,
    rows: String,
}

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let setting = Setting { bytes: 256 << 20, part: 8 << 20, in_flight: 4 };
    let mut options =
        Options { setting, rounds: 5, servers: vec![Kind::Sink, Kind::S3s], rows: String::new() };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--mib" => options.setting.bytes = value()?.parse::<u64>()? << 20,
            "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
            "--part-mib" => options.setting.part = value()?.parse::<usize>()? << 20,
            "--parts" => options.setting.in_flight = value()?.parse()?,
            "--servers" => options.servers = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--rows" => options.rows = value()?,
            // Only this program gives it to itself.
            "--serve" => return server::run(value()?.parse()?, value()?.parse()?),
            "--help" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("unknown option {other}; --help says which there are").into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(all(&options))
}

async fn all(options: &Options) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    write_file(&from, options.setting.bytes)?;
    println!("| Server | Direction | How | MiB/s | of the best | CPU |");
    println!("|---|---|---|--:|--:|--:|");
    for &kind in &options.servers {
        let server = Server::start(kind, options.setting.bytes)?;
        for (direction, rows, path) in [("up", UP, &from), ("down", DOWN, &to)] {
            if direction == "down" && kind == Kind::S3s {
                rows::prepare(server.client(), from.clone()).await?;
            }
            let rows: Vec<_> = rows.iter().filter(|row| row.name.contains(&options.rows)).collect();
            let measured = measure(&rows, &server, options, path).await?;
            print(kind, direction, &rows, &measured, options.setting.bytes);
        }
    }
    Ok(())
}

/// The same text as the sink gives out.
fn write_file(path: &Path, bytes: u64) -> Result<(), Failed> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path)?;
    let block = sink::block();
    for _ in 0..bytes / sink::BLOCK as u64 {
        file.write_all(&block)?;
    }
    Ok(())
}

/// Wall and CPU time of each row, by the round of the median.
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
            let (cpu, start) = (cpu_time(), now());
            (row.run)(server.client(), options.setting, path.to_owned(), key).await?;
            if let Some(times) = times.get_mut(number) {
                times.push((start.elapsed(), cpu_time().saturating_sub(cpu)));
            }
        }
    }
    let median = |mut times: Vec<(Duration, Duration)>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    Ok(times.into_iter().map(median).collect())
}

#[expect(clippy::cast_precision_loss, reason = "it is printed with two digits")]
fn print(kind: Kind, direction: &str, rows: &[&Row], measured: &[(Duration, Duration)], bytes: u64) {
    let theirs = rows.iter().zip(measured).filter(|(row, _)| !row.is_ours).map(|(_, (wall, _))| wall);
    let best = theirs.min().copied().unwrap_or_default().as_secs_f64();
    for (row, (wall, cpu)) in rows.iter().zip(measured) {
        let seconds = wall.as_secs_f64();
        println!(
            "| {kind} | {direction} | {} | {:.0} | {:.2} | {:.2} s |",
            row.name,
            (bytes >> 20) as f64 / seconds,
            best / seconds,
            cpu.as_secs_f64(),
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// User and system time of this process; zero where there is no `/proc`.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
