//! The table and the plot.

use std::time::Duration;

use sqs_benchmarks::figures::{cell, ratio};
use sqs_benchmarks::plot::{Bar, Bars, Canvas, Group, Scale};

use crate::Options;
use crate::rows::Row;
use crate::server::Kind;

/// The rows of one direction against one server.
pub(crate) struct Compared {
    kind: Kind,
    direction: &'static str,
    /// MiB/s.
    rates: Vec<(&'static str, f64)>,
}

pub(crate) fn print_head() {
    println!("| Server | Direction | Method | MiB/s | of the best | CPU |");
    println!("|---|---|---|--:|--:|--:|");
}

/// Prints the rows with their wall and CPU times.
#[expect(clippy::cast_precision_loss, reason = "it is printed with two digits")]
pub(crate) fn print_rows(
    kind: Kind,
    direction: &'static str,
    rows: &[&Row],
    measured: &[(Duration, Duration)],
    bytes: u64,
) -> Compared {
    let others = rows.iter().zip(measured).filter(|(row, _)| !row.is_ours).map(|(_, (wall, _))| wall);
    let best = others.min().copied().unwrap_or_default().as_secs_f64();
    let mut rates = Vec::new();
    for (row, (wall, cpu)) in rows.iter().zip(measured) {
        let (seconds, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
        let rate = (bytes >> 20) as f64 / seconds;
        let of_best = cell(ratio(best, seconds), 2);
        println!("| {kind} | {direction} | {} | {rate:.0} | {of_best} | {cpu:.2} s |", row.name);
        rates.push((row.name, rate));
    }
    Compared { kind, direction, rates }
}

/// Plots MiB/s, with one colour for sqs-extended and one for aws-sdk-s3.
pub(crate) fn plot(options: &Options, compared: Vec<Compared>) -> Canvas {
    let group = |Compared { kind, direction, rates }| {
        let store = match kind {
            Kind::Sink => "a sink without storage",
            Kind::S3s => "s3s with its file store",
        };
        let preposition = if direction == "upload" { "to" } else { "from" };
        let bar = |(name, value): (&str, f64)| {
            let colour = usize::from(!name.starts_with("sqs-extended"));
            Bar { name: name.to_owned(), colour, value, dark: None }
        };
        Group {
            heading: format!("{direction} {preposition} {store}"),
            bars: rates.into_iter().map(bar).collect(),
        }
    };
    let bars = Bars {
        title: &format!("Streaming a file of {} MiB to and from S3", options.setting.bytes >> 20),
        unit: "MiB/s, more is better",
        scale: Scale::Linear,
        parts: None,
        groups: compared.into_iter().map(group).collect(),
    };
    bars.draw()
}
