//! What is measured, and the command line that says so.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqs_benchmarks::arguments::Arguments;

use crate::Failed;
use crate::canned::Body;

pub(crate) const HELP: &str = "\
Compares sqs-client with aws-sdk-sqs, and with the floor: a bare hyper client that sends bytes signed beforehand and does
not look at the answers.

  --seconds COUNT       how long each measurement takes, after a warm-up of a fifth of that; 1 by default
  --rounds COUNT        how often each is repeated, in turns; 5 by default, the median of each column counts
  --concurrency LIST    requests on their way at once, 1,32 by default
  --rows LIST           send,batch,receive by default
  --peers LIST          sqs-client,aws-sdk-sqs,floor by default, and with the feature hyper sqs-client-hyper
  --body KIND           what the bodies of 1 KiB are: text (nothing to escape in JSON; the default) or json (many quotes)
  --svg FILE            also draws the CPU time of a request as bars;
                        cargo runs benches in the folder of their package: that is where a relative FILE begins
  --help                this text

The server answers the same bytes always, with the right MD5s: sqs-client verifies each of them, aws-sdk-sqs none. It is a
process of its own, and so is each measurement, which has a runtime of one thread; the rate shows what that thread does. CPU
is that of the client's process for one request, in microseconds: what it spends itself, and in brackets with what the kernel
spends for it. Allocations include reallocations; each is counted while CPU is measured, which takes some nanoseconds and so
favours the client that allocates less. aws-sdk-sqs has its default HTTP client, without TLS. What was too short to be
measured is `-`.

The table goes to standard output; `of the SDK` compares with aws-sdk-sqs, `of the floor` with the floor of the same run.
Measure on a machine that does nothing else: two cores suffice.";

/// What one process does.
pub(crate) enum Mode {
    Help,
    Serve(Body),
    Client(Measurement, String),
    Compare(Options),
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident => $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub(crate) enum $name { $($(#[$of_variant])* $variant,)* }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$($(#[$of_variant])* Self::$variant,)*];

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $($(#[$of_variant])* Self::$variant => $word,)* }
            }
        }

        impl FromStr for $name {
            type Err = Failed;

            fn from_str(text: &str) -> Result<Self, Failed> {
                let found = Self::ALL.iter().find(|value| value.as_str() == text).copied();
                let allowed = [$($(#[$of_variant])* $word),*].join(", ");
                found.ok_or_else(|| format!("{text:?} is none of {allowed}").into())
            }
        }
    };
}
pub(crate) use words;

words! { Row { Send => "send", Batch => "batch", Receive => "receive", } }
impl Row {
    /// For the headings of the plot.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Send => "send of 1 KiB",
            Self::Batch => "send of ten times 1 KiB in a batch",
            Self::Receive => "receive of ten times 1 KiB",
        }
    }
}

words! { Peer {
    Ours => "sqs-client",
    #[cfg(feature = "hyper")]
    Hyper => "sqs-client-hyper",
    Sdk => "aws-sdk-sqs",
    Floor => "floor",
} }

/// One cell of the comparison.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Measurement {
    pub(crate) row: Row,
    pub(crate) concurrency: usize,
    pub(crate) peer: Peer,
    pub(crate) time: Duration,
    pub(crate) body: Body,
}

impl Measurement {
    /// As [`read`] takes them after `--client URL`.
    pub(crate) fn arguments(&self) -> [String; 5] {
        let words = [self.row.as_str(), self.peer.as_str(), self.body.as_str()].map(str::to_owned);
        let [row, peer, body] = words;
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

pub(crate) fn read(mut arguments: Arguments) -> Result<Mode, Failed> {
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
            "--rows" => options.rows = arguments.words()?,
            "--peers" => options.peers = arguments.words()?,
            "--body" => options.body = arguments.word()?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--help" | "-h" => return Ok(Mode::Help),
            // Only this program gives these to itself.
            "--serve" => return Ok(Mode::Serve(arguments.word()?)),
            "--client" => {
                let url = arguments.value()?;
                let (row, peer, body) = (arguments.word()?, arguments.word()?, arguments.word()?);
                let (concurrency, time) = (arguments.word()?, Duration::from_millis(arguments.word()?));
                return Ok(Mode::Client(Measurement { row, concurrency, peer, time, body }, url));
            }
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    Ok(Mode::Compare(options))
}
