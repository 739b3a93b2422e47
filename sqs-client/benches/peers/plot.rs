//! Draws the CPU time per request as bars.

use sqs_benchmarks::plot::{Bar, Bars, Canvas, Group, Scale};

use crate::options::{Measurement, Peer};
use crate::table::Table;

/// One bar per measurement: user CPU time dark, kernel CPU time light.
pub(crate) fn bars(table: &Table) -> Canvas {
    let mut groups: Vec<Group> = Vec::new();
    for (measurement, figures) in table.medians() {
        let Measurement { row, concurrency, peer, .. } = measurement;
        let heading = format!("{}, concurrency {concurrency}", row.describe());
        let (name, colour) = (peer.as_str().to_owned(), colour(*peer));
        let bar = Bar { name, colour, value: figures.cpu, dark: Some(figures.user) };
        match groups.last_mut().filter(|group| group.heading == heading) {
            Some(group) => group.bars.push(bar),
            None => groups.push(Group { heading, bars: vec![bar] }),
        }
    }
    let bars = Bars {
        title: "CPU time of the client per request",
        unit: "microseconds, less is better",
        scale: Scale::Linear,
        parts: Some(["user CPU time", "user and kernel CPU time, in brackets"]),
        groups,
    };
    bars.draw()
}

const fn colour(peer: Peer) -> usize {
    match peer {
        Peer::Ours => 0,
        #[cfg(feature = "hyper")]
        Peer::Hyper => 2,
        Peer::Sdk => 1,
        Peer::Floor => 6,
    }
}
