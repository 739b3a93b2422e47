//! Scalability: the cost of a request by number of queues, groups, pollers and messages.
//!
//! | Module | Measurements |
//! |---|---|
//! | `depth` | send, receive and delete, change visibility by messages in one queue and by groups |
//! | `expiry` | the first request after many messages expired, purge and delete of a full queue |
//! | `breadth` | send and list by number of queues |
//! | `pollers` | the cost of a message with a thousand waiting long polls |
//! | `memory` | bytes per stored message, in a separate process |
//! | `wire` | requests in AWS JSON, without a socket |

mod breadth;
mod depth;
mod expiry;
mod memory;
mod pollers;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use sqs_benchmarks::plot::{Line, Lines, Scale};

const HELP: &str = "\
Measures the cost of requests by number of queues, groups, pollers and messages.

cargo bench -p sqs-mock-server --bench scale -- [OPTION..]

  --quick      at most 10,000 messages and groups, and 1,000 queues
  --only LIST  of depth, groups, expiry, queues, pollers, memory; all of them by default
  --svg FILE   also plots depth and groups: microseconds by messages in the queue;
               a relative FILE is relative to the folder of the package
  --help       this text

Requests are AWS JSON, passed to the server in this process: times include decoding and encoding, but no sockets.
The tables go to standard output as Markdown, progress to standard error.";

/// A part with its name. It returns its plots, if it has some.
#[derive(Clone, Copy)]
struct Part {
    name: &'static str,
    measure: fn(bool) -> Vec<Line>,
    has_plot: bool,
}

const PARTS: [Part; 6] = [
    Part { name: "depth", measure: depth::by_messages, has_plot: true },
    Part { name: "groups", measure: depth::by_groups, has_plot: true },
    Part { name: "expiry", measure: expiry::at_once, has_plot: false },
    Part { name: "queues", measure: breadth::by_queues, has_plot: false },
    Part { name: "pollers", measure: pollers::woken, has_plot: false },
    Part { name: "memory", measure: memory::by_kind, has_plot: false },
];

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = PARTS.into_iter().find(|part| part.name == text);
        named.ok_or_else(|| {
            format!("{text:?} is not a part; parts are {}", PARTS.map(|part| part.name).join(", "))
        })
    }
}

/// The parsed command line.
struct Options {
    quick: bool,
    parts: Vec<Part>,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
    let mut options = Options { quick: false, parts: PARTS.to_vec(), svg: None };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--quick" => options.quick = true,
            "--only" => options.parts = arguments.words()?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            memory::CHILD => return memory::child(&arguments.value()?, arguments.number(1..=10_000_000)?),
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    if options.svg.is_some() && options.parts.iter().all(|part| !part.has_plot) {
        return Err("--svg draws the figures of depth and groups, which --only leaves out".into());
    }
    let mut curves = Vec::new();
    for Part { name, measure, .. } in options.parts {
        eprintln!("{name} ..");
        curves.extend(measure(options.quick));
    }
    let plot = Lines {
        title: "What an operation costs as a queue grows (no sockets)",
        across: "messages in the queue, or groups of 100,000 messages and more; each line is ten times the one before",
        scale: Scale::Log,
        upwards: "microseconds, less is better",
        lines: curves,
    };
    options.svg.map_or(Ok(()), |path| Ok(plot.draw().save(&path)?))
}
