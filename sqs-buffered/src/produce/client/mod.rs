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

/// A client that sends, deletes and changes visibility in batches.
///
/// It stands on any client that executes operations, and needs a tokio runtime. Clones share everything. When the last one
/// is dropped, what was admitted is still sent, in the background, as long as the runtime lives; [`close`](Self::close)
/// waits for it.
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
    /// Where requests run; where entries are enqueued, if not set.
    runtime: Option<Handle>,
    /// For sends.
    sends: Arc<Capacity>,
    /// For deletes and visibility changes, so that a full buffer of sends holds up no delete and no renewal of a lease.
    acknowledgements: Arc<Capacity>,
    observer: Arc<Observer>,
    lanes: Lanes,
    /// The messages that its consumers and receivers are handling.
    claims: Arc<Claims>,
}

impl<H: Execute> BufferedClient<H> {
    /// A client with default settings.
    pub fn new(handle: H) -> Self {
        Self::assemble(handle, Settings::default(), None, None)
    }

    /// For a client with other settings.
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

    /// Whether it takes no more entries.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.sends.is_closed()
    }

    pub(crate) fn claims(&self) -> &Arc<Claims> {
        &self.shared.claims
    }

    /// What it has done so far.
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
    /// Takes no more entries.
    fn close(&self) {
        self.sends.close();
        self.acknowledgements.close();
        self.lanes.close();
    }
}

impl<H: Execute> Drop for Shared<H> {
    /// Tasks hold their lanes, not this: they finish what was admitted, and end.
    fn drop(&mut self) {
        self.close();
    }
}
