//! The measurements and their command-line options.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqs_benchmarks::arguments::Arguments;

use crate::BoxError;
use crate::canned::Body;

pub(crate) const HELP: &str = "\
Compares sqs-client with aws-sdk-sqs and with a floor: a bare hyper client that sends a request signed in advance and ignores
the responses.

  --seconds COUNT       duration of each measurement, after a warm-up of a fifth of it; default 1
  --rounds COUNT        repetitions of each measurement; default 5; the table has the median of each column
  --concurrency LIST    concurrent requests; default 1,32
  --rows LIST           operations; default send,batch,receive
  --peers LIST          clients; default sqs-client,aws-sdk-sqs,floor, and sqs-client-hyper with the feature hyper
  --body KIND           content of the 1 KiB bodies: text (nothing to escape in JSON; default) or json (many quotes)
  --svg FILE            draw the CPU time per request as bars; a relative FILE starts at the folder of the package,
                        where cargo runs benches
  --help                print this help

The server always sends the same bytes, with correct MD5s. sqs-client verifies them, aws-sdk-sqs does not. The server and each
measurement run in separate processes. A measurement has a single-threaded runtime; the rate is that of one thread.

CPU is the CPU time of the client process per request, in microseconds: user time, and in brackets user plus kernel time.
Allocations include reallocations. Counting an allocation takes some nanoseconds of the measured CPU time, which favours the
client that allocates less. aws-sdk-sqs uses its default HTTP client, without TLS. `-` means too short to measure.

The table goes to standard output. `of the SDK` is the ratio to aws-sdk-sqs, `of the floor` the ratio to the floor, both of the
same run. Measure on an idle machine with at least two cores.";

/// The task of a process.
pub(crate) enum Mode {
    Help,
    Serve(Body),
    Client(Measurement, String),
    Compare(Options),
}

macro_rules! choices {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident => $name_on_command_line:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub(crate) enum $name { $($(#[$of_variant])* $variant,)* }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$($(#[$of_variant])* Self::$variant,)*];

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $($(#[$of_variant])* Self::$variant => $name_on_command_line,)* }
            }
        }

        impl FromStr for $name {
            type Err = BoxError;

            fn from_str(text: &str) -> Result<Self, BoxError> {
                let found = Self::ALL.iter().find(|value| value.as_str() == text).copied();
                let allowed = [$($(#[$of_variant])* $name_on_command_line),*].join(", ");
                found.ok_or_else(|| format!("{text:?} is not allowed; allowed are {allowed}").into())
            }
        }
    };
}
pub(crate) use choices;

choices! { Row { Send => "send", Batch => "batch", Receive => "receive", } }
impl Row {
    /// Heading in the plot.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Send => "send of 1 KiB",
            Self::Batch => "batch send of ten times 1 KiB",
            Self::Receive => "receive of ten times 1 KiB",
        }
    }
}

choices! { Peer {
    Ours => "sqs-client",
    #[cfg(feature = "hyper")]
    Hyper => "sqs-client-hyper",
    Sdk => "aws-sdk-sqs",
    Floor => "floor",
} }

/// The parameters of a measurement.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Measurement {
    pub(crate) row: Row,
    pub(crate) concurrency: usize,
    pub(crate) peer: Peer,
    pub(crate) time: Duration,
    pub(crate) body: Body,
}

impl Measurement {
    /// The arguments after `--client URL`, as [`read`] expects them.
    pub(crate) fn arguments(&self) -> [String; 5] {
        let choices = [self.row.as_str(), self.peer.as_str(), self.body.as_str()].map(str::to_owned);
        let [row, peer, body] = choices;
        [row, peer, body, self.concurrency.to_string(), self.time.as_millis().to_string()]
    }
}

pub(crate) struct Options {
    time: Duration,
    pub(crate) rounds: usize,
    concurrency: Vec<usize>,
    rows: Vec<Row>,
    peers: Vec<Peer>,
    pub(crate) body: Body,
    pub(crate) svg: Option<PathBuf>,
}

impl Options {
    pub(crate) fn measurements(&self) -> Vec<Measurement> {
        let mut all = Vec::new();
        for &row in &self.rows {
            for &concurrency in &self.concurrency {
                let (time, body) = (self.time, self.body);
                all.extend(self.peers.iter().map(|&peer| Measurement { row, concurrency, peer, time, body }));
            }
        }
        all
    }
}

pub(crate) fn read(mut arguments: Arguments) -> Result<Mode, BoxError> {
    let mut options = Options {
        time: Duration::from_secs(1),
        rounds: 5,
        concurrency: vec![1, 32],
        rows: Row::ALL.to_vec(),
        peers: Peer::ALL.to_vec(),
        body: Body::Text,
        svg: None,
    };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--seconds" => options.time = arguments.seconds()?,
            "--rounds" => options.rounds = arguments.number(1..=1000)?,
            "--concurrency" => options.concurrency = arguments.numbers(1..=10_000)?,
            "--rows" => options.rows = arguments.parse_list()?,
            "--peers" => options.peers = arguments.parse_list()?,
            "--body" => options.body = arguments.parse()?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--help" | "-h" => return Ok(Mode::Help),
            // Internal: this program starts itself with these options.
            "--serve" => return Ok(Mode::Serve(arguments.parse()?)),
            "--client" => {
                let url = arguments.value()?;
                let (row, peer, body) = (arguments.parse()?, arguments.parse()?, arguments.parse()?);
                let (concurrency, time) = (arguments.parse()?, Duration::from_millis(arguments.parse()?));
                return Ok(Mode::Client(Measurement { row, concurrency, peer, time, body }, url));
            }
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    Ok(Mode::Compare(options))
}
