//! Counts, logs and records a request when it ends.

use std::sync::Arc;

use super::state::RequestState;
use crate::s3::metrics::Metrics;
use crate::s3::request_context::RequestContext;
use crate::service::clock::Clock;
use crate::service::journal::{Journal, PendingRecord};
use crate::service::operation::{S3Action, ServiceName};

/// The observers of requests: counters, log and journal.
#[derive(Clone, Debug)]
pub(in crate::s3) struct Observers {
    pub(in crate::s3) metrics: Arc<Metrics>,
    pub(in crate::s3) journal: Arc<Journal>,
    pub(in crate::s3) clock: Clock,
}

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    metrics: &'a Metrics,
    context: &'a RequestContext,
    state: &'a RequestState,
    /// Takes the status.
    pub(super) pending: PendingRecord<'a>,
}

impl Observers {
    pub(super) fn begin<'a>(&'a self, context: &'a RequestContext, state: &'a RequestState) -> Observer<'a> {
        let pending = PendingRecord::open(&self.journal, &self.clock, ServiceName::S3, &context.id, None);
        Observer { metrics: &self.metrics, context, state, pending }
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let info = self.state.info();
        let operation = info.map(|info| info.operation.as_str());
        let status = self.pending.ending().status();
        let resource = info.and_then(|info| info.resource.as_ref());
        tracing::debug!(operation, ?resource, status, "S3");
        self.metrics.count(operation.and_then(S3Action::from_name), status);
        if let Some(operation) = operation {
            self.pending.asked(operation.to_owned());
        }
        self.pending.note(|record| {
            record.resource = resource.cloned();
            record.warnings = self.context.take_notes().into();
        });
    }
}
