//! Flush and close.

use std::pin::pin;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::BufferedClient;
use crate::produce::summary::Summary;

impl<H: Execute> BufferedClient<H> {
    /// Sends all entries that were admitted so far, without waiting for fuller batches. Returns their results when all of them
    /// have ended.
    ///
    /// # Cancel safety
    /// If the future is dropped, the entries are still sent.
    pub async fn flush(&self) -> Summary {
        total(self.shared.lanes.flush()).await
    }

    /// Admits no more entries, sends those that were admitted, and returns their results when all of them have ended. Entries
    /// that take longer than the [grace](super::Builder::close_grace) are aborted; their tickets say whether SQS may have
    /// them. You can call it again.
    ///
    /// Outside of a tokio runtime there is no timer for the grace: nothing is aborted, and the delivery timeout limits the
    /// wait.
    ///
    /// # Cancel safety
    /// If the future is dropped, the client is closed, and the entries are sent in the background.
    pub async fn close(&self) -> Summary {
        self.close_within(self.shared.settings.close_grace).await
    }

    /// Like [`close`](Self::close), with another grace.
    ///
    /// # Cancel safety
    /// The same as `close`.
    pub async fn close_within(&self, grace: Duration) -> Summary {
        self.shared.close();
        let mut flushed = pin!(self.flush());
        let Some(runtime) = self.runtime() else { return flushed.await };
        let flushing = {
            let _entered = runtime.enter();
            timeout(grace, &mut flushed)
        };
        if let Ok(summary) = flushing.await {
            return summary;
        }
        self.shared.lanes.abort();
        flushed.await
    }
}

/// The sum over all lanes.
async fn total(waits: Vec<oneshot::Receiver<Summary>>) -> Summary {
    let mut total = Summary::default();
    for wait in waits {
        // An error means that the lane has ended, and all its entries with it.
        total.add(&wait.await.unwrap_or_default());
    }
    total
}
