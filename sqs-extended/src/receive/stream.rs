//! A payload that is read piece by piece.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqs_client::client::Execute;
use sqs_client::types::Message;

use super::PayloadRef;
use super::find::{Found, find};
use crate::client::ExtendedClient;
use crate::error::Error;
use crate::payload::{Body, Download, Progress};
use crate::store::PayloadStore;

/// The payload of a message that is to be read piece by piece. Awaiting it opens it.
///
/// A message whose payload is in its body gives that. Others are asked of the store, which is done by nobody else: neither are
/// streams among the downloads that a client limits, nor are leases renewed for them. Give messages with large payloads
/// a long visibility timeout, or let a consumer renew it.
#[must_use]
pub struct BodyStream<S: PayloadStore> {
    from: Result<From<S>, Error>,
}

enum From<S: PayloadStore> {
    Message(Body),
    Store { payload: PayloadRef, download: Download<S>, opened: Arc<crate::stats::Tally> },
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// The payload of a message piece by piece, in bounded memory.
    ///
    /// The message may come from [`receive`](Self::receive) with [`lazy`](super::Receive::lazy), from a plain client, or from
    /// elsewhere, such as the event of a Lambda function.
    ///
    /// ```no_run
    /// # async fn read<S: sqs_extended::PayloadStore>(
    /// #     client: sqs_extended::ExtendedClient<S>, url: &str,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// for received in client.receive(url).lazy().send().await? {
    ///     let body = client.body_stream(&received.message).binary().await?;
    ///     body.write_to_path("video.bin").await?;
    ///     client.queue(url).delete(&received.message).send().await?;
    /// }
    /// # Ok(()) }
    /// ```
    pub fn body_stream(&self, message: &Message) -> BodyStream<S> {
        let from = match find(message, &self.shared.settings.allowed_buckets) {
            Found::Inline => {
                Ok(From::Message(Body::whole(message.body().unwrap_or_default().to_owned().into())))
            }
            Found::Pointer(payload) => {
                let download = Download::new(self.store(), payload.pointer().clone(), payload.length());
                let opened = Arc::clone(&self.shared.tally);
                Ok(From::Store { payload, download, opened })
            }
            Found::Unusable(error) => Err(error),
        };
        BodyStream { from }
    }
}

impl<S: PayloadStore> BodyStream<S> {
    /// It may be other than UTF-8.
    pub fn binary(self) -> Self {
        self.changed(Download::binary)
    }

    /// The most bytes that are accepted, 2,147,483,647 by default.
    pub fn max_length(self, bytes: u64) -> Self {
        self.changed(|download| download.max_length(bytes))
    }

    /// How many ranges of 4 MiB are read at once, 4 by default. All but the first are in memory until it is their turn.
    pub fn ranges_at_once(self, ranges: usize) -> Self {
        self.changed(|download| download.ranges_at_once(ranges))
    }

    /// Is told of every piece that comes from the store.
    pub fn progress(self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.changed(|download| download.progress(listener))
    }

    fn changed(self, change: impl FnOnce(Download<S>) -> Download<S>) -> Self {
        let from = self.from.map(|from| match from {
            From::Store { payload, download, opened } => {
                From::Store { payload, download: change(download), opened }
            }
            from @ From::Message(_) => from,
        });
        Self { from }
    }

    /// Opens it.
    ///
    /// # Errors
    /// That the pointer may not be followed, and what the store says; [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) when
    /// the object has another length than the message says.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn open(self) -> Result<Body, Error> {
        match self.from? {
            From::Message(body) => Ok(body),
            From::Store { payload, download, opened } => {
                let body = download.open().await;
                let body = body.map_err(|error| Error::reading(payload.pointer(), error))?;
                opened.downloads.add(1);
                Ok(body)
            }
        }
    }
}

impl<S: PayloadStore> IntoFuture for BodyStream<S> {
    type Output = Result<Body, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl<S: PayloadStore> fmt::Debug for BodyStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BodyStream");
        match &self.from {
            Ok(From::Message(body)) => debug.field("message", body),
            Ok(From::Store { payload, .. }) => debug.field("payload", payload),
            Err(error) => debug.field("error", error),
        };
        debug.finish_non_exhaustive()
    }
}
