//! Stores the payloads of a request.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sqs_client::client::{Execute, Retries};
use sqs_client::operation::Input as _;
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes};

use super::decision::Selection;
use super::object::NewObject;
use super::request::{Original, Parts, SendRequest, Unsent};
use super::run::Stored;
use crate::client::ExtendedClient;
use crate::error::Error;

/// A message whose payload will be stored.
struct Outgoing {
    text: Bytes,
    md5_of_attributes: Option<Md5Hex>,
}

impl<H: Execute> ExtendedClient<H> {
    /// Stores the payloads of the selected messages. A failure affects only its message.
    pub(super) async fn store_payloads<O: SendRequest>(
        &self,
        input: &mut O::Input,
        selection: Selection,
        retries: Retries,
    ) -> (Vec<Stored>, Vec<Unsent>) {
        let queue_url = input.queue_url().unwrap_or_default().to_owned();
        // FIFO queues drop duplicates, so the client below retries a request to them unchanged.
        let repeats = !queue_url.ends_with(".fifo") && retries == Retries::AsConfigured;
        let sets_ids = self.sets_ids(&queue_url).await;
        let outgoing: Vec<_> = selection
            .places()
            .filter_map(|place| Some((place, self.take(O::parts(input, place)?))))
            .collect();
        let writing = stream::iter(outgoing)
            .map(|(place, outgoing)| async move { (place, self.write_outgoing(outgoing).await) });
        let written: Vec<_> = writing.buffered(self.shared.settings.concurrency).collect().await;
        let (mut stored, mut unsent) = (Vec::new(), Vec::new());
        for (place, written) in written {
            match written {
                Ok((outgoing, object)) => {
                    if let Some(message) = O::parts(input, place) {
                        self.point(&object, message, sets_ids);
                    }
                    // Failed messages before this one will be removed.
                    let place = place - unsent.len();
                    stored.push(outgoing.stored(place, object, repeats));
                }
                Err(error) => unsent.push(Unsent { place, error }),
            }
        }
        (stored, unsent)
    }

    /// Takes the body of a message.
    fn take(&self, message: Parts<'_>) -> Result<Outgoing, Error> {
        let Parts { body, attributes, .. } = message;
        self.shared.envelope.check(body.len() as u64, attributes.as_ref())?;
        let md5_of_attributes = md5_of_attributes(attributes.iter().flatten());
        Ok(Outgoing { text: std::mem::take(body).into(), md5_of_attributes })
    }

    async fn write_outgoing(
        &self,
        outgoing: Result<Outgoing, Error>,
    ) -> Result<(Outgoing, NewObject), Error> {
        let outgoing = outgoing?;
        let object = self.write_text(outgoing.text.clone()).await?;
        Ok((outgoing, object))
    }
}

impl Outgoing {
    fn stored(self, place: usize, object: NewObject, repeats: bool) -> Stored {
        let Self { text, md5_of_attributes } = self;
        let original = object.md5.map(|md5_of_body| Original { place, md5_of_body, md5_of_attributes });
        let text = repeats.then_some(text);
        // From here on, the message may exist.
        Stored { place, object: object.guard.sent(), original, text }
    }
}
