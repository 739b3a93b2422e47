//! The services of one server.

use std::sync::Arc;
#[cfg(feature = "s3")]
use std::sync::{OnceLock, Weak};

use crate::http::Guard;
#[cfg(feature = "s3")]
use crate::s3;
use crate::service::journal::Journal;
use crate::service::metrics::Exposition;
use crate::sqs::front::Endpoint;

/// SQS, and S3 if it is started.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) sqs: Endpoint,
    /// The requests to all services.
    pub(crate) journal: Arc<Journal>,
    #[cfg(feature = "s3")]
    s3: OnceLock<Weak<s3::Content>>,
}

impl Services {
    /// Only SQS.
    pub(crate) fn new(sqs: Endpoint, journal: Arc<Journal>) -> Self {
        Self {
            sqs,
            journal,
            #[cfg(feature = "s3")]
            s3: OnceLock::new(),
        }
    }

    /// Adds S3, which its server owns. Called at most once.
    #[cfg(feature = "s3")]
    pub(crate) fn attach_s3(&self, s3: Weak<s3::Content>) {
        let _ = self.s3.set(s3);
    }

    /// S3, while its server runs.
    #[cfg(feature = "s3")]
    pub(crate) fn s3(&self) -> Option<Arc<s3::Content>> {
        self.s3.get().and_then(Weak::upgrade)
    }

    /// Whether S3 runs.
    #[cfg_attr(not(feature = "s3"), expect(clippy::unused_self, reason = "this build has no S3"))]
    pub(crate) fn has_s3(&self) -> bool {
        #[cfg(feature = "s3")]
        return self.s3().is_some();
        #[cfg(not(feature = "s3"))]
        false
    }

    /// The rules for requests of browsers.
    pub(crate) fn guard(&self) -> &Guard {
        &self.sqs.names().guard
    }

    /// Resets every service to its initial state, and removes all recorded requests.
    pub(crate) fn reset(&self) {
        self.sqs.service().reset();
        self.journal.reset();
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.reset();
        }
    }

    /// The metrics of every service.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn metrics(&self) -> Exposition {
        #[cfg_attr(not(feature = "s3"), expect(unused_mut, reason = "only S3 adds to it"))]
        let mut text = self.sqs.metrics().await;
        #[cfg(feature = "s3")]
        if let Some(s3) = self.s3() {
            s3.write_metrics(&mut text);
        }
        text
    }
}
