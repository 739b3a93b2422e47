//! Lines from zero upwards, each with its name at the height where it ends.

use super::axis::{Axis, Scale};
use super::svg::{Anchor, Canvas, GUIDE, colour, width};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 470.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 410.0;
const MARGIN: f64 = 16.0;
/// Height of a name.
const ROW: f64 = 17.0;
/// Length of the piece of its line that stands before a name.
const PIECE: f64 = 22.0;
/// Between the end of a line, the piece, and the name.
const SPACE: f64 = 8.0;
/// A line of more points has no mark on each of them.
const MARKED: usize = 40;

/// What is drawn.
#[derive(Debug)]
pub struct Lines<'a> {
    /// What is compared.
    pub title: &'a str,
    /// What the axis across counts.
    pub across: &'a str,
    /// How it is divided.
    pub scale: Scale,
    /// What the axis upwards counts.
    pub upwards: &'a str,
    /// In any order.
    pub lines: Vec<Line>,
}

/// One line and its name.
#[derive(Debug)]
pub struct Line {
    /// What it is of.
    pub name: String,
    /// Which of the colours it has.
    pub colour: usize,
    /// Whether it has gaps.
    pub dashed: bool,
    /// From the left.
    pub points: Vec<(f64, f64)>,
}

impl Lines<'_> {
    /// The drawing.
    pub fn draw(&self) -> Canvas {
        let mut canvas = Canvas::new(WIDTH, HEIGHT, self.title);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let up = Axis::new(Scale::Linear, points().map(|(_, y)| *y), BOTTOM, TOP);
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let left = MARGIN + widest(&mut up.ticks().iter().map(|(_, text)| width(text))) + SPACE;
        let names = widest(&mut self.lines.iter().map(|line| width(&line.name)));
        let right = WIDTH - MARGIN - names - PIECE - 2.0 * SPACE;
        let across = Axis::new(self.scale, points().map(|(x, _)| *x), left, right);
        for (tick, text) in up.ticks() {
            canvas.line(&[(left, up.at(tick)), (right, up.at(tick))], GUIDE, false);
            canvas.text((left - SPACE, up.at(tick) + 4.0), Anchor::Before, &text);
        }
        for (tick, text) in across.ticks() {
            canvas.line(&[(across.at(tick), TOP), (across.at(tick), BOTTOM)], GUIDE, false);
            canvas.text((across.at(tick), BOTTOM + 18.0), Anchor::Around, &text);
        }
        canvas.text((f64::midpoint(left, right), BOTTOM + 42.0), Anchor::Around, self.across);
        canvas.text((MARGIN, TOP - 18.0), Anchor::After, self.upwards);
        let mut ends = Vec::new();
        for line in &self.lines {
            let points: Vec<_> = line.points.iter().map(|(x, y)| (across.at(*x), up.at(*y))).collect();
            let colour = colour(line.colour);
            canvas.line(&points, colour, line.dashed);
            let marked = points.iter().filter(|_| points.len() <= MARKED);
            marked.for_each(|point| canvas.dot(*point, 3.5, colour));
            ends.extend(points.last().map(|(_, y)| (*y, line)));
        }
        name(&mut canvas, right + SPACE, ends);
        canvas
    }
}

/// Writes names at the height where lines end, none over another, each behind a piece of its line.
fn name(canvas: &mut Canvas, x: f64, mut ends: Vec<(f64, &Line)>) {
    ends.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut free = BOTTOM;
    for (y, line) in ends {
        let row = y.min(free);
        canvas.line(&[(x, row), (x + PIECE, row)], colour(line.colour), line.dashed);
        canvas.text((x + PIECE + SPACE, row + 4.0), Anchor::After, &line.name);
        free = row - ROW;
    }
}
