//! How the server scales: what one request costs as queues, groups, pollers and messages grow.
//!
//! | Module | What it measures |
//! |---|---|
//! | `depth` | send, receive and delete, change visibility by messages in one queue and by groups |
//! | `expiry` | the one request that finds a great many messages too old, purged or deleted |
//! | `breadth` | send and list by number of queues |
//! | `pollers` | what a message costs where a thousand long polls are parked |
//! | `memory` | bytes of a stored message, in a process of its own |
//! | `wire` | requests as AWS JSON, without a socket |

mod breadth;
mod depth;
mod expiry;
mod memory;
mod pollers;
mod wire;

use std::process::ExitCode;

const HELP: &str = "\
How sqs-mock-server scales: the cost of requests as queues, groups, pollers and messages grow.

cargo bench -p sqs-mock-server --bench scale -- [--quick] [--only PART]

  --quick      up to 10,000 messages, groups and 1,000 queues only
  --only PART  one of: depth, groups, expiry, queues, pollers, memory
  --help       this text

Requests are AWS JSON, handed to the server in this process: decoding and encoding count, sockets do not.
The tables go to standard output as Markdown, what is going on to standard error.";

/// A part by its name, which can be quick.
type Part = (&'static str, fn(bool));

/// What to measure.
#[derive(Debug, Default)]
struct Options {
    quick: bool,
    only: Option<String>,
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
    for (name, measure) in parts {
        if options.only.as_deref().is_none_or(|only| only == name) {
            eprintln!("{name} ..");
            measure(options.quick);
        }
    }
    ExitCode::SUCCESS
}
