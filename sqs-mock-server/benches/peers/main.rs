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

mod check;
mod floor;
mod obtain;
mod peer;
mod process;
mod report;
mod requests;
mod wire;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use peer::Peer;
use process::{Process, Usage};
use report::Measured;
use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use sqs_benchmarks::figures::median;
use work::{Bench, Operation, Tally};

/// That of the binary of sqs-mock-server: the floor has the same.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
sqs-mock-server beside other servers that speak SQS, and beside the floor.

cargo bench -p sqs-mock-server --bench peers -- [OPTION..]

  --servers LIST       which, in this order; all by default:
                       floor,sqs-mock-server,rustack,elasticmq,moto
  --rounds COUNT       how often each operation has its turn, after one turn that does not count; 4 by default
  --requests COUNT     sends in a turn, and four times as many as batches; 20000 by default
  --seconds COUNT      the longest that a turn takes; 3 by default, fractions of one are allowed
  --connections COUNT  how many there are, each with one request on its way; 8 by default
  --svg FILE           also draws CPU time;
                       cargo runs benches in the folder of their package: that is where a relative FILE begins
  --prepare            installs the other servers below the target folder, and measures nothing
  --help               this text

Servers run one after the other, each alone and as its project starts it. All get the same bytes: AWS JSON with bodies of
1,000 bytes, over connections that stay open where the server lets them. A turn is sends, then batches of ten, then as
many receives of ten with a batch that deletes them, so that a queue never runs dry and does not pile up.

Every answer must have status 200 and as many entries as were asked for. The floor is a bare hyper server that answers
bytes of the same sizes, and allocates with mimalloc as sqs-mock-server does. CPU is that of the server's process and its children, user and system (Linux only). `of the
floor` and `sqs-mock-server is` compare CPU time of the same run. Memory is resident after the last turn, beside the
number of messages that are left in the queue by then: all who sent alike hold alike, slow ones fewer. The first answer
counts from the start of the process to the end of a ListQueues, by the median of three starts.

A server that cannot be had here (python3, mvn with java, or cargo is missing, or there is no way to their registries) is
skipped with a line that says so, and one that gives a wrong answer is left out with a line. When that happens to the
floor or to sqs-mock-server, the exit status is 1.
The tables go to standard output as Markdown, what is going on to standard error.";

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
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
    let bench = Bench { requests: 20_000, most: Duration::from_secs(3), connections: 8 };
    let mut options =
        Options { servers: Peer::ALL.to_vec(), bench, rounds: 4, svg: None, only_prepare: false };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--servers" => options.servers = arguments.words()?,
            "--rounds" => options.rounds = arguments.number(1..=1000)?,
            "--requests" => options.bench.requests = arguments.number(1..=10_000_000)?,
            "--seconds" => options.bench.most = arguments.seconds()?,
            "--connections" => options.bench.connections = arguments.number(1..=1000)?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--prepare" => options.only_prepare = true,
            // Only this program gives it to itself.
            floor::CHILD => return floor::run(arguments.word()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    compare(&options)
}

fn compare(options: &Options) -> Result<(), Failed> {
    let (mut measured, mut missing) = (Vec::new(), Vec::new());
    for &peer in &options.servers {
        let obtained = peer.obtained().unwrap_or_else(|error| Err(error.to_string()));
        let start = match obtained {
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
                println!("left out: {peer}, because of an error: {error}\n");
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

/// Starts a server and lets every operation have its turns.
fn measure(peer: Peer, start: &peer::Start, options: &Options) -> Result<Measured, Failed> {
    eprint!("{peer}: starts ..");
    let mut starts: Vec<_> =
        (1..STARTS).map(|_| Ok(Process::start(start)?.first_answer)).collect::<Result<_, Failed>>()?;
    let process = Process::start(start)?;
    starts.push(process.first_answer);
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
    Ok(Measured { peer, tallies, memory, first_answer: median(starts, Ord::cmp).unwrap_or_default() })
}
