//! Run with: `cargo bench -p sqs-mock-server --bench scale`
//!
//! Scalability: the cost of a request by number of queues, groups, pollers, subscriptions and messages.
//!
//! | Module | Measurements |
//! |---|---|
//! | `depth` | send, receive and delete, change visibility by messages in one queue and by groups |
//! | `expiry` | the first request after many messages expired, purge and delete of a full queue |
//! | `breadth` | send and list by number of queues |
//! | `pollers` | the cost of a message with a thousand waiting long polls |
//! | `topics` | publishing by number of subscriptions |
//! | `hooks` | CPU time of requests to web hooks, which are in a separate process |
//! | `triggers` | messages that a trigger passes to a function in this process, over a socket |
//! | `memory` | bytes per stored message, in a separate process |
//! | `wire` | requests in AWS JSON, without a socket |

mod breadth;
mod depth;
mod expiry;
mod hooks;
mod memory;
mod pollers;
mod topics;
mod triggers;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::plot::{Line, Lines, Scale};

/// The allocator of the binary. That of the system slows down when a million messages are allocated.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
Measures the cost of requests by number of queues, groups, pollers, subscriptions and messages.

cargo bench -p sqs-mock-server --bench scale -- [OPTION..]

  --quick      at most 10,000 messages and groups, and 1,000 queues
  --only LIST  parts to run (default: depth,groups,expiry,queues,pollers,topics,hooks,triggers,memory)
  --svg FILE   plot depth and groups: microseconds by messages in the queue; a relative FILE starts at the directory
               of the package
  --help       print this help

Requests are AWS JSON, passed to the server in this process: times include decoding and encoding, but no sockets.
The tables go to standard output as Markdown, progress to standard error.";

/// A part with its name. It returns its plots, if it has some.
#[derive(Clone, Copy)]
struct Part {
    name: &'static str,
    measure: fn(bool) -> Vec<Line>,
    has_plot: bool,
}

const PARTS: [Part; 9] = [
    Part { name: "depth", measure: depth::by_messages, has_plot: true },
    Part { name: "groups", measure: depth::by_groups, has_plot: true },
    Part { name: "expiry", measure: expiry::at_once, has_plot: false },
    Part { name: "queues", measure: breadth::by_queues, has_plot: false },
    Part { name: "pollers", measure: pollers::woken, has_plot: false },
    Part { name: "topics", measure: topics::by_subscriptions, has_plot: false },
    Part { name: "hooks", measure: hooks::by_form, has_plot: false },
    Part { name: "triggers", measure: triggers::by_batch, has_plot: false },
    Part { name: "memory", measure: memory::by_kind, has_plot: false },
];

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = PARTS.into_iter().find(|part| part.name == text);
        found.ok_or_else(|| {
            format!("unknown part {text:?}; allowed are {}", PARTS.map(|part| part.name).join(", "))
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
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
    let mut options = Options { quick: false, parts: PARTS.to_vec(), svg: None };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--quick" => options.quick = true,
            "--only" => options.parts = arguments.parse_list()?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            hooks::CHILD => return hooks::child(),
            memory::CHILD => return memory::child(&arguments.value()?, arguments.number(1..=10_000_000)?),
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    if options.svg.is_some() && options.parts.iter().all(|part| !part.has_plot) {
        return Err("--svg requires depth or groups in --only".into());
    }
    let mut curves = Vec::new();
    for Part { name, measure, .. } in options.parts {
        eprintln!("{name} ..");
        curves.extend(measure(options.quick));
    }
    let plot = Lines {
        title: "Cost of an operation by size of the queue (no sockets)",
        across: "messages in the queue, or groups of at least 100,000 messages; logarithmic scale",
        scale: Scale::Log,
        upwards: "microseconds, less is better",
        lines: curves,
    };
    options.svg.map_or(Ok(()), |path| Ok(plot.draw().save(&path)?))
}
