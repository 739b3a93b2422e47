//! A recorder of metrics that tests can read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, LocalRecorderGuard, Metadata,
    Recorder, SharedString, Unit, set_default_local_recorder,
};

/// The recorded values by name and labels. Counters and gauges have one value, histograms all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    values: BTreeMap<String, Vec<f64>>,
    /// The unit of each described metric.
    described: BTreeMap<String, Option<Unit>>,
}

/// One metric.
struct Cell(Recorded, String);

impl Recorded {
    /// Records the metrics of this thread while the guard lives.
    pub(crate) fn install(&self) -> LocalRecorderGuard<'_> {
        set_default_local_recorder(self)
    }

    /// The values of a metric with exactly these labels, apart from the label of the messaging system.
    pub(crate) fn values(&self, name: &str, labels: &[(&str, &str)]) -> Vec<f64> {
        let mut labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        labels.push("messaging.system=aws_sqs".to_owned());
        labels.sort_unstable();
        let values = &self.0.lock().unwrap().values;
        values.get(&format!("{name} {}", labels.join(" "))).cloned().unwrap_or_default()
    }

    /// The value of a counter or gauge; `NaN` if it was never recorded.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.values(name, labels).last().copied().unwrap_or(f64::NAN)
    }

    /// The values of counters and gauges with the same labels.
    pub(crate) fn each(&self, names: &[&str], labels: &[(&str, &str)]) -> Vec<f64> {
        names.iter().map(|name| self.value(name, labels)).collect()
    }

    /// The described unit of a metric.
    pub(crate) fn unit(&self, name: &str) -> Option<Unit> {
        self.0.lock().unwrap().described.get(name).copied().flatten()
    }

    fn cell(&self, key: &Key) -> Arc<Cell> {
        let mut labels: Vec<_> =
            key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        labels.sort_unstable();
        Arc::new(Cell(self.clone(), format!("{} {}", key.name(), labels.join(" "))))
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>) {
        self.0.lock().unwrap().described.insert(name.as_str().to_owned(), unit);
    }
}

impl Cell {
    fn change(&self, change: impl FnOnce(&mut Vec<f64>)) {
        let mut state = self.0.0.lock().unwrap();
        change(state.values.entry(self.1.clone()).or_default());
    }

    fn add(&self, value: f64) {
        self.change(|values| *values = vec![values.last().copied().unwrap_or_default() + value]);
    }
}

impl CounterFn for Cell {
    fn increment(&self, value: u64) {
        self.add(f64::from(u32::try_from(value).unwrap()));
    }

    fn absolute(&self, value: u64) {
        panic!("no counter is set: {value}");
    }
}

impl GaugeFn for Cell {
    fn increment(&self, value: f64) {
        self.add(value);
    }

    fn decrement(&self, value: f64) {
        self.add(-value);
    }

    fn set(&self, value: f64) {
        self.change(|values| *values = vec![value]);
    }
}

impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        self.change(|values| values.push(value));
    }
}

impl Recorder for Recorded {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}
