//! Waiting for room. Sends and acknowledgements have their own, so that a full buffer of sends holds up no delete and no
//! renewal of a lease.

use sqs_client::client::Execute;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

use super::BufferedClient;
use crate::produce::admission::{Admission, Permit};
use crate::produce::error::SendErrorKind;
use crate::time::after;

impl<H: Execute> BufferedClient<H> {
    /// Waits for room; not longer than until `deadline`, if there is one.
    pub(super) async fn enter(
        &self,
        admission: &Admission,
        bytes: usize,
        deadline: Option<Instant>,
    ) -> Result<Permit, SendErrorKind> {
        if let Some(permit) = admission.try_enter(bytes) {
            return Ok(permit);
        }
        // Waiting takes a clock, and what comes after it a task.
        Handle::try_current().map_err(|_| SendErrorKind::NoRuntime)?;
        let patience = after(Instant::now(), self.shared.settings.admission_timeout);
        let until = deadline.map_or(patience, |deadline| deadline.min(patience));
        let entering = admission.enter(bytes, || self.shared.lanes.wake());
        match timeout_at(until, entering).await {
            Ok(Some(permit)) => Ok(permit),
            Ok(None) => Err(SendErrorKind::Closed),
            Err(_) => Err(SendErrorKind::Full),
        }
    }

    /// Room, if there is some now.
    pub(super) fn try_enter(admission: &Admission, bytes: usize) -> Result<Permit, SendErrorKind> {
        let why_not = || if admission.is_closed() { SendErrorKind::Closed } else { SendErrorKind::Full };
        admission.try_enter(bytes).ok_or_else(why_not)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;
    use sqs_mock_server::faults::Fault;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wait_for_room_counts_against_the_deadline() {
        let server = MockSqs::in_process();
        let client = server.client();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        server.faults().inject(Fault::latency(Duration::from_secs(20)));
        let buffered = BufferedClient::builder(client).capacity(1, 1).build().unwrap();
        let first = buffered.enqueue_delete(&url, "other").await.unwrap();
        let start = Instant::now();
        let deadline = start + Duration::from_secs(5);
        let refused =
            buffered.enqueue_visibility_until(&url, "handle", 60, Some(deadline)).await.unwrap_err();
        assert_eq!((refused.is_full(), Instant::now()), (true, deadline));
        assert!(first.await.is_err());
    }
}
