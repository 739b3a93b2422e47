//! Metrics of all services: counters, gauges and histograms.

mod exposition;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

pub(crate) use exposition::{CONTENT_TYPE, Exposition, Kind};

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
    pub(crate) fn count(&self, mut values: [Cow<'static, str>; N]) {
        let mut counts = self.counts.lock();
        if counts.len() >= MAX_SERIES && !counts.contains_key(&values) {
            values.iter_mut().next_back().into_iter().for_each(|last| *last = OTHER.into());
        }
        *counts.entry(values).or_default() += 1;
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

#[cfg(test)]
mod tests {
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
