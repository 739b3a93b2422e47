//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use sqs_benchmarks::arguments::Arguments;

use crate::peer::Peer;
use crate::work::Bench;
use crate::{Failed, floor};

pub(crate) const HELP: &str = "\
Compares sqs-mock-server with other SQS servers, and with the floor.

cargo bench -p sqs-mock-server --bench peers -- [OPTION..]

  --servers LIST       servers in this order; all by default:
                       floor,sqs-mock-server,rustack,elasticmq,moto
  --rounds COUNT       rounds of each operation, after one that does not count; 4 by default
  --requests COUNT     sends per round, and four times as many in batches; 20000 by default
  --seconds COUNT      maximum duration of a round; 3 by default, may be fractional
  --connections COUNT  connections, each with one request in progress; 8 by default
  --svg FILE           also draws CPU time;
                       a relative FILE is relative to the folder of the package
  --prepare            only installs the other servers into the target folder
  --help               this text

Servers run one after the other, each with the settings of its project. All get the same bytes: AWS JSON with bodies of
1,000 bytes, over connections that stay open if the server allows it. A round is sends, then batches of ten, then as
many receives of ten with a batch that deletes them, so that the queue neither runs empty nor grows.

Every response must have status 200 and the expected number of entries. The floor is a bare hyper server that sends
responses of the same sizes, and uses mimalloc like sqs-mock-server. CPU is the time of the server's process and its
children, user and system (Linux only). `of the floor` and `sqs-mock-server is` compare CPU time of the same run. Memory is
resident after the last round, next to the number of messages in the queue at that time: equally fast servers have equally
many, slow ones fewer. The first answer is the time from the start of the process to the end of a ListQueues, as the median
of three starts.

A server that cannot be installed (python3, mvn with java, or cargo is missing, or their registries are unreachable) is
skipped with a message, and so is a server with a wrong response. If the floor or sqs-mock-server is skipped, the exit
status is 1.
The tables go to standard output as Markdown, progress to standard error.";

/// The mode of a process.
pub(crate) enum Mode {
    Help,
    /// On a port.
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

pub(crate) fn read(mut arguments: Arguments) -> Result<Mode, Failed> {
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
            // Only this program passes it, to its child.
            floor::CHILD => return Ok(Mode::Floor(arguments.word()?)),
            "--help" | "-h" => return Ok(Mode::Help),
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    Ok(Mode::Compare(options))
}
