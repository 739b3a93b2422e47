//! The progress line, the tables and the plot.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqs_benchmarks::plot::{Canvas, Line, Lines, Scale};
use sqs_buffered::BufferedClient;
use sqs_client::client::Execute;

use crate::ledger::Run;
use crate::{HANGING_QUEUE, Hang};

/// Resident memory in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// Time since the start.
    pub(crate) at: Duration,
    pub(crate) clients: u64,
    pub(crate) server: u64,
}

/// Overwrites the progress line on standard error.
pub(crate) fn print_progress(runs: &[Arc<Run>], memory: Memory) {
    let queue = |run: &Arc<Run>| {
        let (accepted, missing) = (run.accepted.load(Ordering::Relaxed), run.lost());
        format!("   {}: {accepted} accepted, {missing} not yet received", kind(run))
    };
    let (seconds, queues) = (memory.at.as_secs(), runs.iter().map(queue).collect::<String>());
    let Memory { clients, server, .. } = memory;
    let memory = format!("   clients {} MiB, server {} MiB ", clients >> 20, server >> 20);
    // An error means that standard error is closed.
    let _ = write!(std::io::stderr(), "\r{seconds:>5} s{queues}{memory}");
}

pub(crate) fn print(
    runs: &[Arc<Run>],
    buffered: &BufferedClient<impl Execute>,
    memory: &[Memory],
    faults: &[(u64, String)],
    elapsed: Duration,
) {
    println!("| Queue | Accepted | Failed | Deliveries | Lost | Stored twice | Out of order |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for run in runs {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let if_fifo = |count| if run.fifo { read(count).to_string() } else { "-".to_owned() };
        let (twice, order) = (if_fifo(&run.stored_twice), if_fifo(&run.out_of_order));
        let (accepted, failed, deliveries) = (read(&run.accepted), read(&run.failed), read(&run.deliveries));
        println!(
            "| {} | {accepted} | {failed} | {deliveries} | {} | {twice} | {order} |",
            kind(run),
            run.lost()
        );
    }
    println!("\n`{:?}`, in {} s", buffered.stats(), elapsed.as_secs());
    let last = memory.len().saturating_sub(1);
    let quarters = (1..=4).filter_map(|quarter| memory.get(last * quarter / 4));
    println!("\n| Resident memory, MiB | Clients | Server |\n|---|--:|--:|");
    for (name, memory) in ["25 %", "50 %", "75 %", "the end"].iter().zip(quarters) {
        println!("| at {name} | {} | {} |", memory.clients >> 20, memory.server >> 20);
    }
    println!("\n| Fault | Count |\n|---|--:|");
    for (times, fault) in faults {
        println!("| {fault} | {times} |");
    }
}

pub(crate) fn print_hang(runs: &[Arc<Run>], hang: &Hang) {
    println!("\n| Queue | Rate while another queue hung, relative to before |\n|---|--:|");
    for run in runs {
        if let Some(share) = hang.rate(run) {
            println!("| {} | {share:.2} |", kind(run));
        }
    }
}

/// Plots memory over time.
pub(crate) fn plot(memory: &[Memory]) -> Canvas {
    let line = |name: &str, colour, bytes: fn(&Memory) -> u64| Line {
        name: name.to_owned(),
        colour,
        dashed: false,
        points: memory.iter().map(|memory| (memory.at.as_secs_f64(), mib(bytes(memory)))).collect(),
    };
    let lines = Lines {
        title: "Memory while requests fail",
        across: "seconds since the start",
        scale: Scale::Linear,
        upwards: "resident memory, MiB",
        lines: vec![line("clients", 0, |memory| memory.clients), line("server", 1, |memory| memory.server)],
    };
    lines.draw()
}

#[expect(clippy::cast_precision_loss, reason = "a plot has no room for more digits")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn kind(run: &Run) -> &'static str {
    match (run.fifo, run.url.ends_with(HANGING_QUEUE)) {
        (true, _) => "FIFO",
        (false, false) => "standard",
        (false, true) => "standard, hangs",
    }
}
