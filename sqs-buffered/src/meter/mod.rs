//! Handles of metrics. Without the feature `metrics` they have no size and do nothing.

#[cfg(feature = "metrics")]
mod facade;
#[cfg(not(feature = "metrics"))]
mod off;

use std::sync::OnceLock;

#[cfg(feature = "metrics")]
use facade as handles;
#[cfg(not(feature = "metrics"))]
use off as handles;

pub(crate) use handles::{Counter, Gauge, Histogram, IS_ON, Level, Meter};

/// The handles of one metric by the values of a label. Each is looked up on first use.
#[derive(Debug)]
pub(crate) struct Family<T, const N: usize> {
    meter: Meter,
    label: &'static str,
    look_up: fn(&Meter) -> T,
    handles: [OnceLock<T>; N],
}

impl<T, const N: usize> Family<T, N> {
    pub(crate) fn new(meter: &Meter, label: &'static str, look_up: fn(&Meter) -> T) -> Self {
        let handles = std::array::from_fn(|_| OnceLock::new());
        Self { meter: meter.clone(), label, look_up, handles }
    }

    /// Records something with the handle of a value, which always has this index.
    pub(crate) fn with(&self, (index, value): (usize, &'static str), record: impl FnOnce(&T)) {
        debug_assert!(index < self.handles.len(), "no handle for {value}");
        if IS_ON && let Some(handle) = self.handles.get(index) {
            record(handle.get_or_init(|| (self.look_up)(&self.meter.with(self.label, value))));
        }
    }
}

/// A count as the `f64` that gauges and histograms take.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
pub(crate) fn amount(count: usize) -> f64 {
    count as f64
}
