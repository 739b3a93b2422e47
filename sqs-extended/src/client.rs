//! The client and its state.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::{CallOptions, Execute, Queue, Retries};
use sqs_client::operation::Operation;
use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::delete_message_batch::DeleteMessageBatch;
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::send_message::SendMessage;
use sqs_client::operation::send_message_batch::SendMessageBatch;
use sqs_client::types::{FluentBuilder, Message, SendMessageBatchRequestEntry};

use crate::cleaner::Cleaner;
use crate::error::{Error, ErrorKind};
use crate::format::message::{Envelope, request_attributes};
use crate::observe::{EventSink, Stats, Tally};
use crate::queue_attributes::QueueAttributeCache;
use crate::receive::MemoryBudget;
use crate::receive::MessagePayload;
use crate::settings::{ExtendedClientBuilder, Settings};
use crate::store::{Bounded, PayloadStore};

/// How long a request of the client itself may take, whatever the timeouts of the client below.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

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
///     orders.delete(message).send().await?; // also deletes the object, in the background
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Calls fail with an [`Error`](crate::error::Error) of the client below or of a payload. A message whose payload does
/// not load is not among the messages of `receive_message`, but in
/// [`unopened_messages`](sqs_client::operation::receive_message::ReceiveMessageOutput::unopened_messages), with its pointer and the
/// reason.
///
/// # Cancel safety
/// The same as for the client below. If a call is dropped before it sends its message, the object is deleted in the
/// background. After that, the object is kept, because the message may exist
/// ([`Event::OutcomeUnknown`](crate::observe::Event::OutcomeUnknown)). If a receive is dropped while it loads payloads, its
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
            cleaner: Cleaner::new(
                store.clone(),
                &settings.pointers.allowed_buckets,
                Arc::clone(&tally),
                events.clone(),
            ),
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

    /// Waits until the background cleanup has no more objects, dropped uploads are aborted, and messages of dropped receives are
    /// visible again. Call this at the end of a program.
    ///
    /// It ends 90 seconds and five [`store_timeout`](ExtendedClientBuilder::store_timeout)s after the last of them came, whatever
    /// their number: an object that is not deleted by then, in up to five attempts, is given up. The object of a dropped upload is deleted
    /// twice, the second time after an eighth of that timeout, so it may take twice as long. In each bucket, 64 objects are deleted at a
    /// time.
    ///
    /// # Cancel safety
    /// If the future is dropped, the cleanup continues.
    pub async fn finish_cleanup(&self) {
        self.shared.cleaner.finish().await;
    }

    /// A handle of one queue for common calls.
    pub fn queue(&self, url: impl Into<String>) -> Queue<Self> {
        Queue::new(self.clone(), url)
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

/// An operation that the client changes.
pub(crate) trait Rewritten: Operation {
    /// Whether a call with this input is changed. Otherwise the client below gets the input unchanged.
    fn needs_rewrite<H: Execute>(client: &ExtendedClient<H>, input: &Self::Input) -> bool;

    /// Runs a changed call.
    fn run<H: Execute>(
        client: &ExtendedClient<H>,
        input: Self::Input,
        options: CallOptions,
    ) -> impl Future<Output = Result<Self::Output, Error>> + Send;
}

macro_rules! rewritten {
    ($($op:ident)*) => {
        impl<H: Execute> Execute for ExtendedClient<H> {
            type Error = Error;

            /// Each call stores its payloads, so that no two messages share an object. If a FIFO queue drops a duplicate, the
            /// object of the later call stays until a lifecycle rule deletes it.
            async fn execute<O: Operation>(
                &self,
                input: &O::Input,
                options: CallOptions,
            ) -> Result<O::Output, Error> {
                $(
                    if let Some(input) = input_of::<$op>(input)
                        && $op::needs_rewrite(self, input)
                    {
                        // Boxed: the future is large, and most calls are not rewritten.
                        let output = Box::pin($op::run(self, input.clone(), options)).await?;
                        return same(output);
                    }
                )*
                self.below::<O>(input, options).await
            }

            async fn receive_unopened(
                &self,
                input: &ReceiveMessageInput,
                options: CallOptions,
            ) -> Result<ReceiveMessageOutput, Error> {
                let mut input = input.clone();
                request_attributes(&mut input);
                self.inner.receive_unopened(&input, options).await.map_err(Error::below)
            }

            async fn open(&self, message: &mut Message) -> Result<(), Error> {
                if matches!(self.payload(message), MessagePayload::Inline | MessagePayload::Loaded(_)) {
                    return self.inner.open(message).await.map_err(Error::below);
                }
                // The body of the copy is a pointer, thus short.
                let mut opened = message.clone();
                self.inner.open(&mut opened).await.map_err(Error::below)?;
                *message = self.opened(opened).await?;
                Ok(())
            }

            fn generates_deduplication_ids(&self, retries: Retries) -> bool {
                self.inner.generates_deduplication_ids(retries)
            }

            async fn prepare(
                &self,
                queue_url: &str,
                entry: &SendMessageBatchRequestEntry,
            ) -> Result<Option<SendMessageBatchRequestEntry>, Error> {
                let Some((stored, object)) = self.stored(queue_url, entry).await? else {
                    return self.inner.prepare(queue_url, entry).await.map_err(Error::below);
                };
                match self.inner.prepare(queue_url, &stored).await {
                    Ok(prepared) => {
                        // From here on, the caller says what becomes of it.
                        object.sent().needed();
                        Ok(Some(prepared.unwrap_or(stored)))
                    }
                    Err(error) => {
                        object.delete();
                        Err(Error::below(error))
                    }
                }
            }

            async fn discard(&self, entry: &SendMessageBatchRequestEntry, is_maybe_sent: bool) {
                // Dropped at the end, the object is deleted in the background.
                let _object = self.unneeded(entry, is_maybe_sent);
                self.inner.discard(entry, is_maybe_sent).await;
            }
        }
    };
}

rewritten! {
    SendMessage SendMessageBatch ReceiveMessage DeleteMessage DeleteMessageBatch ChangeMessageVisibility
    ChangeMessageVisibilityBatch
}

/// The input, if its operation is `O`.
fn input_of<O: Operation>(input: &dyn Any) -> Option<&O::Input> {
    input.downcast_ref()
}

/// Converts between two names of one type: an input belongs to one operation, so both outputs have the same type.
fn same<A: 'static, B: 'static>(output: A) -> Result<B, Error> {
    let mut output = Some(output);
    let same = (&mut output as &mut dyn Any).downcast_mut::<Option<B>>().and_then(Option::take);
    same.ok_or_else(|| Error::new(ErrorKind::Client, "an operation returned the output of another one"))
}

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => {
        pastey::paste! {
            /// The 23 actions, with the builders of the plain client.
            impl<H: Execute> ExtendedClient<H> {
                $(
                    #[doc = $doc]
                    pub fn $module(&self) -> sqs_client::operation::$module::builders::[<$op FluentBuilder>]<Self> {
                        FluentBuilder::new(self.clone())
                    }
                )*
            }
        }
    };
}

sqs_client::for_each_operation!(actions);
