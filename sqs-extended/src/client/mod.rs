//! The client: what its clones share, and what can be asked of it.

mod actions;
mod execute;
mod repeat;

use std::fmt;
use std::sync::Arc;

use sqs_client::client::Execute;
use tokio::sync::Semaphore;

use crate::cleanup::Cleaner;
use crate::config::{ExtendedClientBuilder, Settings};
use crate::event::Herald;
use crate::offload::Envelope;
use crate::queue_facts::Almanac;
use crate::stats::{Stats, Tally};
use crate::store::{Bounded, PayloadStore};

/// A client of Amazon SQS whose messages may be larger than the service takes: their payloads go through a store.
///
/// It has the builders of [`sqs_client::Client`], and stands on it or on any layer over it. Large bodies are stored when they
/// are sent, and loaded when they are received; everything else goes straight through. Cloning is cheap, and clones share
/// all.
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
///     orders.delete(message).send().await?; // the object goes too
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Every call fails with an [`Error`](crate::Error): of the client below, or about a payload. Messages whose payloads cannot
/// be had are given out as they came; [`payload`](Self::payload) says which they are.
///
/// # Cancel safety
/// As of the client below. Objects that no message carries are deleted in the background when a call is dropped
/// before it sent its message; from then on it is not known whether somebody needs them, and they stay. Received messages
/// are made visible again in the background when a receive is dropped while it loads their payloads.
pub struct ExtendedClient<S: PayloadStore, H = sqs_client::Client> {
    pub(crate) inner: H,
    pub(crate) shared: Arc<Shared<S>>,
}

/// What the clones of a client share.
pub(crate) struct Shared<S: PayloadStore> {
    /// No call of it takes for ever.
    pub(crate) store: Bounded<S>,
    pub(crate) settings: Settings,
    pub(crate) envelope: Envelope,
    pub(crate) almanac: Almanac,
    pub(crate) cleaner: Arc<Cleaner<S>>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) herald: Herald,
    /// One permit for each download that may be under way. Whoever holds one waits for the store alone.
    pub(crate) downloads: Semaphore,
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// A client with default settings: messages of more than 256 KiB go through `store`, and are read from there.
    pub fn new(inner: H, store: S) -> Self {
        let settings = Settings::new(store.bucket());
        Self::assemble(inner, store, settings)
    }

    /// For a client with other settings.
    pub fn builder(inner: H, store: S) -> ExtendedClientBuilder<S, H> {
        ExtendedClientBuilder::new(inner, store)
    }

    pub(crate) fn assemble(inner: H, store: S, settings: Settings) -> Self {
        let tally = Arc::<Tally>::default();
        let herald = Herald::new(settings.listener.clone());
        let store = Bounded::new(store, settings.store_timeout);
        let shared = Shared {
            envelope: Envelope::new(store.bucket(), &settings.key_prefix, settings.compat),
            almanac: Almanac::default(),
            cleaner: Cleaner::new(store.clone(), Arc::clone(&tally), herald.clone()),
            downloads: Semaphore::new(settings.concurrency),
            tally,
            herald,
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
    pub fn store(&self) -> &S {
        self.shared.store.inner()
    }

    /// What was done with payloads so far, by all clones.
    pub fn stats(&self) -> Stats {
        self.shared.tally.snapshot(self.shared.cleaner.pending())
    }

    /// Waits until no object is waiting to be deleted in the background: each is deleted, or given up after five attempts in
    /// about a minute and a half, and [`store_timeout`](ExtendedClientBuilder::store_timeout) for each that is not answered.
    /// For the end of a program, and for tests.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn finish_cleanup(&self) {
        self.shared.cleaner.finish().await;
    }
}

impl<S: PayloadStore, H: Clone> Clone for ExtendedClient<S, H> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S: PayloadStore, H: fmt::Debug> fmt::Debug for ExtendedClient<S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtendedClient")
            .field("inner", &self.inner)
            .field("bucket", &self.shared.store.bucket())
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}
