//! Delays of requests, which a reset ends.

use std::time::Duration;

use tokio::sync::Notify;

/// The delayed requests of a server.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    end: Notify,
}

impl Delays {
    /// Delays a request. Returns `false`, without further delay, if the server is reset meanwhile: the request must not
    /// change what the reset creates.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn delay(&self, latency: Duration) -> bool {
        if latency.is_zero() {
            return true;
        }
        let end = self.end.notified();
        tokio::select! {
            biased;
            () = end => false,
            () = tokio::time::sleep(latency) => true,
        }
    }

    /// Ends all delays, for a reset.
    pub(crate) fn end(&self) {
        self.end.notify_waiters();
    }
}
