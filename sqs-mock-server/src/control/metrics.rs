//! Metrics of all services: counters, gauges and histograms.
//!
//! The text format of Prometheus, version 0.0.4.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The label of requests whose operation is unknown.
pub(crate) const UNKNOWN: &str = "unknown";

/// The label of requests whose caller got no response.
pub(crate) const ABORTED: &str = "aborted";

/// The label of successful requests.
pub(crate) const OK: &str = "OK";

/// The code of a response that a fault replaces, as if by a proxy.
pub(crate) const INJECTED_STATUS: &str = "InjectedStatus";

/// Injected errors can have any code, so the number of series is bounded.
const MAX_SERIES: usize = 1_000;

/// The last label of series beyond [`MAX_SERIES`].
const OTHER: &str = "other";

/// The counters of one family since the start of the server, by the values of its labels.
#[derive(Debug)]
pub(crate) struct Counters<const N: usize> {
    labels: [&'static str; N],
    counts: Mutex<BTreeMap<[Cow<'static, str>; N], u64>>,
}

impl<const N: usize> Counters<N> {
    pub(crate) fn new(labels: [&'static str; N]) -> Self {
        Self { labels, counts: Mutex::default() }
    }

    /// Counts one more.
    pub(crate) fn count(&self, values: [Cow<'static, str>; N]) {
        self.add(values, 1);
    }

    /// Counts this many more. Without any, there is no new sample.
    pub(crate) fn add(&self, mut values: [Cow<'static, str>; N], more: u64) {
        if more == 0 {
            return;
        }
        let mut counts = self.counts.lock();
        if counts.len() >= MAX_SERIES && !counts.contains_key(&values) {
            values.iter_mut().next_back().into_iter().for_each(|last| *last = OTHER.into());
        }
        *counts.entry(values).or_default() += more;
    }

    /// Writes all samples. Combinations that never occurred have none.
    pub(crate) fn write(&self, text: &mut Exposition, name: &str) {
        let counts = self.counts.lock().clone();
        for (values, count) in counts {
            let labels: Vec<_> = self.labels.into_iter().zip(values.iter().map(|value| &**value)).collect();
            text.sample(name, &labels, count);
        }
    }
}

/// The number of entered scopes.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicUsize);

impl Gauge {
    /// Counts one more until the returned guard is dropped.
    pub(crate) fn enter(&self) -> impl Drop + Send + '_ {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(&self.0)
    }

    /// The current number.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct Entered<'a>(&'a AtomicUsize);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A histogram with `N` ascending bounds, in microseconds.
#[derive(Debug)]
pub(crate) struct Histogram<const N: usize> {
    bounds: &'static [u64; N],
    /// Not cumulative: each bucket excludes the smaller ones.
    within: [AtomicU64; N],
    beyond: AtomicU64,
    sum_in_nanos: AtomicU64,
}

/// A snapshot of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Upper bounds in seconds, with cumulative counts.
    pub(crate) buckets: Vec<(f64, u64)>,
    pub(crate) count: u64,
    /// In seconds.
    pub(crate) sum: f64,
}

impl<const N: usize> Histogram<N> {
    pub(crate) const fn new(bounds: &'static [u64; N]) -> Self {
        Self {
            bounds,
            within: [const { AtomicU64::new(0) }; N],
            beyond: AtomicU64::new(0),
            sum_in_nanos: AtomicU64::new(0),
        }
    }

    pub(crate) fn observe(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let at = self.bounds.iter().position(|bound| nanos <= bound.saturating_mul(1000));
        let bucket = at.and_then(|at| self.within.get(at)).unwrap_or(&self.beyond);
        bucket.fetch_add(1, Ordering::Relaxed);
        self.sum_in_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// A snapshot; `None` if nothing was observed.
    pub(crate) fn read(&self) -> Option<Reading> {
        let mut count = 0;
        let buckets = self.bounds.iter().zip(&self.within).map(|(bound, bucket)| {
            count += bucket.load(Ordering::Relaxed);
            (Duration::from_micros(*bound).as_secs_f64(), count)
        });
        let buckets: Vec<_> = buckets.collect();
        count += self.beyond.load(Ordering::Relaxed);
        let sum = Duration::from_nanos(self.sum_in_nanos.load(Ordering::Relaxed)).as_secs_f64();
        (count > 0).then_some(Reading { buckets, count, sum })
    }
}

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

/// Measures real time, not the virtual clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod metrics_tests {
    use super::*;

    #[test]
    fn number_of_series_is_bounded() {
        let requests = Counters::new(["action", "code"]);
        for number in 0..2 * MAX_SERIES {
            requests.count(["Publish".into(), number.to_string().into()]);
        }
        requests.count(["Publish".into(), "0".into()]);
        let mut text = Exposition::default();
        requests.write(&mut text, "requests");
        let text = text.into_text();
        let publish =
            |code: &str, count: usize| format!("requests{{action=\"Publish\",code=\"{code}\"}} {count}\n");
        assert!(text.contains(&publish("0", 2)) && text.contains(&publish(OTHER, MAX_SERIES)));
        assert_eq!(text.matches("action=").count(), MAX_SERIES + 1);
    }

    #[test]
    fn buckets_are_cumulative_and_include_their_bound() {
        let histogram = Histogram::new(&[10, 100]);
        assert_eq!(histogram.read(), None);
        for micros in [10, 11, 100, 5000] {
            histogram.observe(Duration::from_micros(micros));
        }
        let reading = histogram.read().unwrap();
        assert_eq!(reading.buckets, [(0.000_01, 1), (0.000_1, 3)]);
        assert_eq!((reading.count, reading.sum), (4, 0.005_121));
    }
}

#[cfg(test)]
mod exposition_tests {
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
