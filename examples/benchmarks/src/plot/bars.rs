//! Bar charts: groups of horizontal bars, each between its name and its value.

use super::axis::{Axis, Scale};
use super::format_number;
use super::svg::{Anchor, COLOURS, Canvas, GRID, colour, width};

const WIDTH: f64 = 860.0;
const TOP: f64 = 48.0;
const BAR: f64 = 20.0;
const GAP: f64 = 34.0;
/// Distance between names, bars and values.
const SPACE: f64 = 8.0;
const MARGIN: f64 = 16.0;

/// A bar chart.
#[derive(Debug)]
pub struct Bars<'a> {
    /// The heading of the chart.
    pub title: &'a str,
    /// The unit of the axis, and whether more or less is better.
    pub unit: &'a str,
    /// A logarithmic axis has dots instead of bars, because the length of a bar has no meaning there.
    pub scale: Scale,
    /// The legend of the dark and the light part, if bars have two parts.
    pub parts: Option<[&'a str; 2]>,
    /// The groups from top to bottom.
    pub groups: Vec<Group>,
}

/// Bars under one heading.
#[derive(Debug)]
pub struct Group {
    /// The heading.
    pub heading: String,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug)]
pub struct Bar {
    /// The name of the measured thing.
    pub name: String,
    /// Index of the colour. The same thing has the same colour in all groups.
    pub colour: usize,
    /// The value.
    pub value: f64,
    /// The dark part of the value, if the bar has two parts.
    pub dark: Option<f64>,
}

impl Bar {
    fn label(&self) -> String {
        let all = format_number(self.value);
        self.dark.map_or(all.clone(), |dark| format!("{} ({all})", format_number(dark)))
    }
}

impl Bars<'_> {
    /// Draws the chart.
    pub fn draw(&self) -> Canvas {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let left = MARGIN + widest(&mut bars().map(|bar| width(&bar.name))) + SPACE;
        let right = WIDTH - MARGIN - widest(&mut bars().map(|bar| width(&bar.label()))) - SPACE;
        let axis = Axis::new(self.scale, bars().map(|bar| bar.value), left, right);
        let rows = self.groups.iter().flat_map(|group| group.bars.iter().map(|_| BAR).chain([GAP]));
        let top = if self.parts.is_some() { TOP + BAR } else { TOP };
        let bottom = top + rows.sum::<f64>() + SPACE;
        let mut canvas = Canvas::new(WIDTH, bottom + 52.0, self.title);
        self.legend(&mut canvas);
        for (tick, text) in axis.ticks() {
            let x = axis.position(tick);
            canvas.line(&[(x, top), (x, bottom)], GRID, false);
            canvas.text((x, bottom + 18.0), Anchor::Around, &text);
        }
        canvas.text((f64::midpoint(left, right), bottom + 40.0), Anchor::Around, self.unit);
        let mut y = top;
        for group in &self.groups {
            canvas.heading((MARGIN, y + GAP - 12.0), &group.heading);
            y += GAP;
            for bar in &group.bars {
                self.row(&mut canvas, bar, axis, (left, y));
                y += BAR;
            }
        }
        canvas
    }

    fn row(&self, canvas: &mut Canvas, bar: &Bar, axis: Axis, (left, y): (f64, f64)) {
        let (end, base, middle) = (axis.position(bar.value), y + 14.0, y + BAR / 2.0);
        let (size, colour) = ((end - left, BAR - 4.0), colour(bar.colour));
        canvas.text((left - SPACE, base), Anchor::Before, &bar.name);
        match (self.scale, bar.dark) {
            (Scale::Log, _) => {
                canvas.line(&[(left, middle), (end, middle)], colour, false);
                canvas.dot((end, middle), 5.0, colour);
            }
            (Scale::Linear, None) => canvas.bar((left, y + 2.0), size, colour, false),
            (Scale::Linear, Some(dark)) => {
                canvas.bar((left, y + 2.0), size, colour, true);
                canvas.bar((left, y + 2.0), (axis.position(dark) - left, BAR - 4.0), colour, false);
            }
        }
        canvas.text((end + SPACE, base), Anchor::After, &bar.label());
    }

    fn legend(&self, canvas: &mut Canvas) {
        let mut x = MARGIN;
        for (number, part) in self.parts.iter().flatten().enumerate() {
            canvas.bar((x, 40.0), (14.0, 14.0), COLOURS[0], number == 1);
            canvas.text((x + 20.0, 52.0), Anchor::After, part);
            x += 20.0 + width(part) + 20.0;
        }
    }
}
