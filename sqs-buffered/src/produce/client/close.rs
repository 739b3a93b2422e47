//! Flush and close.

use std::pin::pin;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::runtime::Handle;
use tokio::time::{timeout, timeout_at};

use super::BufferedClient;
use crate::produce::error::SendErrorKind;
use crate::produce::lane_handle::Flush;
use crate::produce::summary::Summary;

impl<H: Execute> BufferedClient<H> {
    /// Sends all entries that were admitted so far, without waiting for fuller batches. When all of them have ended, returns the
    /// results of those that had not ended before. It ends as tickets do, also if the entries depend on a runtime that is idle.
    ///
    /// # Cancel safety
    /// If the future is dropped, the entries are still sent.
    pub async fn flush(&self) -> Summary {
        total(self.shared.lanes.flush()).await
    }

    /// Admits no more entries, and sends those that were admitted. When all of them have ended, returns the results of all entries
    /// since the client was created. Entries that take longer than the [grace](super::Builder::close_grace) are aborted; their tickets say whether SQS may have
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
        let Some(runtime) = self.runtime() else {
            flushed.await;
            return self.shared.observer.summary();
        };
        let flushing = {
            let _entered = runtime.enter();
            timeout(grace, &mut flushed)
        };
        if flushing.await.is_err() {
            self.shared.lanes.abort();
            flushed.await;
        }
        self.shared.observer.summary()
    }
}

/// The sum over all lanes.
async fn total(flushes: Vec<Flush>) -> Summary {
    let mut total = Summary::default();
    for Flush { heard, ends, unsettled } in flushes {
        let ended = match Handle::try_current() {
            Ok(_) => timeout_at(ends, heard).await,
            Err(_) => Ok(heard.await),
        };
        match ended {
            // An error means that the lane has ended, and all its entries with it.
            Ok(summary) => total.add(&summary.unwrap_or_default()),
            Err(_) => (0..unsettled).for_each(|_| total.count(Some(SendErrorKind::Timeout))),
        }
    }
    total
}
