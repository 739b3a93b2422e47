//! The client and its state.

mod builder;
mod rewritten;

use std::fmt;
use std::sync::Arc;

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::Operation;
use tokio::sync::Semaphore;

use crate::budget::MemoryBudget;
use crate::cleanup::Cleaner;
use crate::config::Settings;
use crate::error::Error;
use crate::event::EventSink;
use crate::format::Envelope;
use crate::queue_attributes::QueueAttributeCache;
use crate::stats::{Stats, Tally};
use crate::store::{Bounded, PayloadStore};

pub use builder::ExtendedClientBuilder;
pub(crate) use rewritten::Rewritten;

/// An Amazon SQS client for messages of up to 2 GB: it keeps large payloads in a store and sends pointers to them.
///
/// It wraps an [`sqs_client::Client`] or any layer over one, and has the same builders. A send stores a large body, and
/// a receive loads it. Cloning is cheap, and clones share everything.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_extended::{ExtendedClient, MemoryStore};
///
/// let client = ExtendedClient::new(server.client(), MemoryStore::new("payloads")); // or an S3Store
/// let scan = "0110".repeat(500_000); // 2 MB
/// client.send_message().queue_url(&url).message_body(&scan).send().await?;
///
/// let orders = client.queue(&url);
/// for message in orders.receive().send().await?.messages() {
///     assert_eq!(message.body(), Some(scan.as_str()));
///     orders.delete(message).send().await?; // also deletes the object
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Calls fail with an [`Error`](crate::Error) of the client below or of a payload. If the payload of a received message
/// cannot be loaded, the message has the pointer as body; see [`payload`](Self::payload).
///
/// # Cancel safety
/// The same as for the client below. If a call is dropped before it sends its message, the object is deleted in the
/// background. After that, the object is kept, because the message may exist
/// ([`Event::OutcomeUnknown`](crate::Event::OutcomeUnknown)). If a receive is dropped while it loads payloads, its
/// messages are made visible again in the background.
pub struct ExtendedClient<H = sqs_client::Client> {
    pub(crate) inner: H,
    pub(crate) shared: Arc<Shared>,
}

/// The state that clones share.
pub(crate) struct Shared {
    pub(crate) store: Bounded,
    pub(crate) settings: Settings,
    pub(crate) envelope: Envelope,
    pub(crate) queue_attributes: QueueAttributeCache,
    pub(crate) cleaner: Cleaner,
    pub(crate) tally: Arc<Tally>,
    pub(crate) events: EventSink,
    /// One permit for each download. A holder waits only for the store.
    pub(crate) downloads: Semaphore,
    pub(crate) memory: MemoryBudget,
}

impl<H: Execute> ExtendedClient<H> {
    /// A client with default settings: payloads of messages over 256 KiB are stored.
    pub fn new(inner: H, store: impl PayloadStore) -> Self {
        let settings = Settings::new(store.bucket());
        Self::assemble(inner, Arc::new(store), settings)
    }

    /// A builder for a client with other settings.
    pub fn builder(inner: H, store: impl PayloadStore) -> ExtendedClientBuilder<H> {
        ExtendedClientBuilder::new(inner, Arc::new(store))
    }

    pub(crate) fn assemble(inner: H, store: Arc<dyn PayloadStore>, settings: Settings) -> Self {
        let tally = Arc::<Tally>::default();
        let events = EventSink::new(settings.listener.clone());
        let store = Bounded::new(store, settings.store_timeout);
        let shared = Shared {
            envelope: Envelope::new(store.bucket(), &settings.key_prefix, settings.compat),
            queue_attributes: QueueAttributeCache::default(),
            cleaner: Cleaner::new(store.clone(), Arc::clone(&tally), events.clone()),
            downloads: Semaphore::new(settings.concurrency),
            memory: MemoryBudget::new(settings.memory_budget),
            tally,
            events,
            store,
            settings,
        };
        Self { inner, shared: Arc::new(shared) }
    }

    /// The client below.
    pub fn inner(&self) -> &H {
        &self.inner
    }

    /// The store of the payloads.
    pub fn store(&self) -> &Arc<dyn PayloadStore> {
        self.shared.store.inner()
    }

    /// Statistics of the client and its clones.
    pub fn stats(&self) -> Stats {
        self.shared.tally.snapshot(self.shared.cleaner.pending())
    }

    /// Runs an operation with the client below.
    pub(crate) async fn below<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        self.inner.execute::<O>(input, options).await.map_err(Error::below)
    }

    /// Waits until the background cleanup has no more objects. Each object is deleted, or given up after five attempts:
    /// within 90 seconds, plus the [`store_timeout`](ExtendedClientBuilder::store_timeout) of each attempt. The object
    /// of a dropped upload is deleted twice, the second time after an eighth of that timeout. Call this at the end of a
    /// program.
    ///
    /// # Cancel safety
    /// If the future is dropped, the cleanup continues.
    pub async fn finish_cleanup(&self) {
        self.shared.cleaner.finish().await;
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("store", &self.store).finish_non_exhaustive()
    }
}

impl<H: Clone> Clone for ExtendedClient<H> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<H: fmt::Debug> fmt::Debug for ExtendedClient<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtendedClient")
            .field("inner", &self.inner)
            .field("bucket", &self.shared.store.bucket())
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}
