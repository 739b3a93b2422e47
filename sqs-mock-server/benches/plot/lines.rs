//! Lines over a logarithmic axis.

use crate::svg::{Anchor, COLOURS, Canvas, GUIDE, LogAxis, thousands};

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 400.0;
/// Height of a line of the legend, which stands where its line ends.
const ROW: f64 = 17.0;

/// One line and its name.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Which of the colours it has.
    pub(crate) colour: usize,
    pub(crate) dashed: bool,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Draws lines from zero upwards; `x` and `y` say what the axes count.
pub(crate) fn draw(title: &str, x: &str, y: &str, lines: &[Line]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, title);
    let points = || lines.iter().flat_map(|line| line.points.iter());
    let across = LogAxis::around(points().map(|(x, _)| *x), LEFT, RIGHT);
    let step = step(points().map(|(_, y)| *y).fold(0.0, f64::max));
    let up = |value: f64| BOTTOM - value / (step * 5.0) * (BOTTOM - TOP);
    for tick in [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|number| number * step) {
        canvas.line(&[(LEFT, up(tick)), (RIGHT, up(tick))], GUIDE, false);
        canvas.text((LEFT - 8.0, up(tick) + 4.0), Anchor::Before, &format!("{tick}"));
    }
    for tick in across.ticks() {
        canvas.line(&[(across.at(tick), TOP), (across.at(tick), BOTTOM)], GUIDE, false);
        canvas.text((across.at(tick), BOTTOM + 18.0), Anchor::Around, &thousands(tick));
    }
    canvas.text((f64::midpoint(LEFT, RIGHT), BOTTOM + 40.0), Anchor::Around, x);
    canvas.text((16.0, TOP - 8.0), Anchor::After, y);
    let mut ends = Vec::new();
    for line in lines {
        let points: Vec<_> = line.points.iter().map(|(x, y)| (across.at(*x), up(*y))).collect();
        let colour = COLOURS[line.colour % COLOURS.len()];
        canvas.line(&points, colour, line.dashed);
        for (x, y) in &points {
            canvas.bar((x - 3.0, y - 3.0), 6.0, 6.0, colour);
        }
        ends.extend(points.last().map(|(x, y)| (*x, *y, line.name.as_str())));
    }
    name(&mut canvas, ends);
    canvas
}

/// Writes names where lines end, none over another.
fn name(canvas: &mut Canvas, mut ends: Vec<(f64, f64, &str)>) {
    ends.sort_by(|(_, one, _), (_, other, _)| other.total_cmp(one));
    let mut free = BOTTOM;
    for (x, y, name) in ends {
        let row = y.min(free);
        canvas.text((x + 10.0, row + 4.0), Anchor::After, name);
        free = row - ROW;
    }
}

/// A fifth of an axis that reaches to `most`, as a number that is easily counted in.
fn step(most: f64) -> f64 {
    let least = (most / 5.0).max(0.1);
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 3.0, 4.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(least)
}
