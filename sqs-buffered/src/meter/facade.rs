//! The handles of the crate `metrics`.

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
