//! Handles that do nothing.

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
