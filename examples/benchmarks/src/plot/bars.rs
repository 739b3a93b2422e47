//! Groups of bars below each other, each with its name before it and its figure behind it.

use super::axis::{Axis, Scale};
use super::shown;
use super::svg::{Anchor, COLOURS, Canvas, GUIDE, colour, width};

const WIDTH: f64 = 860.0;
const TOP: f64 = 48.0;
const BAR: f64 = 20.0;
const GAP: f64 = 34.0;
/// Between names, bars and figures.
const SPACE: f64 = 8.0;
const MARGIN: f64 = 16.0;

/// What is drawn.
#[derive(Debug)]
pub struct Bars<'a> {
    /// What is compared.
    pub title: &'a str,
    /// What the axis counts, and whether more or less of it is better.
    pub unit: &'a str,
    /// On a logarithmic axis there is a dot in the place of each bar, for the length of a bar would mean nothing.
    pub scale: Scale,
    /// What the dark and the light part of bars are, where they have two.
    pub parts: Option<[&'a str; 2]>,
    /// From above.
    pub groups: Vec<Group>,
}

/// Bars under a common heading.
#[derive(Debug)]
pub struct Group {
    /// What they have in common.
    pub heading: String,
    /// From above.
    pub bars: Vec<Bar>,
}

/// A figure.
#[derive(Debug)]
pub struct Bar {
    /// What it is of.
    pub name: String,
    /// Which of the colours it has; what is the same has the same in all groups.
    pub colour: usize,
    /// How long it is.
    pub value: f64,
    /// How much of that is dark, where it has two parts.
    pub dark: Option<f64>,
}

impl Bar {
    fn figure(&self) -> String {
        let all = shown(self.value);
        self.dark.map_or(all.clone(), |dark| format!("{} ({all})", shown(dark)))
    }
}

impl Bars<'_> {
    /// The drawing.
    pub fn draw(&self) -> Canvas {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let left = MARGIN + widest(&mut bars().map(|bar| width(&bar.name))) + SPACE;
        let right = WIDTH - MARGIN - widest(&mut bars().map(|bar| width(&bar.figure()))) - SPACE;
        let axis = Axis::new(self.scale, bars().map(|bar| bar.value), left, right);
        let rows = self.groups.iter().flat_map(|group| group.bars.iter().map(|_| BAR).chain([GAP]));
        let top = if self.parts.is_some() { TOP + BAR } else { TOP };
        let bottom = top + rows.sum::<f64>() + SPACE;
        let mut canvas = Canvas::new(WIDTH, bottom + 52.0, self.title);
        self.legend(&mut canvas);
        for (tick, text) in axis.ticks() {
            let x = axis.at(tick);
            canvas.line(&[(x, top), (x, bottom)], GUIDE, false);
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
        let (end, base, middle) = (axis.at(bar.value), y + 14.0, y + BAR / 2.0);
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
                canvas.bar((left, y + 2.0), (axis.at(dark) - left, BAR - 4.0), colour, false);
            }
        }
        canvas.text((end + SPACE, base), Anchor::After, &bar.figure());
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
