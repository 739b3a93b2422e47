//! Histograms of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
