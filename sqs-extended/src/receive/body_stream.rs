//! A payload as a stream.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use sqs_client::client::Execute;
use sqs_client::types::Message;

use crate::client::{ExtendedClient, Shared};
use crate::error::{Error, ErrorKind};
use crate::format::message::{Found, PayloadRef};
use crate::payload::body::{Body, Options};
use crate::payload::checks::Progress;
use crate::receive::message::{ExtendedMessage, MessagePayload};

/// The payload of a message as a stream. Await it to open the stream.
///
/// The client's limits on downloads and memory do not apply to streams, and leases are not renewed while a stream is
/// read. Use a long visibility timeout for messages with large payloads, or a consumer that renews it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let client = sqs_extended::ExtendedClient::new(server.client(), sqs_extended::MemoryStore::new("payloads"));
/// use futures_util::StreamExt as _;
///
/// client.send_stream(&url, "tea ".repeat(100_000)).send().await?;
/// for received in client.receive(&url).lazy().send().await? {
///     let mut body = received.body_stream().await?;
///     let mut bytes = 0;
///     while let Some(piece) = body.next().await {
///         bytes += piece?.len(); // verified when the stream has ended without an error
///     }
///     assert_eq!(bytes, 400_000);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct BodyStream {
    from: Result<From, Error>,
    options: Options,
}

enum From {
    Message(Bytes),
    Store(PayloadRef, Arc<Shared>),
}

impl<H: Execute> ExtendedClient<H> {
    /// The payload of a message as a stream, in bounded memory.
    ///
    /// The message may come from a plain client or from a Lambda event. For messages of [`receive`](Self::receive), see
    /// [`ExtendedMessage::body_stream`].
    pub fn body_stream(&self, message: &Message) -> BodyStream {
        match self.shared.settings.pointers.find(message) {
            Found::Inline => BodyStream::in_message(message),
            Found::Pointer(payload) => BodyStream::in_store(payload, &self.shared),
            Found::Unusable(error) => BodyStream::failed(error),
        }
    }
}

impl ExtendedMessage {
    /// The payload as a stream, in bounded memory. It is read from the message, or from the store if it was not loaded
    /// ([`lazy`](crate::receive::message::Receive::lazy)) or could not be loaded, for example because it is too large for memory.
    ///
    /// ```no_run
    /// # async fn read(client: sqs_extended::ExtendedClient, url: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// for received in client.receive(url).lazy().send().await? {
    ///     let body = received.body_stream().binary().await?;
    ///     body.write_to_path("video.bin").await?;
    ///     client.queue(url).delete(&received.message).send().await?;
    /// }
    /// # Ok(()) }
    /// ```
    pub fn body_stream(&self) -> BodyStream {
        match &self.payload {
            MessagePayload::Inline | MessagePayload::Loaded(_) => BodyStream::in_message(&self.message),
            MessagePayload::Lazy(payload) => BodyStream::in_store(payload.clone(), &self.shared),
            MessagePayload::Failed(error) => match self.shared.settings.pointers.find(&self.message) {
                // A message with a wrong checksum is not trusted, so its pointer is not followed.
                Found::Pointer(payload) if error.kind() != ErrorKind::Client => {
                    BodyStream::in_store(payload, &self.shared)
                }
                _ => BodyStream::failed(error.clone()),
            },
        }
    }
}

impl BodyStream {
    fn in_message(message: &Message) -> Self {
        Self::from(Ok(From::Message(message.body().unwrap_or_default().to_owned().into())))
    }

    fn in_store(payload: PayloadRef, shared: &Arc<Shared>) -> Self {
        Self::from(Ok(From::Store(payload, Arc::clone(shared))))
    }

    fn failed(error: Error) -> Self {
        Self::from(Err(error))
    }

    fn from(from: Result<From, Error>) -> Self {
        Self { from, options: Options::default() }
    }

    /// Allows bytes that are not UTF-8.
    pub fn binary(mut self) -> Self {
        self.options.is_binary = true;
        self
    }

    /// Sets the maximum length in bytes: 2,147,483,647 by default. A longer payload fails with [`ErrorKind::TooLarge`].
    pub fn max_length(mut self, bytes: u64) -> Self {
        self.options.limit = bytes;
        self
    }

    /// Sets how many ranges of 8 MiB are read at a time: 4 by default; 1 reads the payload in a single request. They are held in memory
    /// until their turn, and so is the range that is returned.
    pub fn ranges_at_once(mut self, ranges: usize) -> Self {
        self.options.plan.at_once = ranges;
        self
    }

    /// Sets a function that is called for each piece from the store.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.options.listener = Some(Box::new(listener));
        self
    }

    /// Opens the stream.
    ///
    /// # Errors
    /// The pointer is invalid, or the store failed; [`ErrorKind::Damaged`] if the object has a different length than
    /// the message says; [`ErrorKind::TooLarge`]; the error of a message with a wrong checksum.
    ///
    /// # Cancel safety
    /// If the future is dropped, no stream is opened.
    pub async fn open(self) -> Result<Body, Error> {
        match self.from? {
            From::Message(body) => Ok(Body::whole(body)),
            From::Store(payload, shared) => shared.stream(payload, self.options).await,
        }
    }
}

impl IntoFuture for BodyStream {
    type Output = Result<Body, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BodyStream");
        match &self.from {
            Ok(From::Message(body)) => debug.field("length", &body.len()),
            Ok(From::Store(payload, _)) => debug.field("payload", payload),
            Err(error) => debug.field("error", error),
        };
        debug.finish_non_exhaustive()
    }
}
