//! The tables and the plot.

use std::time::Duration;

use sqs_benchmarks::figures;
use sqs_benchmarks::plot::{Bar, Bars, Canvas, Group, Scale, thousands};

use crate::peer::Peer;
use crate::work::{Operation, Tally};

/// The measurements of a server.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) peer: Peer,
    /// One entry per [`Operation::ALL`].
    pub(crate) tallies: [Tally; 3],
    pub(crate) memory: u64,
    pub(crate) first_response: Duration,
}

impl Tally {
    #[expect(clippy::cast_precision_loss, reason = "it is printed with three digits")]
    fn per_second(&self) -> f64 {
        self.operations as f64 / self.elapsed.as_secs_f64()
    }

    /// CPU microseconds per operation.
    #[expect(clippy::cast_precision_loss, reason = "it is printed with three digits")]
    fn micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.operations.max(1) as f64
    }
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "printed without decimals")]
    fn left(&self) -> f64 {
        self.tallies.iter().map(|tally| tally.left).sum::<isize>() as f64
    }
}

pub(crate) fn print(measured: &[Measured]) {
    if measured.is_empty() {
        return;
    }
    println!("| Operation | Server | Operations/s | CPU | of the floor | sqs-mock-server |");
    println!("|---|---|--:|--:|--:|--:|");
    for (index, operation) in Operation::ALL.iter().enumerate() {
        let micros = |peer| {
            let of = measured.iter().find(|measured| measured.peer == peer);
            of.and_then(|of| of.tallies.get(index)).map(Tally::micros)
        };
        for Measured { peer, tallies, .. } in measured {
            let Some(tally) = tallies.get(index) else { continue };
            let floor = micros(Peer::Floor).and_then(|floor| figures::ratio(tally.micros(), floor));
            let ours = micros(Peer::Ours).and_then(|ours| figures::ratio(ours, tally.micros()));
            println!(
                "| {operation} | {} | {} | {:.1} µs | {} | {} |",
                peer.title(),
                thousands(tally.per_second()),
                tally.micros(),
                ratio(floor.filter(|_| *peer != Peer::Floor)),
                ratio(ours.filter(|_| *peer != Peer::Ours)),
            );
        }
    }
    println!("\n| Server | First response | Resident memory | Messages of 1 KB |");
    println!("|---|--:|--:|--:|");
    for measured in measured {
        let Measured { peer, memory, first_response, .. } = measured;
        let left = if *peer == Peer::Floor { "-".to_owned() } else { thousands(measured.left()) };
        let first = first_response.as_secs_f64() * 1e3;
        println!("| {} | {first:.0} ms | {} MiB | {left} |", peer.title(), memory >> 20);
    }
}

fn ratio(ratio: Option<f64>) -> String {
    let digits = |ratio: f64| if ratio < 0.1 { 4 } else { 2 };
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.*} x", digits(ratio)))
}

/// Plots CPU time on a logarithmic scale, because servers differ by a factor of up to a thousand.
pub(crate) fn plot(measured: &[Measured]) -> Canvas {
    let group = |(index, operation): (usize, &Operation)| {
        let bar = |of: &Measured| {
            let (name, value) = (of.peer.title(), of.tallies.get(index)?.micros());
            Some(Bar { name, colour: of.peer.colour(), value, dark: None })
        };
        Group { heading: operation.to_string(), bars: measured.iter().filter_map(bar).collect() }
    };
    let bars = Bars {
        title: "CPU time of the server per operation",
        unit: "microseconds, less is better; logarithmic scale",
        scale: Scale::Log,
        parts: None,
        groups: Operation::ALL.iter().enumerate().map(group).collect(),
    };
    bars.draw()
}
