//! Sends a request with stored payloads.
//!
//! A request that SQS may have executed is repeated with new objects only. Its messages may exist: if the new messages
//! had the same objects, deleting one message would delete the payload of another.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::Input as _;
use sqs_client::types::{BatchResultErrorEntry, HasMetadata as _};
use tokio::time::sleep;

use super::object::NewObject;
use super::request::{Disposition, Original, SendRequest};
use crate::cleanup::UncertainObject;
use crate::client::{ExtendedClient, Rewritten};
use crate::error::Error;

/// A message of a request whose payload is in the store.
pub(super) struct Stored {
    pub(super) place: usize,
    pub(super) object: UncertainObject,
    /// `None` for a stream.
    pub(super) original: Option<Original>,
    /// The payload to store again if the request is repeated; `None` if it is not repeated.
    pub(super) text: Option<Bytes>,
}

impl<O: SendRequest> Rewritten for O {
    fn needs_rewrite<H: Execute>(client: &ExtendedClient<H>, input: &O::Input) -> bool {
        !client.selection::<O>(input, client.known_threshold(input.queue_url())).is_empty()
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        let threshold = client.threshold(input.queue_url()).await;
        let selection = client.selection::<O>(&input, threshold);
        if selection.is_empty() {
            return client.below::<O>(&input, options).await;
        }
        let (stored, unsent) = client.store_payloads::<O>(&mut input, selection, options.retries).await;
        let unsent = O::remove(&mut input, unsent)?;
        if O::sizes(&input, &client.shared.envelope).next().is_none() {
            return O::finish(&input, Ok(O::Output::default()), &[], unsent);
        }
        client.send::<O>(input, stored, unsent, options).await
    }
}

impl<H: Execute> ExtendedClient<H> {
    /// Sends a request. If texts were kept, the request is repeated whenever the client below would retry it. Objects
    /// of earlier requests, which SQS may have executed, are kept; those of the last request depend on its result.
    pub(super) async fn send<O: SendRequest>(
        &self,
        mut input: O::Input,
        mut stored: Vec<Stored>,
        unsent: Vec<BatchResultErrorEntry>,
        mut options: CallOptions,
    ) -> Result<O::Output, Error> {
        let repeats = stored.iter().any(|stored| stored.text.is_some());
        if repeats {
            options.retries = Retries::UnlessInDoubt;
        }
        let mut is_repeated = false;
        let result = loop {
            let result = self.below::<O>(&input, options.clone()).await;
            let failed = result.as_ref().err().filter(|_| repeats);
            let Some((failed, pause)) = failed.and_then(repetition) else { break result };
            sleep(pause).await;
            // An event reports the failed upload. The caller gets the error of the previous request.
            if self.store_again::<O>(&mut input, &mut stored).await.is_err() {
                break result;
            }
            options.earlier = Some(failed);
            is_repeated = true;
        };
        let originals: Vec<_> = stored.iter().filter_map(|stored| stored.original).collect();
        self.settle::<O>(&input, stored, &result).await;
        let result = O::finish(&input, result, &originals, unsent);
        if is_repeated { account_for_repetition::<O>(result) } else { result }
    }

    /// Replaces the objects of all messages before their request is repeated.
    async fn store_again<O: SendRequest>(
        &self,
        input: &mut O::Input,
        stored: &mut [Stored],
    ) -> Result<(), Error> {
        let texts = stored.iter().filter_map(|stored| stored.text.clone());
        let uploads = stream::iter(texts.collect::<Vec<_>>()).map(|text| self.write_text(text));
        let objects: Vec<NewObject> =
            uploads.buffered(self.shared.settings.concurrency).try_collect().await?;
        for (stored, object) in stored.iter_mut().zip(objects) {
            if let Some(message) = O::parts(input, stored.place) {
                *message.body = self.shared.envelope.body(&object.pointer);
            }
            // This keeps the previous object, because SQS may have its message.
            stored.object = object.guard.sent();
        }
        Ok(())
    }

    /// Deletes the objects of refused messages.
    async fn settle<O: SendRequest>(
        &self,
        input: &O::Input,
        stored: Vec<Stored>,
        result: &Result<O::Output, Error>,
    ) {
        let mut refused = Vec::new();
        for Stored { place, object, .. } in stored {
            match O::disposition(input, place, result) {
                Disposition::Accepted => object.needed(),
                Disposition::Refused => refused.push(object.unneeded()),
                Disposition::Unknown => drop(object),
            }
        }
        self.shared.cleaner.delete_all(refused).await;
    }
}

/// The error of a request to repeat, and the pause before the repetition.
fn repetition(error: &Error) -> Option<(sqs_client::Error, Duration)> {
    let client = error.client_error()?;
    Some((client.clone(), client.repeat_after()?))
}

/// Adds to the result that an earlier request may have been executed.
fn account_for_repetition<O: SendRequest>(result: Result<O::Output, Error>) -> Result<O::Output, Error> {
    match result {
        Ok(mut output) => {
            output.metadata_mut().maybe_repeated = true;
            Ok(output)
        }
        Err(error) => Err(error.outcome_unknown()),
    }
}
