//! Deduplication ids that are only for queues that make none of the content.

use std::sync::{Arc, OnceLock};

/// Whether such an id goes along or is left out: open until the first request that may reach the service, and settled from
/// then on. A message that goes once with it and once without has two identities, and may be stored twice. Shared by the
/// entry, which outlives its requests, and the request, which settles it before it sends.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpareId(Arc<OnceLock<bool>>);

impl SpareId {
    /// Whether it is not settled.
    pub(crate) fn is_open(&self) -> bool {
        self.0.get().is_none()
    }

    /// Settles it, unless it is.
    pub(crate) fn settle(&self, leave_out: bool) {
        self.0.get_or_init(|| leave_out);
    }

    /// Whether it is settled that it does not go along.
    pub(crate) fn is_left_out(&self) -> bool {
        self.0.get() == Some(&true)
    }
}
