//! Waiting for what was admitted, and the end.

use std::time::Duration;

use sqs_client::client::Execute;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::BufferedClient;

impl<H: Execute> BufferedClient<H> {
    /// Sends everything that was admitted so far without waiting for fuller batches, and returns when all of it has ended,
    /// one way or the other; tickets tell how.
    ///
    /// # Cancel safety
    /// Dropped before its end, what was admitted is sent all the same.
    pub async fn flush(&self) {
        for wait in self.shared.lanes.flush() {
            // An error says that the lane has ended, which is an end too.
            let _ = wait.await;
        }
    }

    /// Takes no more entries, sends what was admitted, and returns when all of it has ended. What takes longer than the
    /// [grace](super::Builder::close_grace) is aborted: its tickets say whether the service may have it. Closing twice is no
    /// mistake. Outside of a tokio runtime, where there is no clock for the grace, nothing is aborted: the delivery timeout
    /// bounds the wait.
    ///
    /// # Cancel safety
    /// Dropped before its end, the client is closed, and what was admitted is sent in the background.
    pub async fn close(&self) {
        self.close_within(self.shared.settings.close_grace).await;
    }

    /// As [`close`](Self::close), with another grace.
    ///
    /// # Cancel safety
    /// As of `close`.
    pub async fn close_within(&self, grace: Duration) {
        self.shared.close();
        if Handle::try_current().is_err() {
            return self.flush().await;
        }
        if timeout(grace, self.flush()).await.is_err() {
            self.shared.lanes.abort();
        }
    }
}
