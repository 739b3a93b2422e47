//! The text format of Prometheus, version 0.0.4.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt::{Display, Write as _};

use super::Reading;

/// `Content-Type` of the format.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Labels with their values.
pub(crate) type Labels<'a> = [(&'a str, &'a str)];

/// A text that consists of metric families.
#[derive(Debug, Default)]
pub(crate) struct Exposition(String);

/// The type of a metric family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Exposition {
    /// Starts a family; its samples must follow immediately. `help` is one line.
    pub(crate) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &Labels<'_>, value: impl Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            self.0.push_str(if at == 0 { "{" } else { "," });
            self.0.push_str(label);
            self.0.push_str("=\"");
            self.escaped(text);
            self.0.push('"');
        }
        let end = if labels.is_empty() { "" } else { "}" };
        self.line(format_args!("{end} {value}"));
    }

    /// A family of one sample without labels.
    pub(crate) fn single(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    pub(crate) fn histogram(&mut self, name: &str, labels: &Labels<'_>, reading: &Reading) {
        let bucket = format!("{name}_bucket");
        let with_bound = |exposition: &mut Self, bound: &str, count: u64| {
            let labels: Vec<_> = labels.iter().copied().chain([("le", bound)]).collect();
            exposition.sample(&bucket, &labels, count);
        };
        for (bound, count) in &reading.buckets {
            with_bound(self, &bound.to_string(), *count);
        }
        with_bound(self, "+Inf", reading.count);
        self.sample(&format!("{name}_sum"), labels, reading.sum);
        self.sample(&format!("{name}_count"), labels, reading.count);
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    fn escaped(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                other => self.0.push(other),
            }
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = writeln!(self.0, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped() {
        let mut text = Exposition::default();
        text.sample("a", &[("b", "x\\y\"z\n"), ("c", "d")], 1);
        assert_eq!(text.into_text(), "a{b=\"x\\\\y\\\"z\\n\",c=\"d\"} 1\n");
    }

    #[test]
    fn family_has_help_and_type_before_its_samples() {
        let mut text = Exposition::default();
        text.single("up_seconds", Kind::Gauge, "How long.", 1.5);
        assert_eq!(
            text.into_text(),
            "# HELP up_seconds How long.\n# TYPE up_seconds gauge\nup_seconds 1.5\n"
        );
    }

    #[test]
    fn histogram_ends_with_infinite_bucket_sum_and_count() {
        let mut text = Exposition::default();
        text.histogram("h", &[("a", "b")], &Reading { buckets: vec![(0.5, 2)], count: 3, sum: 9.0 });
        let expected = "h_bucket{a=\"b\",le=\"0.5\"} 2\nh_bucket{a=\"b\",le=\"+Inf\"} 3\nh_sum{a=\"b\"} 9\nh_count{a=\"b\"} 3\n";
        assert_eq!(text.into_text(), expected);
    }
}
