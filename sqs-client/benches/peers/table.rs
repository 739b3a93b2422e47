//! Collects the results and prints the table.

use std::collections::BTreeMap;
use std::fmt;

use sqs_benchmarks::figures::{cell, ratio};

use crate::figures::Figures;
use crate::options::{Measurement, Peer};

#[derive(Default)]
pub(crate) struct Table(BTreeMap<Measurement, Vec<Figures>>);

impl Table {
    pub(crate) fn add(&mut self, measurement: Measurement, figures: Figures) {
        self.0.entry(measurement).or_default().push(figures);
    }

    /// The medians of all measurements, in order.
    pub(crate) fn medians(&self) -> impl Iterator<Item = (&Measurement, Figures)> {
        self.0.iter().map(|(measurement, rounds)| (measurement, Figures::median(rounds)))
    }

    /// The results of another peer for the same measurement.
    fn of_peer(&self, measurement: &Measurement, peer: Peer) -> Option<Figures> {
        self.0.get(&Measurement { peer, ..*measurement }).map(|rounds| Figures::median(rounds))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| Request | Concurrency | Client | Requests/s | p50 | p99 | CPU (with kernel) | of the SDK | of the floor | Allocations | of the SDK | Peak memory |"
        )?;
        writeln!(f, "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")?;
        for (measurement, figures) in self.medians() {
            let Measurement { row, concurrency, peer, .. } = measurement;
            let (sdk, floor) = (self.of_peer(measurement, Peer::Sdk), self.of_peer(measurement, Peer::Floor));
            let times = |base: Option<Figures>| {
                base.map_or("-".to_owned(), |base| {
                    let [user, cpu] = [(figures.user, base.user), (figures.cpu, base.cpu)];
                    let [user, cpu] = [user, cpu].map(|(value, base)| cell(ratio(value, base), 2));
                    format!("{user} ({cpu})")
                })
            };
            // `/proc` has a resolution of 10 ms, so short measurements may be zero.
            let cpu = Some(figures.cpu).filter(|cpu| *cpu > 0.0);
            let cpu = cpu.map_or("-".to_owned(), |cpu| format!("{:.1} ({cpu:.1}) us", figures.user));
            let of_allocations = cell(sdk.and_then(|sdk| ratio(figures.allocations, sdk.allocations)), 2);
            writeln!(
                f,
                "| {} | {concurrency} | {} | {:.0} | {} | {} | {cpu} | {} | {} | {:.1} | {of_allocations} | {:.1} MiB |",
                row.as_str(),
                peer.as_str(),
                figures.rate,
                Figures::micros(figures.p50),
                Figures::micros(figures.p99),
                times(sdk),
                times(floor),
                figures.allocations,
                figures.peak_mib,
            )?;
        }
        Ok(())
    }
}
