//! Keeps the messages of a receive hidden while their payloads are loaded.

use std::time::Duration;

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::change_message_visibility_batch::{
    ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchInput,
};
use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::types::ChangeMessageVisibilityBatchRequestEntry;
use sqs_client::wire::limits::MAX_BATCH_ENTRIES;
use tokio::time::{Instant, timeout, timeout_at};

use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::event::Event;

/// The part of a lease that may be over when the message is returned. Callers count the lease from the receive.
const SLACK: Duration = Duration::from_secs(1);
/// How long loaded payloads wait for the last renewal.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest that a message is hidden after its receive.
const MAX_HIDDEN: Duration = Duration::from_secs(43_200);
/// How long the payloads of a receive may be loaded.
pub(super) const MAX_HOLD: Duration = Duration::from_secs(3_600);

/// The parameters of a receive that renewals need.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaseTerms {
    pub(super) queue_url: String,
    /// In seconds. `None`: that of the queue.
    visibility_timeout: Option<i32>,
}

impl LeaseTerms {
    pub(super) fn of(input: &ReceiveMessageInput) -> Self {
        let queue_url = input.queue_url().unwrap_or_default().to_owned();
        Self { queue_url, visibility_timeout: input.visibility_timeout() }
    }
}

impl<H: Execute> ExtendedClient<H> {
    /// Waits for `work`, and renews the leases of messages meanwhile: after half of the visibility timeout, and at the
    /// end. `handles` are receipt handles of SQS. `work` continues during a renewal and ends by itself at [`MAX_HOLD`].
    pub(super) async fn holding<T>(
        &self,
        terms: &LeaseTerms,
        handles: &[String],
        work: impl Future<Output = T>,
    ) -> T {
        let received = Instant::now();
        let mut work = std::pin::pin!(work);
        let lease = match self.lease(terms).await {
            Some(lease) if !lease.is_zero() => lease,
            Some(_) => return work.await,
            None => return self.without_renewals(terms, received + SLACK, work).await,
        };
        // The start of the latest successful renewal, and the time of the next one.
        let (mut renewed, mut due) = (received, received + lease / 2);
        let done = loop {
            if let Ok(done) = timeout_at(due, work.as_mut()).await {
                break done;
            }
            let asked = Instant::now();
            tokio::select! {
                biased;
                done = work.as_mut() => break done,
                is_renewed = self.renew(terms, handles, left(received, lease), lease / 2) => {
                    renewed = if is_renewed { asked } else { renewed };
                }
            }
            due = asked + lease / 2;
        };
        if renewed.elapsed() >= SLACK {
            self.renew(terms, handles, left(received, lease), PATIENCE.min(lease / 4)).await;
        }
        done
    }

    /// The visibility timeout, which may be zero; `None` if it is unknown.
    async fn lease(&self, terms: &LeaseTerms) -> Option<Duration> {
        let asked = terms.visibility_timeout.and_then(|seconds| u64::try_from(seconds).ok());
        match asked {
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => self.shared.queue_attributes.ask(&self.inner, &terms.queue_url).await.visibility_timeout,
        }
    }

    /// Waits for `work` without renewals. An event reports that if it takes long.
    async fn without_renewals<T>(
        &self,
        terms: &LeaseTerms,
        until: Instant,
        mut work: impl Future<Output = T> + Unpin,
    ) -> T {
        if let Ok(done) = timeout_at(until, &mut work).await {
            return done;
        }
        self.shared.events.send(&Event::LeaseUnknown { queue_url: &terms.queue_url });
        work.await
    }

    /// Renews all leases and returns true, or reports an event and returns false. No response within `patience` is a
    /// failure, too.
    async fn renew(
        &self,
        terms: &LeaseTerms,
        handles: &[String],
        lease: Duration,
        patience: Duration,
    ) -> bool {
        let change = timeout(patience, self.hide(&terms.queue_url, handles, lease)).await;
        let late = |_| Err(Error::new(ErrorKind::Client, format!("no response within {patience:?}")));
        let Err(error) = change.unwrap_or_else(late) else { return true };
        self.shared.events.send(&Event::RenewalFailed { error: &error });
        false
    }

    /// Hides messages for this long from now.
    pub(super) async fn hide(
        &self,
        queue_url: &str,
        handles: &[String],
        lease: Duration,
    ) -> Result<(), Error> {
        for handles in handles.chunks(MAX_BATCH_ENTRIES) {
            let input = renewal(queue_url, handles, lease);
            let output = self.below::<ChangeMessageVisibilityBatch>(&input, CallOptions::default()).await?;
            if !output.failed.is_empty() {
                return Err(Error::new(ErrorKind::Client, format!("{:?}", output.failed)));
            }
        }
        Ok(())
    }
}

/// The next visibility timeout: SQS hides no message for longer than 12 hours after its receive.
fn left(received: Instant, lease: Duration) -> Duration {
    lease.min(MAX_HIDDEN.saturating_sub(received.elapsed() + SLACK))
}

fn renewal(queue_url: &str, handles: &[String], lease: Duration) -> ChangeMessageVisibilityBatchInput {
    let entries = handles.iter().enumerate().map(|(place, handle)| {
        let mut entry = ChangeMessageVisibilityBatchRequestEntry::default();
        entry.id = place.to_string();
        entry.receipt_handle.clone_from(handle);
        entry.visibility_timeout = i32::try_from(lease.as_secs()).ok();
        entry
    });
    let mut input = ChangeMessageVisibilityBatchInput::default();
    input.queue_url = Some(queue_url.to_owned());
    input.entries = Some(entries.collect());
    input
}
