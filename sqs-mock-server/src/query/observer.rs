//! Counts and records a request when it ends.

use crate::service::journal::PendingRecord;
use crate::service::metrics::{Counters, UNKNOWN};

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    pub(super) requests: &'a Counters<2>,
    pub(super) pending: PendingRecord<'a>,
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let action = self.pending.operation.clone().unwrap_or(UNKNOWN.into());
        self.requests.count([action, self.pending.ending().code().to_owned().into()]);
    }
}
