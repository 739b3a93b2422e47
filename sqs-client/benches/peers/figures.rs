//! The results of a measurement. Processes exchange them as numbers separated by spaces.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sqs_benchmarks::figures::median;
use sqs_benchmarks::process::Cpu;

use crate::BoxError;

/// A histogram of request durations with one bucket per microsecond. Its memory does not depend on the rate.
pub(crate) struct Times(Vec<u32>);

/// Number of buckets for durations, in microseconds. The last bucket counts all longer durations.
const MAX_MICROS: usize = 20_000;

impl Default for Times {
    fn default() -> Self {
        Self(vec![0; MAX_MICROS + 1])
    }
}

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        let last = self.0.len().saturating_sub(1);
        let micros = usize::try_from(time.as_micros()).unwrap_or(last);
        if let Some(count) = self.0.get_mut(micros.min(last)) {
            *count += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|&count| u64::from(count)).sum()
    }

    /// The percentile in microseconds. Infinite if it is in the last bucket.
    #[expect(clippy::cast_precision_loss, reason = "at most 20,000")]
    fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.count() * percent).div_ceil(100);
        let mut seen = 0;
        let at = self.0.iter().position(|&count| {
            seen += u64::from(count);
            seen >= rank
        });
        at.filter(|&micros| micros < MAX_MICROS).map_or(f64::INFINITY, |micros| micros as f64)
    }
}

/// The results of one measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Requests per second.
    pub(crate) rate: f64,
    /// Microseconds.
    pub(crate) p50: f64,
    /// Microseconds.
    pub(crate) p99: f64,
    /// User CPU time per request, in microseconds.
    pub(crate) user: f64,
    /// User and kernel CPU time per request, in microseconds.
    pub(crate) cpu: f64,
    /// Allocations per request.
    pub(crate) allocations: f64,
    pub(crate) peak_mib: f64,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "figures of three digits")]
    pub(crate) fn new(times: &Times, took: Duration, cpu: Cpu, allocations: u64, peak_kib: u64) -> Self {
        let requests = times.count() as f64;
        let per_request = |time: Duration| time.as_secs_f64() * 1e6 / requests;
        Self {
            rate: requests / took.as_secs_f64(),
            p50: times.percentile(50),
            p99: times.percentile(99),
            user: per_request(cpu.user),
            cpu: per_request(cpu.total()),
            allocations: allocations as f64 / requests,
            peak_mib: peak_kib as f64 / 1024.0,
        }
    }

    /// The median of each column.
    pub(crate) fn median(rounds: &[Self]) -> Self {
        let columns: [_; 7] = std::array::from_fn(|column| {
            median(rounds.iter().map(|figures| figures.columns()[column]), f64::total_cmp).unwrap_or(f64::NAN)
        });
        Self::from(columns)
    }

    /// Formats a time in microseconds.
    pub(crate) fn micros(time: f64) -> String {
        if time.is_infinite() { format!("> {} ms", MAX_MICROS / 1000) } else { format!("{time:.0} us") }
    }

    fn columns(&self) -> [f64; 7] {
        [self.rate, self.p50, self.p99, self.user, self.cpu, self.allocations, self.peak_mib]
    }
}

impl From<[f64; 7]> for Figures {
    fn from([rate, p50, p99, user, cpu, allocations, peak_mib]: [f64; 7]) -> Self {
        Self { rate, p50, p99, user, cpu, allocations, peak_mib }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.columns().map(|column| column.to_string()).join(" "))
    }
}

impl FromStr for Figures {
    type Err = BoxError;

    fn from_str(line: &str) -> Result<Self, BoxError> {
        let columns: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let columns: [f64; 7] = columns
            .try_into()
            .map_err(|_| format!("expected 7 numbers separated by spaces, found {line:?}"))?;
        Ok(columns.into())
    }
}
