//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use sqs_benchmarks::arguments::Arguments;

use crate::peer::Peer;
use crate::work::Bench;
use crate::{Failed, floor};

pub(crate) const HELP: &str = "\
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
bytes of the same sizes, and allocates with mimalloc as sqs-mock-server does. CPU is that of the server's process and its
children, user and system (Linux only). `of the floor` and `sqs-mock-server is` compare CPU time of the same run. Memory is
resident after the last turn, beside the number of messages that are left in the queue by then: all who sent alike hold
alike, slow ones fewer. The first answer counts from the start of the process to the end of a ListQueues, by the median of
three starts.

A server that cannot be had here (python3, mvn with java, or cargo is missing, or there is no way to their registries) is
skipped with a line that says so, and one that gives a wrong answer is left out with a line. When that happens to the
floor or to sqs-mock-server, the exit status is 1.
The tables go to standard output as Markdown, what is going on to standard error.";

/// What one process does.
pub(crate) enum Mode {
    Help,
    /// At a port.
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
            // Only this program gives it to itself.
            floor::CHILD => return Ok(Mode::Floor(arguments.word()?)),
            "--help" | "-h" => return Ok(Mode::Help),
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    Ok(Mode::Compare(options))
}
