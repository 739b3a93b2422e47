//! `SendMessage` as a request of one message.

use std::iter;

use sqs_client::operation::send_message::SendMessage;
use sqs_client::types::BatchResultErrorEntry;

use super::request::{Disposition, Original, Parts, SendRequest, Unsent, disposition_after};
use crate::error::Error;
use crate::format::{Envelope, Sizes};

impl SendRequest for SendMessage {
    fn sizes(input: &Self::Input, envelope: &Envelope) -> impl Iterator<Item = Sizes> {
        iter::once(envelope.sizes(input.message_body().unwrap_or_default(), input.message_attributes()))
    }

    fn parts(input: &mut Self::Input, _: usize) -> Option<Parts<'_>> {
        Some(Parts {
            body: input.message_body.get_or_insert_default(),
            attributes: &mut input.message_attributes,
            deduplication_id: &mut input.message_deduplication_id,
        })
    }

    fn remove(_: &mut Self::Input, unsent: Vec<Unsent>) -> Result<Vec<BatchResultErrorEntry>, Error> {
        unsent.into_iter().next().map_or(Ok(Vec::new()), |unsent| Err(unsent.error))
    }

    fn disposition(_: &Self::Input, _: usize, result: &Result<Self::Output, Error>) -> Disposition {
        result.as_ref().err().map_or(Disposition::Accepted, disposition_after)
    }

    fn finish(
        _: &Self::Input,
        result: Result<Self::Output, Error>,
        originals: &[Original],
        _: Vec<BatchResultErrorEntry>,
    ) -> Result<Self::Output, Error> {
        let mut output = result?;
        if let Some(original) = originals.first() {
            // Some services return no checksums.
            if output.md5_of_message_body.is_some() {
                output.md5_of_message_body = Some(original.md5_of_body.into());
            }
            if output.md5_of_message_attributes.is_some() {
                output.md5_of_message_attributes = original.md5_of_attributes.map(Into::into);
            }
        }
        Ok(output)
    }
}
