//! Line charts: each line has its name at its end.

use super::axis::{Axis, Scale};
use super::svg::{Anchor, Canvas, GRID, colour, width};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 470.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 410.0;
const MARGIN: f64 = 16.0;
/// Height of a name in the legend.
const ROW: f64 = 17.0;
/// Length of the line sample before a name.
const SAMPLE: f64 = 22.0;
/// Distance between the end of a line, the sample and the name.
const SPACE: f64 = 8.0;
/// A line with more points has no dots.
const MARKED: usize = 40;

/// A line chart.
#[derive(Debug)]
pub struct Lines<'a> {
    /// The heading of the chart.
    pub title: &'a str,
    /// The unit of the x axis.
    pub across: &'a str,
    /// The scale of the x axis.
    pub scale: Scale,
    /// The unit of the y axis.
    pub upwards: &'a str,
    /// The lines in any order.
    pub lines: Vec<Line>,
}

/// One line and its name.
#[derive(Debug)]
pub struct Line {
    /// The name of the measured thing.
    pub name: String,
    /// Index of the colour.
    pub colour: usize,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// The points from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Lines<'_> {
    /// Draws the chart.
    pub fn draw(&self) -> Canvas {
        let mut canvas = Canvas::new(WIDTH, HEIGHT, self.title);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let up = Axis::new(Scale::Linear, points().map(|(_, y)| *y), BOTTOM, TOP);
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let left = MARGIN + widest(&mut up.ticks().iter().map(|(_, text)| width(text))) + SPACE;
        let names = widest(&mut self.lines.iter().map(|line| width(&line.name)));
        let right = WIDTH - MARGIN - names - SAMPLE - 2.0 * SPACE;
        let across = Axis::new(self.scale, points().map(|(x, _)| *x), left, right);
        for (tick, text) in up.ticks() {
            canvas.line(&[(left, up.position(tick)), (right, up.position(tick))], GRID, false);
            canvas.text((left - SPACE, up.position(tick) + 4.0), Anchor::Before, &text);
        }
        for (tick, text) in across.ticks() {
            canvas.line(&[(across.position(tick), TOP), (across.position(tick), BOTTOM)], GRID, false);
            canvas.text((across.position(tick), BOTTOM + 18.0), Anchor::Around, &text);
        }
        canvas.text((f64::midpoint(left, right), BOTTOM + 42.0), Anchor::Around, self.across);
        canvas.text((MARGIN, TOP - 18.0), Anchor::After, self.upwards);
        let mut ends = Vec::new();
        for line in &self.lines {
            let points: Vec<_> =
                line.points.iter().map(|(x, y)| (across.position(*x), up.position(*y))).collect();
            let colour = colour(line.colour);
            canvas.line(&points, colour, line.dashed);
            let marked = points.iter().filter(|_| points.len() <= MARKED);
            marked.for_each(|point| canvas.dot(*point, 3.5, colour));
            ends.extend(points.last().map(|(_, y)| (*y, line)));
        }
        write_names(&mut canvas, right + SPACE, ends);
        canvas
    }
}

/// Writes the names at the height of the ends of their lines, without overlap, each after a sample of its line.
fn write_names(canvas: &mut Canvas, x: f64, mut ends: Vec<(f64, &Line)>) {
    ends.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut free = BOTTOM;
    for (y, line) in ends {
        let row = y.min(free);
        canvas.line(&[(x, row), (x + SAMPLE, row)], colour(line.colour), line.dashed);
        canvas.text((x + SAMPLE + SPACE, row + 4.0), Anchor::After, &line.name);
        free = row - ROW;
    }
}
