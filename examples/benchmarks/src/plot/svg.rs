//! Text, lines and boxes as SVG.

use std::fmt::Write as _;
use std::path::Path;

/// Colour of text.
const TEXT: &str = "#24292f";
/// Colour of grid lines.
pub(super) const GRID: &str = "#d8dee4";
/// From Okabe and Ito, "Color Universal Design", without the colours that are faint on white.
pub(super) const COLOURS: [&str; 7] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7f7f7f"];

/// A drawing.
#[derive(Debug)]
pub struct Canvas {
    svg: String,
}

/// The position of a text relative to its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Before,
    Around,
    After,
}

impl Canvas {
    /// An empty drawing with a white background and a title.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let title = escaped(title);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\" fill=\"{TEXT}\">{title}</text>\n"
        );
        Self { svg }
    }

    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        self.words(at, anchor, "", text);
    }

    pub(super) fn heading(&mut self, at: (f64, f64), text: &str) {
        self.words(at, Anchor::After, " font-weight=\"bold\"", text);
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], colour: &str, dashed: bool) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dashes = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let width = if colour == GRID { 1 } else { 2 };
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>",
            points.join(" ")
        ));
    }

    /// Draws a bar. A `faint` bar is a lighter shade of its colour.
    pub(super) fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str, faint: bool) {
        let opacity = if faint { " fill-opacity=\"0.4\"" } else { "" };
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"{opacity}/>"
        ));
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &str) {
        self.push(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>"));
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The file is not writable.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        std::fs::write(path, self.finished())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// The content of the file.
    pub fn finished(&self) -> String {
        format!("{}</svg>\n", self.svg)
    }

    fn words(&mut self, (x, y): (f64, f64), anchor: Anchor, weight: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Before => "end",
            Anchor::Around => "middle",
            Anchor::After => "start",
        };
        let text = escaped(text);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{TEXT}\"{weight}>{text}</text>"
        ));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.svg, "{element}");
    }
}

/// The maximum width of a text in the usual fonts of browsers.
pub(super) fn width(text: &str) -> f64 {
    u32::try_from(text.chars().count()).map_or(0.0, f64::from) * 7.4
}

pub(super) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
