//! The results of a run, as table cells and as a plot.

use std::time::Duration;

use sqs_benchmarks::figures::{cell, ratio};
use sqs_benchmarks::plot::{Bar, Bars, Canvas, Group, Scale};

/// The result of a run.
pub(crate) struct Measured {
    pub(crate) messages: usize,
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Duration,
    /// Durations of sends, sorted.
    pub(crate) times: Vec<Duration>,
    /// Entries per request.
    pub(crate) fill: f64,
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    pub(crate) fn rate(&self) -> f64 {
        self.messages as f64 / self.elapsed.as_secs_f64()
    }

    /// Microseconds. `None` if the CPU time is below the resolution of `/proc`, 10 ms.
    fn cpu_per_message(&self) -> Option<f64> {
        let micros = self.cpu.as_secs_f64() * 1e6 / self.rate() / self.elapsed.as_secs_f64();
        (micros > 0.0 && micros.is_finite()).then_some(micros)
    }

    pub(crate) fn cells(&self, ceiling: &Self) -> String {
        let quantile = |share: usize| self.times.get(self.times.len().saturating_sub(1) * share / 100);
        let text = |time: Option<&Duration>| {
            time.map_or("-".to_owned(), |time| format!("{:.2} ms", time.as_secs_f64() * 1e3))
        };
        let (rate, cpu) = (self.rate(), self.cpu_per_message());
        let (p50, p99) = (text(quantile(50)), text(quantile(99)));
        let of_cpu = cpu.zip(ceiling.cpu_per_message()).and_then(|(cpu, ceiling)| ratio(cpu, ceiling));
        let of_cpu = cell(of_cpu, 2);
        let cpu = cpu.map_or("-".to_owned(), |cpu| format!("{cpu:.1} us"));
        let (of_rate, fill) = (cell(ratio(rate, ceiling.rate()), 2), self.fill);
        format!("{rate:.0} | {of_rate} | {p50} | {p99} | {cpu} | {of_cpu} | {fill:.1} |")
    }
}

/// The rates of all methods for one latency and one number of producers.
pub(crate) struct Compared {
    pub(crate) latency: u64,
    pub(crate) producers: usize,
    /// Name, colour and messages per second of each row.
    pub(crate) rates: Vec<(&'static str, usize, f64)>,
}

/// Plots messages per second, with a group for each latency and number of producers.
pub(crate) fn plot(compared: Vec<Compared>) -> Canvas {
    let group = |Compared { latency, producers, rates }| {
        let tasks = if producers == 1 { "1 producer" } else { &format!("{producers} producers") };
        let heading = format!("latency {latency} ms, {tasks}");
        let bar =
            |(name, colour, value): (&str, _, _)| Bar { name: name.to_owned(), colour, value, dark: None };
        Group { heading, bars: rates.into_iter().map(bar).collect() }
    };
    let bars = Bars {
        title: "Sent messages of 1 KiB per second",
        unit: "messages per second, more is better; logarithmic scale",
        scale: Scale::Log,
        parts: None,
        groups: compared.into_iter().map(group).collect(),
    };
    bars.draw()
}
