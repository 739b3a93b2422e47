//! The CPU time of requests as bars, in SVG.

use std::fmt::Write as _;

use crate::options::{Measurement, Peer};
use crate::table::Table;

/// Pixels.
const WIDTH: f64 = 760.0;
const LABELS: f64 = 230.0;
const BAR: f64 = 18.0;

/// A bar for each measurement: dark what the client spends itself, light what the kernel spends for it.
pub(crate) fn bars(table: &Table) -> String {
    let rows: Vec<_> = table.medians().collect();
    let longest = rows.iter().map(|(_, figures)| figures.cpu).fold(1.0, f64::max);
    let scale = (WIDTH - LABELS - 130.0) / longest;
    let mut bars = String::new();
    let (mut y, mut before) = (50.0, None);
    for (measurement, figures) in &rows {
        let Measurement { row, concurrency, peer, .. } = measurement;
        if before.is_some_and(|before| before != (row, concurrency)) {
            y += BAR;
        }
        before = Some((row, concurrency));
        let name = format!("{} ({concurrency} at once), {}", row.as_str(), peer.as_str());
        let (own, all) = (figures.user * scale, figures.cpu * scale);
        let (text, colour) = (y + BAR * 0.7, colour(*peer));
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            bars,
            r#"<text x="{}" y="{text:.0}" text-anchor="end">{name}</text>
<rect x="{LABELS}" y="{y:.0}" width="{all:.1}" height="{:.0}" fill="{colour}" opacity="0.45"/>
<rect x="{LABELS}" y="{y:.0}" width="{own:.1}" height="{:.0}" fill="{colour}"/>
<text x="{:.0}" y="{text:.0}">{:.1} ({:.1})</text>"#,
            LABELS - 8.0,
            BAR - 3.0,
            BAR - 3.0,
            LABELS + all + 6.0,
            figures.user,
            figures.cpu,
        );
        y += BAR;
    }
    let height = y + 20.0;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="16" y="24" font-size="15">CPU of a request in microseconds: the client's own (with the kernel's)</text>
{bars}</svg>
"##
    )
}

fn colour(peer: Peer) -> &'static str {
    match peer {
        Peer::Ours => "#0b7285",
        Peer::Sdk => "#c2571a",
        Peer::Floor => "#868e96",
    }
}
