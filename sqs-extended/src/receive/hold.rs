//! Keeps messages hidden while the payloads of their receive are loaded.

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
use crate::store::PayloadStore;

/// Whoever gets a message counts its lease from then on; so much of it may be gone.
const SLACK: Duration = Duration::from_secs(1);
/// How long payloads that are there wait for the last renewal, at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest that the payloads of one receive are loaded, and their messages kept hidden for that.
pub(super) const MAX_HOLD: Duration = Duration::from_secs(3_600);

/// What has to be known of a receive after it was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(super) queue_url: String,
    /// In seconds; the queue's when absent.
    visibility_timeout: Option<i32>,
}

impl Terms {
    pub(crate) fn of(input: &ReceiveMessageInput) -> Self {
        let queue_url = input.queue_url().unwrap_or_default().to_owned();
        Self { queue_url, visibility_timeout: input.visibility_timeout() }
    }
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Waits for `work`, and renews the leases of messages meanwhile, by the receipt handles of the service: whenever half of
    /// the time is over, and at the end. `work` goes on while a renewal is under way, and never waits long for one. It has an
    /// end of its own, at [`MAX_HOLD`].
    pub(super) async fn holding<T>(
        &self,
        terms: &Terms,
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
        // When the renewal was asked for that their time counts from, and when the next one is due.
        let (mut renewed, mut due) = (received, received + lease / 2);
        let done = loop {
            if let Ok(done) = timeout_at(due, work.as_mut()).await {
                break done;
            }
            let asked = Instant::now();
            tokio::select! {
                biased;
                done = work.as_mut() => break done,
                is_renewed = self.renew(terms, handles, lease, lease / 2) => {
                    renewed = if is_renewed { asked } else { renewed };
                }
            }
            due = asked + lease / 2;
        };
        if renewed.elapsed() >= SLACK {
            self.renew(terms, handles, lease, PATIENCE.min(lease / 4)).await;
        }
        done
    }

    /// How long messages stay hidden, which may be not at all; `None` when that is not known.
    async fn lease(&self, terms: &Terms) -> Option<Duration> {
        let asked = terms.visibility_timeout.and_then(|seconds| u64::try_from(seconds).ok());
        match asked {
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => self.shared.almanac.ask(&self.inner, &terms.queue_url).await.visibility_timeout,
        }
    }

    /// Waits for `work`, and tells that nothing is renewed if it takes so long that this matters.
    async fn without_renewals<T>(
        &self,
        terms: &Terms,
        until: Instant,
        mut work: impl Future<Output = T> + Unpin,
    ) -> T {
        if let Ok(done) = timeout_at(until, &mut work).await {
            return done;
        }
        self.shared.herald.tell(&Event::LeaseUnknown { queue_url: &terms.queue_url });
        work.await
    }

    /// Whether all are renewed; if they are not, an event says why. No answer within `patience` is a failure too.
    async fn renew(&self, terms: &Terms, handles: &[String], lease: Duration, patience: Duration) -> bool {
        let change = timeout(patience, self.hide(&terms.queue_url, handles, lease)).await;
        let late = |_| Err(Error::new(ErrorKind::Client, format!("no answer came within {patience:?}")));
        let Err(error) = change.unwrap_or_else(late) else { return true };
        self.shared.herald.tell(&Event::RenewalFailed { error: &error });
        false
    }

    /// Hides messages for so long from now on.
    pub(super) async fn hide(
        &self,
        queue_url: &str,
        handles: &[String],
        lease: Duration,
    ) -> Result<(), Error> {
        for handles in handles.chunks(MAX_BATCH_ENTRIES) {
            let input = renewal(queue_url, handles, lease);
            let output = self
                .inner
                .execute::<ChangeMessageVisibilityBatch>(&input, CallOptions::default())
                .await
                .map_err(Error::below)?;
            if !output.failed.is_empty() {
                return Err(Error::new(ErrorKind::Client, format!("{:?}", output.failed)));
            }
        }
        Ok(())
    }
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
