//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use sqs_benchmarks::arguments::Arguments;

use crate::peer::Peer;
use crate::work::Bench;
use crate::{BoxError, floor};

pub(crate) const HELP: &str = "\
Compares sqs-mock-server with other SQS servers, and with the floor.

cargo bench -p sqs-mock-server --bench peers -- [OPTION..]

  --servers LIST       servers in this order (default: floor,sqs-mock-server,rustack,elasticmq,moto)
  --rounds COUNT       rounds of each operation after a warm-up round (default: 4)
  --requests COUNT     sends per round, and four times as many in batches (default: 20000)
  --seconds COUNT      maximum duration of a round, possibly fractional (default: 3)
  --connections COUNT  connections, each with one request in progress (default: 8)
  --svg FILE           plot CPU time; a relative FILE starts at the directory of the package
  --prepare            only install the other servers into the target directory
  --help               print this help

Servers run one after the other, each with the default settings of its project. All receive the same bytes: AWS JSON with
bodies of 1,000 bytes, over persistent connections if the server allows them. A round consists of sends, batches of ten, and
as many receives of ten, each with a batch delete. So the queue neither runs empty nor grows.

Every response must have status 200 and the expected number of entries. The floor is a bare hyper server that sends
responses of the same sizes, and uses mimalloc like sqs-mock-server. CPU is the user and system time of the server process
and its children (Linux only). `of the floor` is the ratio of CPU time to the floor, `sqs-mock-server` the ratio of the CPU
time of sqs-mock-server to this server, both of the same run. Memory is resident memory after the last round, next to the
number of messages in the queue at that time; slow servers have fewer. The first response is the time from the start of the
process to the response of ListQueues, as the median of three starts.

A server that cannot be installed is skipped with a message: python3, mvn with java, or cargo is missing, or a registry is
unreachable. A server with a wrong response is skipped too. If the floor or sqs-mock-server is skipped, the exit status is 1.
The tables go to standard output as Markdown, progress to standard error.";

/// The mode of a process.
pub(crate) enum Mode {
    Help,
    /// The floor on a port.
    Floor(u16),
    Compare(Options),
}

pub(crate) struct Options {
    pub(crate) servers: Vec<Peer>,
    pub(crate) bench: Bench,
    pub(crate) rounds: usize,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) only_prepare: bool,
}

pub(crate) fn read(mut arguments: Arguments) -> Result<Mode, BoxError> {
    let bench = Bench { requests: 20_000, max_time: Duration::from_secs(3), connections: 8 };
    let mut options =
        Options { servers: Peer::ALL.to_vec(), bench, rounds: 4, svg: None, only_prepare: false };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--servers" => options.servers = arguments.parse_list()?,
            "--rounds" => options.rounds = arguments.number(1..=1000)?,
            "--requests" => options.bench.requests = arguments.number(1..=10_000_000)?,
            "--seconds" => options.bench.max_time = arguments.seconds()?,
            "--connections" => options.bench.connections = arguments.number(1..=1000)?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--prepare" => options.only_prepare = true,
            // Internal: this program starts itself with this option.
            floor::CHILD => return Ok(Mode::Floor(arguments.parse()?)),
            "--help" | "-h" => return Ok(Mode::Help),
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    Ok(Mode::Compare(options))
}
