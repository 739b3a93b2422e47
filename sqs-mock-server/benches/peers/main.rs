//! sqs-mock-server beside other servers that speak SQS, and beside the floor: what the same HTTP costs when nothing is done.
//!
//! | Module | What it is about |
//! |---|---|
//! | `peer` | which servers there are, and how each is started |
//! | `obtain` | pinned packages of pip, Maven and cargo, kept below the target folder |
//! | `process` | a server as a process: its first answer, CPU time and memory |
//! | `floor` | the server that does nothing |
//! | `requests`, `wire` | what is asked, as bytes; connections |
//! | `work` | operations, their turns, and the count of what is answered |
//! | `check` | whether a server does what SQS does |
//! | `report` | the tables and the plot |
//!
//! Run with: `cargo bench -p sqs-mock-server --bench peers`

#[path = "../plot/bars.rs"]
mod bars;
mod check;
mod floor;
mod obtain;
mod peer;
mod process;
mod report;
mod requests;
#[path = "../plot/svg.rs"]
mod svg;
mod wire;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use peer::Peer;
use process::{Process, Usage};
use report::Measured;
use work::{Bench, Operation, Tally};

const HELP: &str = "\
sqs-mock-server beside other servers that speak SQS, and beside the floor.

cargo bench -p sqs-mock-server --bench peers -- [OPTION..]

  --servers LIST       which, in this order; all by default:
                       floor,sqs-mock-server,rustack,elasticmq,moto
  --rounds COUNT       how often each operation has its turn, after one turn that does not count; 4 by default
  --requests COUNT     sends in a turn, and four times as many as batches; 20000 by default
  --seconds COUNT      the longest that a turn takes; 3 by default
  --connections COUNT  how many there are, each with one request on its way; 8 by default
  --svg FILE           also draws CPU time as bars
  --prepare            installs the other servers below the target folder, and measures nothing
  --help               this text

Servers run one after the other, each alone and as its project starts it. All get the same bytes: AWS JSON with bodies of
1,000 bytes, over connections that stay open where the server lets them. A turn is sends, then batches of ten, then as
many receives of ten with a batch that deletes them, so that a queue never runs dry and does not pile up.

Every answer must have status 200 and as many entries as were asked for. The floor is a bare hyper server that answers
bytes of the same sizes. CPU is that of the server's process and its children, user and system (Linux only). `of the
floor` and `sqs-mock-server is` compare CPU time of the same run. Memory is resident after the last turn, beside the
number of messages that are left in the queue by then: all who sent alike hold alike, slow ones fewer. The first answer
counts from the start of the process to the end of a ListQueues, by the median of three starts.

A server that cannot be had here (python3, mvn with java, or cargo is missing) is skipped with a line that says so,
and one that gives a wrong answer is left out with a line.
The tables go to standard output as Markdown, what is going on to standard error.";

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// How often a server is started.
const STARTS: usize = 3;

struct Options {
    servers: Vec<Peer>,
    bench: Bench,
    rounds: usize,
    svg: Option<PathBuf>,
    only_prepare: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let bench = Bench { requests: 20_000, most: Duration::from_secs(3), connections: 8 };
    let mut options =
        Options { servers: Peer::ALL.to_vec(), bench, rounds: 4, svg: None, only_prepare: false };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--servers" => options.servers = list(&value()?)?,
            "--rounds" => options.rounds = count(&argument, &value()?)?,
            "--requests" => options.bench.requests = count(&argument, &value()?)?,
            "--seconds" => options.bench.most = Duration::from_secs(count(&argument, &value()?)? as u64),
            "--connections" => options.bench.connections = count(&argument, &value()?)?,
            "--svg" => options.svg = Some(value()?.into()),
            "--prepare" => options.only_prepare = true,
            // Only this program gives it to itself.
            floor::CHILD => return floor::run(value()?.parse()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("{other:?} is no option; --help says which there are").into()),
        }
    }
    let mut measured = Vec::new();
    for peer in &options.servers {
        let command = match peer.obtained()? {
            Ok(command) => command,
            Err(missing) => {
                println!("skipped: {peer}, because {missing}\n");
                continue;
            }
        };
        if !options.only_prepare {
            match measure(*peer, &command, &options) {
                Ok(of) => measured.push(of),
                Err(error) => println!("left out: {peer}, because of an error: {error}\n"),
            }
        }
    }
    report::print(&measured);
    options.svg.map_or(Ok(()), |path| Ok(report::bars(&measured).save(&path)?))
}

fn list(text: &str) -> Result<Vec<Peer>, String> {
    text.split(',').map(Peer::from_str).collect()
}

fn count(option: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000_000).contains(number));
    number.ok_or_else(|| format!("{option} {text:?} is out of range; allowed are 1 to 10000000"))
}

/// Starts a server and lets every operation have its turns.
fn measure(peer: Peer, command: &peer::Start, options: &Options) -> Result<Measured, Failed> {
    eprint!("{peer}: starts ..");
    let mut starts: Vec<_> =
        (1..STARTS).map(|_| Ok(Process::start(command)?.first_answer)).collect::<Result<_, Failed>>()?;
    let process = Process::start(command)?;
    starts.push(process.first_answer);
    starts.sort_unstable();
    let queue = check::create_queue(process.address)?;
    if peer != Peer::Floor {
        check::keeps_messages(process.address, &queue)?;
    }
    let mut tallies = Operation::ALL.map(|_| Tally::default());
    for round in 0..=options.rounds {
        // Receives take out what the batches of the same round put in.
        let mut stock = 0;
        for (operation, tally) in Operation::ALL.into_iter().zip(&mut tallies) {
            eprint!("\r\x1b[K{peer}: turn {round} of {}, {operation}", options.rounds);
            let before = process.usage()?;
            let mut turn = options.bench.turn(operation, process.address, &queue, stock)?;
            turn.cpu = process.usage()?.cpu.saturating_sub(before.cpu);
            stock = turn.left;
            *tally = if round == 0 { Tally { left: turn.left, ..Tally::default() } } else { tally.and(turn) };
        }
    }
    eprintln!("\r\x1b[K{peer}: done");
    let Usage { memory, .. } = process.usage()?;
    Ok(Measured { peer, tallies, memory, first_answer: starts[starts.len() / 2] })
}
