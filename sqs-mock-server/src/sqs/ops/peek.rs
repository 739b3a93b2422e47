//! Peeking at messages in the form in which a receive returns them.

use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::wire::service_error::ServiceError;

use super::receive::received;
use super::selection::Selection;
use super::shared::SharedQueue;
use super::{Context, Service};
use crate::service::arn::QueueArn;
use crate::service::seed::Uuid;
use crate::sqs::engine::{Counts, PeekedMessage, Visibility, Walk};

/// Maximum number of messages in a response.
const AT_MOST: usize = 1000;
/// Maximum bytes of bodies in a response; the first message may exceed it.
const MAX_PEEKED: usize = 8 << 20;
/// Replaces the receipt handle, because nothing was received. It is not a valid handle. `LocalStack` returns the same
/// text.
const NO_HANDLE: &str = "SQS/BACKDOOR/ACCESS";

/// Which messages to show.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Kinds {
    /// Visible messages, also those that a receive does not reach.
    pub(crate) available: bool,
    /// Messages in flight.
    pub(crate) in_flight: bool,
    /// Delayed messages.
    pub(crate) delayed: bool,
}

impl Kinds {
    pub(crate) fn include(self, visibility: Visibility) -> bool {
        match visibility {
            Visibility::Visible | Visibility::GroupLockedBy { .. } | Visibility::BeyondWindow => {
                self.available
            }
            Visibility::InFlightUntil(_) => self.in_flight,
            Visibility::DelayedUntil(_) => self.delayed,
        }
    }

    pub(crate) fn count(self, counts: Counts) -> usize {
        let all = [
            (self.available, counts.available),
            (self.in_flight, counts.in_flight),
            (self.delayed, counts.delayed),
        ];
        all.iter().filter(|(has, _)| *has).map(|(_, count)| count).sum()
    }
}

/// The number of messages that fit into one response, at least one.
pub(crate) fn fitting(messages: &[PeekedMessage]) -> usize {
    let mut bytes = 0;
    let fits = |message: &&PeekedMessage| {
        bytes += message.body().len();
        bytes <= MAX_PEEKED
    };
    messages.iter().take_while(fits).count().max(1)
}

impl Service {
    /// Peeks at the messages of a queue, oldest first: `at_most` after the first `skip`. `None` if the queue does not
    /// exist. The messages come from one moment only if a [`Walk`] reads them in one page.
    pub(crate) fn peek(&self, queue: &QueueArn, skip: usize, at_most: usize) -> Option<Vec<PeekedMessage>> {
        self.peek_at(queue, (skip, at_most), |_| true)
    }

    /// All messages of a queue if `is_wanted` accepts their number; otherwise only the count is taken. A queue that
    /// does not exist has no messages.
    pub(crate) fn peek_if(
        &self,
        queue: &QueueArn,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<Vec<PeekedMessage>> {
        let Counts { available, in_flight, delayed } = self.counts(queue).unwrap_or_default();
        if !is_wanted(available + in_flight + delayed) {
            return None;
        }
        let messages = self.peek(queue, 0, usize::MAX).unwrap_or_default();
        // The queue may have changed since it was counted.
        is_wanted(messages.len()).then_some(messages)
    }

    /// Like [`peek`](Self::peek), of the messages that `is_shown` accepts.
    pub(crate) fn peek_at(
        &self,
        queue: &QueueArn,
        (skip, at_most): (usize, usize),
        is_shown: impl Fn(Visibility) -> bool,
    ) -> Option<Vec<PeekedMessage>> {
        let queue = self.shared.find_arn(queue)?;
        self.walk(&queue, Walk::new(skip, at_most, is_shown))
    }

    /// Deletes a message without a receipt handle, whatever its state. `None` if the queue does not exist, `false` if it
    /// has no such message.
    pub(crate) fn discard(&self, queue: &QueueArn, id: Uuid) -> Option<bool> {
        let queue = self.shared.find_arn(queue)?;
        let mut after = None;
        loop {
            let now = self.clock().now();
            match queue.unless_deleted(|queue| queue.delete_in_page(now, id, &mut after))? {
                Some(false) => {}
                Some(true) => return Some(true),
                None => return Some(false),
            }
        }
    }

    /// Unlocks the queue after each page. `None` if it was deleted.
    fn walk(
        &self,
        queue: &SharedQueue,
        mut walk: Walk<impl Fn(Visibility) -> bool>,
    ) -> Option<Vec<PeekedMessage>> {
        while queue.look(|queue| queue.walk(self.clock().now(), &mut walk))? {}
        Some(walk.into_messages())
    }

    /// The first 1,000 messages of these `kinds`, or fewer if they are long, with all attributes.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub(crate) fn peek_as_received(
        &self,
        context: &Context,
        mut queue_url: Option<String>,
        kinds: Kinds,
    ) -> Result<ReceiveMessageOutput, ServiceError> {
        let queue = self.existing_queue(context, &mut queue_url)?;
        let walk = Walk::new(0, AT_MOST, |visibility| kinds.include(visibility));
        let messages = self.walk(&queue, walk).ok_or_else(|| context.no_such_queue())?;
        let mut everything = ReceiveMessageInput::default();
        everything.attribute_names = Some(vec!["All".into()]);
        everything.message_attribute_names = Some(vec!["All".to_owned()]);
        let selection = Selection::of(&everything);
        let messages = messages.iter().take(fitting(&messages));
        let messages: Vec<_> =
            messages.map(|peeked| received(peeked, NO_HANDLE.to_owned(), selection)).collect();
        let messages = Some(messages).filter(|messages| !messages.is_empty());
        Ok(ReceiveMessageOutput::builder().set_messages(messages).build())
    }
}
