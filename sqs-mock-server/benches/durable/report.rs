//! The tables.

use std::time::Duration;

use sqs_benchmarks::figures::{self, cell, median};
use sqs_benchmarks::plot::thousands;

use crate::load::Sends;
use crate::server::Server;

/// The sends of a server.
pub(crate) struct Measured {
    pub(crate) server: Server,
    /// The counts of connections, and the rounds of each.
    connections: Vec<usize>,
    pub(crate) rounds: Vec<Vec<Sends>>,
    /// Sends per fsync for each count of connections.
    pub(crate) per_sync: Vec<Option<f64>>,
}

/// The restart of a server.
pub(crate) struct Restarted {
    pub(crate) server: Server,
    pub(crate) messages: usize,
    /// Resident bytes of the messages.
    pub(crate) memory: u64,
    /// Bytes of the files after SIGKILL.
    pub(crate) file: u64,
    /// `None` if the server keeps nothing.
    pub(crate) restored: Option<Restored>,
}

/// What a server had after the restart.
pub(crate) struct Restored {
    pub(crate) messages: usize,
    pub(crate) time: Duration,
}

impl Measured {
    pub(crate) fn new(server: Server, connections: &[usize]) -> Self {
        let rounds = connections.iter().map(|_| Vec::new()).collect();
        Self { server, connections: connections.to_vec(), rounds, per_sync: Vec::new() }
    }

    /// The median of a figure over the rounds with the count of connections at this index.
    fn median(&self, at: usize, figure: fn(&Sends) -> f64) -> f64 {
        let figures = self.rounds.get(at).into_iter().flatten().map(figure);
        median(figures, f64::total_cmp).unwrap_or_default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is printed with three digits")]
fn cpu(sends: &Sends) -> f64 {
    sends.cpu.as_secs_f64() * 1e6 / sends.count().max(1) as f64
}

#[expect(clippy::cast_precision_loss, reason = "it is printed with three digits")]
fn rate(sends: &Sends) -> f64 {
    sends.count() as f64 / sends.elapsed.as_secs_f64()
}

pub(crate) fn sends(measured: &[Measured]) {
    let Some(first) = measured.first() else { return };
    println!(
        "| In flight | Server | Sends/s | CPU of a send | of the first row | p50 | p99 | Sends per fsync |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|--:|");
    for (at, connections) in first.connections.iter().enumerate() {
        let base = first.median(at, cpu);
        for of in measured {
            let micros = of.median(at, cpu);
            println!(
                "| {connections} | {} | {} | {micros:.0} µs | {} | {:.2} ms | {:.2} ms | {} |",
                of.server.title(),
                thousands(of.median(at, rate)),
                cell(figures::ratio(micros, base), 2),
                of.median(at, |sends| sends.quantile(50).as_secs_f64() * 1e3),
                of.median(at, |sends| sends.quantile(99).as_secs_f64() * 1e3),
                cell(of.per_sync.get(at).copied().flatten(), 1),
            );
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is printed with four digits")]
pub(crate) fn restarts(restarted: &[Restarted]) {
    println!(
        "\n| Server | Messages of 1 KB | Memory of each | Files | Messages after SIGKILL | Time to restore |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for of in restarted {
        let each = of.memory as f64 / of.messages.max(1) as f64;
        let restored = of.restored.as_ref();
        println!(
            "| {} | {} | {each:.0} B | {} MiB | {} | {} |",
            of.server.title(),
            thousands(of.messages as f64),
            of.file >> 20,
            restored.map_or("-".to_owned(), |restored| thousands(restored.messages as f64)),
            restored.map_or("-".to_owned(), |restored| format!("{:.1} s", restored.time.as_secs_f64())),
        );
    }
}
