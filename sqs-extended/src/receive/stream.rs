//! A payload that is read piece by piece.

use std::fmt;
use std::future::IntoFuture;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use sqs_client::client::Execute;
use sqs_client::types::Message;

use super::find::Found;
use super::opener::Opener;
use super::{ExtendedMessage, MessagePayload, PayloadRef};
use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::payload::{Body, Options, Progress};
use crate::store::PayloadStore;

/// The payload of a message that is to be read piece by piece. Awaiting it opens it.
///
/// A message whose payload is in its body gives that. Others are asked of the store, which is done by nobody else: neither are
/// streams among the downloads that a client limits, nor are leases renewed for them. Give messages with large payloads
/// a long visibility timeout, or let a consumer renew it.
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
///         bytes += piece?.len(); // right only when the stream has ended without an error
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
    Store(PayloadRef, Opener),
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// The payload of a message piece by piece, in bounded memory.
    ///
    /// The message may come from a plain client, or from elsewhere, such as the event of a Lambda function. Those of
    /// [`receive`](Self::receive) give it themselves: [`ExtendedMessage::body_stream`].
    pub fn body_stream(&self, message: &Message) -> BodyStream {
        let opener = Opener::new(&self.shared);
        match opener.find(message) {
            Found::Inline => BodyStream::in_message(message),
            Found::Pointer(payload) => BodyStream::in_store(payload, opener),
            Found::Unusable(error) => BodyStream::failed(error),
        }
    }
}

impl ExtendedMessage {
    /// The payload piece by piece, in bounded memory: from the store if that was not asked for it yet
    /// ([`lazy`](super::Receive::lazy)), or if it was and failed, such as for a payload that is too large for memory.
    ///
    /// ```no_run
    /// # async fn read<S: sqs_extended::PayloadStore>(
    /// #     client: sqs_extended::ExtendedClient<S>, url: &str,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
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
            MessagePayload::Lazy(payload) => BodyStream::in_store(payload.clone(), self.opener.clone()),
            MessagePayload::Failed(error) => match self.opener.find(&self.message) {
                // A message with a wrong checksum is not looked into.
                Found::Pointer(payload) if error.kind() != ErrorKind::Client => {
                    BodyStream::in_store(payload, self.opener.clone())
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

    fn in_store(payload: PayloadRef, opener: Opener) -> Self {
        Self::from(Ok(From::Store(payload, opener)))
    }

    fn failed(error: Error) -> Self {
        Self::from(Err(error))
    }

    fn from(from: Result<From, Error>) -> Self {
        Self { from, options: Options::default() }
    }

    /// It may be other than UTF-8.
    pub fn binary(mut self) -> Self {
        self.options.is_binary = true;
        self
    }

    /// The most bytes that are accepted, 2,147,483,647 by default.
    pub fn max_length(mut self, bytes: u64) -> Self {
        self.options.limit = bytes;
        self
    }

    /// How many ranges of 4 MiB are read at once, 4 by default. All but the first are in memory until it is their turn.
    pub fn ranges_at_once(mut self, ranges: usize) -> Self {
        self.options.plan.at_once = ranges;
        self
    }

    /// Is told of every piece that comes from the store.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.options.listener = Some(Box::new(listener));
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// That the pointer may not be followed, and what the store says; [`ErrorKind::Damaged`] when the object has another
    /// length than the message says, [`ErrorKind::Encoding`] when it is compressed in a way that is not known,
    /// [`ErrorKind::TooLarge`]. A message that failed before its pointer could be looked at fails with the same error.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn open(self) -> Result<Body, Error> {
        match self.from? {
            From::Message(body) => Ok(Body::whole(body)),
            From::Store(payload, opener) => opener.open(payload, self.options).await,
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
