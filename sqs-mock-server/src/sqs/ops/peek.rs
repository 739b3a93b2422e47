//! Peeking at messages in the form in which a receive returns them.

use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::types::{Message, MessageSystemAttributeName};
use sqs_client::wire::service_error::ServiceError;

use super::receive::message;
use super::selection::Selection;
use super::{Context, Service};
use crate::service::arn::QueueArn;
use crate::sqs::engine::{Counts, Delivery, PeekedMessage, Queue, Visibility};

/// Maximum number of messages in a response.
const AT_MOST: usize = 1000;
/// Maximum bytes of bodies in a response; the first message may exceed it.
pub(crate) const MAX_PEEKED: usize = 8 << 20;
/// Replaces the receipt handle, because nothing was received. It is not a valid handle. `LocalStack` returns the same
/// text.
const NO_HANDLE: &str = "SQS/BACKDOOR/ACCESS";

/// Which messages to show besides the visible ones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Shown {
    /// Messages in flight.
    pub(crate) invisible: bool,
    /// Delayed messages.
    pub(crate) delayed: bool,
}

impl Shown {
    fn has(self, visibility: Visibility) -> bool {
        match visibility {
            Visibility::Visible | Visibility::GroupLockedBy { .. } | Visibility::BeyondWindow => true,
            Visibility::InFlightUntil(_) => self.invisible,
            Visibility::DelayedUntil(_) => self.delayed,
        }
    }
}

impl Service {
    /// All messages of a queue if `is_wanted` accepts their number; otherwise only the count is taken. A queue that
    /// does not exist has no messages.
    pub(crate) fn peek_if(
        &self,
        queue: &QueueArn,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<Vec<PeekedMessage>> {
        let now = self.clock().now();
        let look = |queue: &mut Queue| {
            let Counts { available, in_flight, delayed } = queue.counts(now);
            is_wanted(available + in_flight + delayed).then(|| queue.peek(now, 0, usize::MAX))
        };
        let found = self.shared.find_arn(queue).and_then(|found| found.look(look));
        found.unwrap_or_else(|| is_wanted(0).then(Vec::new))
    }

    /// The first 1,000 messages selected by `shown`, or fewer if they are long, with all attributes.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub(crate) fn peek_as_received(
        &self,
        context: &Context,
        mut queue_url: Option<String>,
        shown: Shown,
    ) -> Result<ReceiveMessageOutput, ServiceError> {
        let queue = self.existing_queue(context, &mut queue_url)?;
        let now = self.clock().now();
        let look = |queue: &mut Queue| queue.peek_shown(now, AT_MOST, |visibility| shown.has(visibility));
        let messages = queue.look(look).ok_or_else(|| context.no_such_queue())?;
        let mut everything = ReceiveMessageInput::default();
        everything.attribute_names = Some(vec!["All".into()]);
        everything.message_attribute_names = Some(vec!["All".to_owned()]);
        let selection = Selection::of(&everything);
        let mut bytes = 0;
        let messages = messages.into_iter().take_while(|message| {
            let is_first = bytes == 0;
            bytes += message.body().len();
            is_first || bytes <= MAX_PEEKED
        });
        let messages: Vec<_> = messages.map(|peeked| as_received(peeked, selection)).collect();
        let messages = Some(messages).filter(|messages| !messages.is_empty());
        Ok(ReceiveMessageOutput::builder().set_messages(messages).build())
    }
}

fn as_received(peeked: PeekedMessage, selection: Selection<'_>) -> Message {
    let never_received = peeked.first_received.is_none();
    let delivery = Delivery {
        id: peeked.id,
        receipt_handle: NO_HANDLE.to_owned(),
        payload: peeked.payload,
        sent: peeked.sent,
        first_received: peeked.first_received.unwrap_or(peeked.sent),
        receive_count: peeked.receive_count,
        group: peeked.group,
        deduplication_id: peeked.deduplication_id,
        sequence_number: peeked.sequence_number,
        dead_letter_source: peeked.dead_letter_source,
    };
    let mut message = message(delivery, selection);
    if let (true, Some(attributes)) = (never_received, &mut message.attributes) {
        attributes.remove(&MessageSystemAttributeName::ApproximateFirstReceiveTimestamp);
    }
    message
}
