//! Handles of metrics. Without the feature `metrics` they have no size and do nothing.

use std::sync::OnceLock;

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

#[cfg(feature = "metrics")]
mod handles {
    use std::fmt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use metrics::Label;

    use super::amount;
    use crate::metrics::QUEUE_LABEL;
    use crate::span::queue_name;

    pub(crate) use metrics::{Counter, Gauge, Histogram};

    pub(crate) const IS_ON: bool = true;

    /// Looks up metrics that share labels.
    #[derive(Clone)]
    pub(crate) struct Meter(Vec<Label>);

    impl Meter {
        /// Tells the recorder what the metrics mean.
        pub(crate) fn describe() {
            crate::metrics::describe();
        }

        pub(crate) fn of_queue(queue_url: &str) -> Self {
            let name = queue_name(queue_url).to_owned();
            Self(vec![Label::from_static_parts("messaging.system", "aws_sqs"), Label::new(QUEUE_LABEL, name)])
        }

        pub(crate) fn with(&self, label: &'static str, value: &'static str) -> Self {
            let mut labels = self.0.clone();
            labels.push(Label::from_static_parts(label, value));
            Self(labels)
        }

        pub(crate) fn counter(&self, name: &'static str) -> Counter {
            metrics::counter!(name, self.0.clone())
        }

        pub(crate) fn gauge(&self, name: &'static str) -> Gauge {
            metrics::gauge!(name, self.0.clone())
        }

        pub(crate) fn histogram(&self, name: &'static str) -> Histogram {
            metrics::histogram!(name, self.0.clone())
        }

        pub(crate) fn level(&self, name: &'static str) -> Level {
            Level { gauge: self.gauge(name), value: AtomicUsize::new(0) }
        }
    }

    impl fmt::Debug for Meter {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("Meter").field(&self.0).finish()
        }
    }

    /// One contribution to a gauge that is a sum, for example over several clients. Dropping it removes the contribution.
    #[derive(Debug)]
    pub(crate) struct Level {
        gauge: Gauge,
        value: AtomicUsize,
    }

    impl Level {
        pub(crate) fn set(&self, value: usize) {
            let old = self.value.swap(value, Ordering::Relaxed);
            if value > old {
                self.gauge.increment(amount(value - old));
            } else if value < old {
                self.gauge.decrement(amount(old - value));
            }
        }
    }

    impl Drop for Level {
        fn drop(&mut self) {
            self.set(0);
        }
    }
}

/// Handles that do nothing.
#[cfg(not(feature = "metrics"))]
mod handles {
    pub(crate) const IS_ON: bool = false;

    #[derive(Clone, Debug)]
    pub(crate) struct Counter;

    #[derive(Clone, Debug)]
    pub(crate) struct Gauge;

    #[derive(Clone, Debug)]
    pub(crate) struct Histogram;

    #[derive(Clone, Debug)]
    pub(crate) struct Level;

    #[derive(Clone, Debug)]
    pub(crate) struct Meter;

    #[expect(clippy::unused_self, reason = "the handles of the crate `metrics` have the same methods")]
    mod methods {
        use super::{Counter, Gauge, Histogram, Level, Meter};

        impl Counter {
            pub(crate) fn increment(&self, _: u64) {}
        }

        impl Gauge {
            pub(crate) fn increment(&self, _: f64) {}
            pub(crate) fn decrement(&self, _: f64) {}
            pub(crate) fn set(&self, _: f64) {}
        }

        impl Histogram {
            pub(crate) fn record(&self, _: f64) {}
            pub(crate) fn record_many(&self, _: f64, _: usize) {}
        }

        impl Level {
            pub(crate) fn set(&self, _: usize) {}
        }

        impl Meter {
            pub(crate) fn describe() {}

            pub(crate) fn of_queue(_: &str) -> Self {
                Self
            }

            pub(crate) fn with(&self, _: &'static str, _: &'static str) -> Self {
                Self
            }

            pub(crate) fn counter(&self, _: &'static str) -> Counter {
                Counter
            }

            pub(crate) fn gauge(&self, _: &'static str) -> Gauge {
                Gauge
            }

            pub(crate) fn histogram(&self, _: &'static str) -> Histogram {
                Histogram
            }

            pub(crate) fn level(&self, _: &'static str) -> Level {
                Level
            }
        }
    }
}
