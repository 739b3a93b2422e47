//! What one measurement gives, and how it gets from process to process: numbers with spaces between.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sqs_benchmarks::figures::median;
use sqs_benchmarks::process::Cpu;

use crate::Failed;

/// How long requests took: a count for each microsecond, so that memory does not grow with the rate.
pub(crate) struct Times(Vec<u32>);

/// Microseconds that are told apart; the last count is of all that took as long or longer.
const MOST: usize = 20_000;

impl Default for Times {
    fn default() -> Self {
        Self(vec![0; MOST + 1])
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

    /// The time that so many of a hundred requests do not exceed, in microseconds; without end when that is not known.
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    fn percentile(&self, percent: u64) -> f64 {
        let wanted = (self.count() * percent).div_ceil(100);
        let mut seen = 0;
        let at = self.0.iter().position(|&count| {
            seen += u64::from(count);
            seen >= wanted
        });
        at.filter(|&micros| micros < MOST).map_or(f64::INFINITY, |micros| micros as f64)
    }
}

/// The columns of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) rate: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Microseconds a request.
    pub(crate) user: f64,
    /// User and system.
    pub(crate) cpu: f64,
    /// For one request.
    pub(crate) allocations: f64,
    pub(crate) peak_mib: f64,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "figures of three digits")]
    pub(crate) fn new(times: &Times, took: Duration, cpu: Cpu, allocations: u64, peak_kib: u64) -> Self {
        let requests = times.count() as f64;
        let a_request = |time: Duration| time.as_secs_f64() * 1e6 / requests;
        Self {
            rate: requests / took.as_secs_f64(),
            p50: times.percentile(50),
            p99: times.percentile(99),
            user: a_request(cpu.user),
            cpu: a_request(cpu.total()),
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

    /// A time in microseconds, for readers.
    pub(crate) fn micros(time: f64) -> String {
        if time.is_infinite() { format!("> {} ms", MOST / 1000) } else { format!("{time:.0} us") }
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
    type Err = Failed;

    fn from_str(line: &str) -> Result<Self, Failed> {
        let columns: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let columns: [f64; 7] = columns.try_into().map_err(|_| format!("no figures: {line:?}"))?;
        Ok(columns.into())
    }
}
