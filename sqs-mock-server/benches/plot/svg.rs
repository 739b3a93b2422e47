//! What the plots of the benchmarks are drawn with: text, lines and boxes as SVG, and a logarithmic axis.

use std::fmt::Write as _;
use std::path::Path;

/// Ink, which is read on the white ground of every plot.
pub(crate) const INK: &str = "#24292f";
/// Lines that only guide the eye.
pub(crate) const GUIDE: &str = "#d8dee4";
/// Colours that remain apart for people who see red and green alike.
pub(crate) const COLOURS: [&str; 5] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#7f7f7f"];

/// A drawing under way.
#[derive(Debug)]
pub(crate) struct Canvas {
    svg: String,
}

/// Where a text stands beside its point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Before,
    Around,
    After,
}

impl Canvas {
    /// A white ground with a title.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            title = escaped(title)
        );
        let mut canvas = Self { svg };
        canvas.push(format_args!(
            "<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\" fill=\"{INK}\">{}</text>",
            escaped(title)
        ));
        canvas
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Before => "end",
            Anchor::Around => "middle",
            Anchor::After => "start",
        };
        let text = escaped(text);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{text}</text>"
        ));
    }

    pub(crate) fn line(&mut self, points: &[(f64, f64)], colour: &str, dashed: bool) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dashes = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>",
            points.join(" ")
        ));
    }

    pub(crate) fn bar(&mut self, (x, y): (f64, f64), width: f64, height: f64, colour: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        ));
    }

    /// Writes the file.
    pub(crate) fn save(mut self, path: &Path) -> Result<(), String> {
        self.svg.push_str("</svg>\n");
        std::fs::write(path, self.svg).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // A string takes everything.
        let _ = writeln!(self.svg, "{element}");
    }
}

/// An axis on which each power of ten takes the same room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogAxis {
    /// Exponents of ten at both ends.
    low: f64,
    high: f64,
    /// Where it begins and ends on the canvas.
    from: f64,
    to: f64,
}

impl LogAxis {
    /// An axis from the power of ten below the least value to the one above the greatest.
    pub(crate) fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let values: Vec<_> = values.filter(|value| *value > 0.0).map(f64::log10).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min).min(3.0).floor();
        let high = values.iter().copied().fold(low + 1.0, f64::max).ceil();
        Self { low, high, from, to }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        self.from + share.max(0.0) * (self.to - self.from)
    }

    /// The powers of ten on it.
    pub(crate) fn ticks(self) -> impl Iterator<Item = f64> {
        std::iter::successors(Some(self.low), |power| Some(power + 1.0))
            .take_while(move |power| *power <= self.high)
            .map(|power| 10_f64.powf(power))
    }
}

/// 1000000 is 1,000,000.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
