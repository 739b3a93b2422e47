//! The client: entries in, tickets out.

mod acknowledge;
mod build_error;
mod builder;
mod close;
mod enqueue_error;
mod enter;
mod lanes;
mod send;

use std::fmt;
use std::sync::Arc;

use sqs_client::client::Execute;

use tokio::runtime::Handle;

use super::admission::{Amount, Capacity};
use super::observer::{Hook, Observer};
use super::settings::Settings;
use super::stats::Stats;
use crate::claims::Claims;
use crate::meter::Meter;

pub use build_error::BuildError;
pub use builder::Builder;
pub use enqueue_error::EnqueueError;

use lanes::Lanes;

/// A client that batches sends, deletes and visibility changes in the background.
///
/// It runs on any client that implements [`Execute`], and needs a tokio runtime. Clones share everything. When the last clone
/// is dropped, admitted entries are still sent in the background while the runtime runs; [`close`](Self::close) waits for
/// them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_buffered::BufferedClient;
///
/// let buffered = BufferedClient::new(client.clone());
/// let receipt = buffered.send(&url, "one coffee").await?; // returns when its batch is accepted
/// println!("{}", receipt.message_id);
///
/// let received = client.receive_message().queue_url(&url).send().await?;
/// for message in received.messages() {
///     buffered.delete(&url, message.receipt_handle().unwrap_or_default()).await?;
/// }
/// buffered.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BufferedClient<H: Execute = sqs_client::Client> {
    shared: Arc<Shared<H>>,
}

struct Shared<H: Execute> {
    handle: H,
    settings: Settings,
    /// Where requests run; `None` for the runtime that enqueues.
    runtime: Option<Handle>,
    /// The capacity for sends.
    sends: Arc<Capacity>,
    /// The capacity for deletes and visibility changes: a full buffer of sends must not delay a delete or the renewal of a lease.
    acknowledgements: Arc<Capacity>,
    observer: Arc<Observer>,
    lanes: Lanes,
    /// The messages that its consumers and receivers are handling.
    claims: Arc<Claims>,
}

impl<H: Execute> BufferedClient<H> {
    /// Creates a client with default settings.
    pub fn new(handle: H) -> Self {
        Self::assemble(handle, Settings::default(), None, None)
    }

    /// Returns a builder, for other settings.
    pub fn builder(handle: H) -> Builder<H> {
        Builder::new(handle)
    }

    fn assemble(handle: H, settings: Settings, runtime: Option<Handle>, hook: Option<Hook>) -> Self {
        let sends = Arc::new(Capacity::new(settings.max_entries, settings.max_bytes));
        let acknowledgements = Arc::new(Capacity::new(settings.max_entries, 1));
        Meter::describe();
        let observer = Arc::new(Observer::new(hook));
        let lanes = Lanes::new(&settings, &sends, &acknowledgements, &observer);
        let claims = Arc::default();
        let shared = Shared { handle, settings, runtime, sends, acknowledgements, observer, lanes, claims };
        Self { shared: Arc::new(shared) }
    }

    /// The client below.
    pub fn handle(&self) -> &H {
        &self.shared.handle
    }

    /// Whether the client is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.sends.is_closed()
    }

    pub(crate) fn claims(&self) -> &Arc<Claims> {
        &self.shared.claims
    }

    /// The totals since the client was created.
    pub fn stats(&self) -> Stats {
        let (sends, others) = (self.shared.sends.taken(), self.shared.acknowledgements.taken());
        self.shared.observer.stats(Amount { entries: sends.entries + others.entries, ..sends })
    }
}

impl<H: Execute> fmt::Debug for BufferedClient<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedClient").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

impl<H: Execute> Shared<H> {
    /// Admits no more entries.
    fn close(&self) {
        self.sends.close();
        self.acknowledgements.close();
        self.lanes.close();
    }
}

impl<H: Execute> Drop for Shared<H> {
    /// Tasks hold their lanes, not the client. They finish the admitted entries and end.
    fn drop(&mut self) {
        self.close();
    }
}
