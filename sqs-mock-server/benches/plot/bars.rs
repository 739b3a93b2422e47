//! Groups of bars over a logarithmic axis.

use crate::svg::{Anchor, COLOURS, Canvas, GUIDE, LogAxis, thousands};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 680.0;
const TOP: f64 = 50.0;
const BAR: f64 = 20.0;
const GAP: f64 = 34.0;

/// Bars under a common heading.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) heading: String,
    /// What each bar is, which of the colours it has, and how long it is.
    pub(crate) bars: Vec<(String, usize, f64)>,
}

/// Draws groups below each other; `unit` says what the axis counts.
pub(crate) fn draw(title: &str, unit: &str, groups: &[Group]) -> Canvas {
    let rows: f64 = groups.iter().map(|group| GAP + BAR * length(&group.bars)).sum();
    let bottom = TOP + rows + 8.0;
    let mut canvas = Canvas::new(WIDTH, bottom + 50.0, title);
    let values = groups.iter().flat_map(|group| group.bars.iter().map(|(_, _, value)| *value));
    let axis = LogAxis::around(values, LEFT, RIGHT);
    for tick in axis.ticks() {
        let x = axis.at(tick);
        canvas.line(&[(x, TOP), (x, bottom)], GUIDE, false);
        canvas.text((x, bottom + 18.0), Anchor::Around, &thousands(tick));
    }
    canvas.text((f64::midpoint(LEFT, RIGHT), bottom + 38.0), Anchor::Around, unit);
    let mut y = TOP;
    for group in groups {
        canvas.text((16.0, y + GAP - 10.0), Anchor::After, &group.heading);
        y += GAP;
        for (name, colour, value) in &group.bars {
            let end = axis.at(*value);
            canvas.text((LEFT - 8.0, y + BAR - 6.0), Anchor::Before, name);
            canvas.bar((LEFT, y + 1.0), end - LEFT, BAR - 3.0, COLOURS[colour % COLOURS.len()]);
            canvas.text((end + 6.0, y + BAR - 6.0), Anchor::After, &shown(*value));
            y += BAR;
        }
    }
    canvas
}

fn shown(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { thousands(value) }
}

fn length<T>(items: &[T]) -> f64 {
    u32::try_from(items.len()).map_or(0.0, f64::from)
}
