//! How the server scales: what one request costs as queues, groups, pollers and messages grow.
//!
//! | Module | What it measures |
//! |---|---|
//! | `depth` | send, receive and delete, change visibility by messages in one queue and by groups |
//! | `expiry` | the one request that finds a great many messages too old, purged or deleted |
//! | `breadth` | send and list by number of queues |
//! | `pollers` | what a message costs where a thousand long polls are parked |
//! | `lines`, `svg` | the plot |
//! | `memory` | bytes of a stored message, in a process of its own |
//! | `wire` | requests as AWS JSON, without a socket |

mod breadth;
mod depth;
mod expiry;
#[path = "../plot/lines.rs"]
mod lines;
mod memory;
mod pollers;
#[path = "../plot/svg.rs"]
mod svg;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;

use lines::Line;

const HELP: &str = "\
How sqs-mock-server scales: the cost of requests as queues, groups, pollers and messages grow.

cargo bench -p sqs-mock-server --bench scale -- [--quick] [--only PART] [--svg FILE]

  --quick      up to 10,000 messages, groups and 1,000 queues only
  --only PART  one of: depth, groups, expiry, queues, pollers, memory
  --svg FILE   also draws the figures of depth: microseconds over messages in the queue
  --help       this text

Requests are AWS JSON, handed to the server in this process: decoding and encoding count, sockets do not.
The tables go to standard output as Markdown, what is going on to standard error.";

/// A part by its name; it gives what can be plotted over messages, which is nothing for most.
type Part = (&'static str, fn(bool) -> Vec<Line>);

/// What to measure.
#[derive(Debug, Default)]
struct Options {
    quick: bool,
    only: Option<String>,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo says so.
            "--bench" => {}
            "--quick" => options.quick = true,
            "--only" => options.only = arguments.next(),
            "--svg" => match arguments.next() {
                Some(path) => options.svg = Some(path.into()),
                None => return wrong("--svg wants the name of a file"),
            },
            "--help" | "-h" => {
                println!("{HELP}");
                return ExitCode::SUCCESS;
            }
            memory::CHILD => return memory::child(arguments),
            other => {
                eprintln!("{other:?} is no option\n\n{HELP}");
                return ExitCode::FAILURE;
            }
        }
    }
    let parts: [Part; 6] = [
        ("depth", depth::by_messages),
        ("groups", depth::by_groups),
        ("expiry", expiry::at_once),
        ("queues", breadth::by_queues),
        ("pollers", pollers::woken),
        ("memory", memory::by_kind),
    ];
    if let Some(only) = options.only.as_deref().filter(|only| parts.iter().all(|(name, _)| name != only)) {
        eprintln!("{only:?} is no part; there are {}", parts.map(|(name, _)| name).join(", "));
        return ExitCode::FAILURE;
    }
    if options.svg.is_some() && options.only.as_deref().is_some_and(|only| only != "depth") {
        return wrong("--svg draws the figures of depth, which --only leaves out");
    }
    let mut curves = Vec::new();
    for (name, measure) in parts {
        if options.only.as_deref().is_none_or(|only| only == name) {
            eprintln!("{name} ..");
            curves.extend(measure(options.quick));
        }
    }
    let Some(path) = options.svg else { return ExitCode::SUCCESS };
    let title = "What an operation costs as a queue grows (no sockets)";
    let canvas = lines::draw(title, "messages in the queue", "microseconds", &curves);
    canvas.save(&path).map_or_else(|error| wrong(&error), |()| ExitCode::SUCCESS)
}

fn wrong(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
