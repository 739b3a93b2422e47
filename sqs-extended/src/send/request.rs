//! The requests that send messages: a batch, or a single message, which is a batch of one.

use sqs_client::operation::Operation;
use sqs_client::types::BatchResultErrorEntry;
use sqs_client::wire::checksum::Md5Hex;

use crate::error::Error;
use crate::format::{Attributes, Envelope, Sizes};

/// The parts of a message that change when its payload is stored.
pub(super) struct Parts<'m> {
    pub(super) body: &'m mut String,
    pub(super) attributes: &'m mut Option<Attributes>,
    pub(super) deduplication_id: &'m mut Option<String>,
}

/// The checksums of a message as the caller gave it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Original {
    /// The index of the message in the request.
    pub(super) place: usize,
    pub(super) md5_of_body: Md5Hex,
    pub(super) md5_of_attributes: Option<Md5Hex>,
}

/// What SQS did with a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Disposition {
    Accepted,
    /// SQS certainly does not have the message.
    Refused,
    Unknown,
}

/// A message that was removed from the request because its payload could not be stored.
pub(super) struct Unsent {
    /// The index of the message in the original request.
    pub(super) place: usize,
    pub(super) error: Error,
}

/// A request that sends messages. Messages are identified by their index in it.
pub(super) trait SendRequest: Operation {
    fn sizes(input: &Self::Input, envelope: &Envelope) -> impl Iterator<Item = Sizes>;

    fn parts(input: &mut Self::Input, place: usize) -> Option<Parts<'_>>;

    /// Removes messages that are not sent, in the order of their indexes. Returns their entries for the output of a
    /// batch; a single message fails its call.
    fn remove(input: &mut Self::Input, unsent: Vec<Unsent>) -> Result<Vec<BatchResultErrorEntry>, Error>;

    fn disposition(input: &Self::Input, place: usize, result: &Result<Self::Output, Error>) -> Disposition;

    /// The result for the caller, with the checksums of the original messages and the entries that were not sent.
    fn finish(
        input: &Self::Input,
        result: Result<Self::Output, Error>,
        originals: &[Original],
        unsent: Vec<BatchResultErrorEntry>,
    ) -> Result<Self::Output, Error>;
}

/// The disposition of all messages of a failed request.
pub(super) fn disposition_after(error: &Error) -> Disposition {
    if error.is_refusal() { Disposition::Refused } else { Disposition::Unknown }
}
