//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use sqs_benchmarks::arguments::Arguments;

use crate::BoxError;
use crate::server::Server;

pub(crate) const HELP: &str = "\
Measures sends in memory and with a data directory, beside other servers that keep messages in files.

cargo bench -p sqs-mock-server --bench durable -- [OPTION..]

  --servers LIST       servers in this order (default: memory,process,power,elasticmq,fauxqs)
  --connections LIST   connections, each with one send in progress (default: 1,64)
  --rounds COUNT       rounds after a warm-up round; the table has their medians (default: 5)
  --seconds COUNT      duration of a round, possibly fractional (default: 1)
  --messages COUNT     messages before the restart; 0 leaves it out (default: 1000000)
  --dir DIR            where the data directories are created (default: the target directory)
  --help               print this help

`memory`, `process` and `power` are sqs-mock-server without and with --data. All servers run at once, and are measured one after
the other in each round. All receive the same bytes: AWS JSON with a body of 1,000 bytes. CPU is the user and system time of the
server process (Linux only). Sends per fsync are counted in a separate run under strace, and are missing without it.

The restart: each server gets the messages in batches of ten, for at most a minute, ends by SIGKILL and starts again. The time ends
when it reports all messages, or none more for half a minute.

A server that cannot be installed is skipped with a message. Tables go to standard output as Markdown, progress to standard error.";

pub(crate) struct Options {
    pub(crate) servers: Vec<Server>,
    pub(crate) connections: Vec<usize>,
    pub(crate) rounds: usize,
    pub(crate) time: Duration,
    pub(crate) messages: usize,
    pub(crate) directory: PathBuf,
}

/// `None` if help is requested.
pub(crate) fn read(mut arguments: Arguments) -> Result<Option<Options>, BoxError> {
    let mut options = Options {
        servers: Server::ALL.to_vec(),
        connections: vec![1, 64],
        rounds: 5,
        time: Duration::from_secs(1),
        messages: 1_000_000,
        directory: env!("CARGO_TARGET_TMPDIR").into(),
    };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--servers" => options.servers = arguments.parse_list()?,
            "--connections" => options.connections = arguments.numbers(1..=1000)?,
            "--rounds" => options.rounds = arguments.number(1..=1000)?,
            "--seconds" => options.time = arguments.seconds()?,
            "--messages" => options.messages = arguments.number(0..=100_000_000)?,
            "--dir" => options.directory = arguments.path()?,
            "--help" | "-h" => return Ok(None),
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    Ok(Some(options))
}
