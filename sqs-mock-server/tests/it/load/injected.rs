//! The injected faults, which have equal probability.

use std::time::Duration;

use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::{Fault, Faults, InjectedFault};

/// The faults of a run.
#[derive(Debug)]
pub(crate) struct InjectedFaults(Vec<(&'static str, InjectedFault)>);

fn kinds() -> [(&'static str, Fault); 11] {
    [
        ("latency", Fault::latency_between(Duration::ZERO, Duration::from_millis(5))),
        // With a timeout of zero, messages of a FIFO queue would repeat in a way that the ledger does not accept.
        ("redeliver", Fault::redeliver().queue("load")),
        ("fail entries", Fault::fail_entries(ErrorCode::InternalFailure)),
        ("omit entries", Fault::omit_entries()),
        ("throttle", Fault::throttle()),
        ("error 500", Fault::error(ErrorCode::InternalFailure)),
        ("status 503", Fault::status(503, "<html>busy</html>")),
        ("reset before", Fault::reset_before()),
        ("reset after", Fault::reset_after()),
        ("truncate", Fault::truncate()),
        ("corrupt", Fault::corrupt()),
    ]
}

impl InjectedFaults {
    pub(super) fn inject(faults: &Faults, probability: f64) -> Self {
        let inject = |(name, fault): (_, Fault)| (name, faults.inject(fault.probability(probability)));
        Self(kinds().into_iter().map(inject).collect())
    }

    /// The number of hits of each fault.
    pub(super) fn hits(&self) -> Vec<(&'static str, u64)> {
        self.0.iter().map(|(name, fault)| (*name, fault.hits())).collect()
    }
}
