//! Remembers whether the instance metadata service responds, so that calls outside EC2 do not wait for it each time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use tokio::time::Instant;

/// How long a service that did not respond is not queried: a query takes seconds.
const SILENT_FOR: Duration = Duration::from_secs(10);

/// What the latest query of the default endpoint has found. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
enum Seen {
    #[default]
    Unknown,
    Responded,
    Silent(Instant, Arc<CredentialsError>),
}

impl Presence {
    /// Whether the latest query got a response. If a later one gets none, that is a retryable failure.
    pub(super) fn has_responded(&self) -> bool {
        matches!(*self.lock(), Seen::Responded)
    }

    pub(super) fn responded(&self) {
        *self.lock() = Seen::Responded;
    }

    /// The failure of a query in the last 10 seconds.
    pub(super) fn recent_failure(&self) -> Option<Arc<CredentialsError>> {
        match &*self.lock() {
            Seen::Silent(since, error) if since.elapsed() < SILENT_FOR => Some(Arc::clone(error)),
            _ => None,
        }
    }

    pub(super) fn failed(&self, error: &Arc<CredentialsError>) {
        *self.lock() = Seen::Silent(Instant::now(), Arc::clone(error));
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
