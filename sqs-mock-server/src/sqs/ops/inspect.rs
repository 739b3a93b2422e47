//! Inspecting queues, and the usage of a server, without changing them. These are not operations of SQS.
//!
//! Waiting for a state of a queue.
//!
//! ```text
//! listen (queue created or deleted | queue changed) -> look --found--> return
//!                                                       | not yet
//!                                                       v
//!                          wait for (one of these | the next change by time)
//! ```
//! `look` does not count as a change, so waiting tests do not wake each other.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::wire::service_error::ServiceError;

use crate::control::arn::QueueArn;
use crate::control::seed::Uuid;
use crate::sqs::engine::directory::COOL_DOWN;
use crate::sqs::engine::inspect::{PeekedMessage, QueueDescription, Visibility, Walk, WhyEmpty};
use crate::sqs::engine::messages::Counts;
use crate::sqs::findings::{Finding, Omitted};
use crate::sqs::locked_queue::SharedQueue;
use crate::sqs::ops::Context;
use crate::sqs::ops::receive::{Selection, has_dead_letter_queue, received};
use crate::sqs::queue_url::Address;
use crate::sqs::service::{AccountRegion, Service};

/// Number of queues that are visited between yields.
const AT_ONCE: usize = 64;

/// Total usage of all queues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Usage {
    /// Queues in all accounts and regions.
    pub(crate) queues: usize,
    /// Parked receives.
    pub(crate) parked: usize,
    /// Bytes of all messages.
    pub(crate) stored_bytes: usize,
    /// The limit for bytes of all messages.
    pub(crate) max_memory: usize,
}

/// Usage of one queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct QueueUsage {
    pub(crate) arn: Arc<QueueArn>,
    pub(crate) counts: Counts,
    /// The age of its oldest message; zero without messages.
    pub(crate) oldest_age: Duration,
    pub(crate) stored_bytes: usize,
}

impl Service {
    /// All queues of all accounts and regions, sorted.
    pub(crate) fn queues(&self) -> Vec<QueueArn> {
        let mut arns: Vec<_> =
            self.shared.all_queues().iter().map(|queue| QueueArn::clone(queue.arn())).collect();
        arns.sort_unstable();
        arns
    }

    /// A description of a queue without its messages.
    pub(crate) fn describe(&self, queue: &QueueArn) -> Option<QueueDescription> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.look(|queue| queue.describe(now))
    }

    /// Why a receive would return nothing now.
    pub(crate) fn why_empty(&self, queue: &QueueArn) -> WhyEmpty {
        let now = self.clock().now();
        let found = self.shared.find_arn(queue);
        let why = found.and_then(|found| {
            found.look(|queue| queue.why_empty(now, has_dead_letter_queue(&self.shared, queue)))
        });
        match why.unwrap_or(WhyEmpty::NoSuchQueue) {
            WhyEmpty::NoMessages => {
                let denied = self.shared.denied_deliveries.latest(queue).map(|why| WhyEmpty::Denied { why });
                let too_soon = || {
                    let finding = self.findings().too_soon(queue)?;
                    let is_recent = now.saturating_since(finding.time) < COOL_DOWN;
                    is_recent.then(|| WhyEmpty::OneMinuteRule {
                        time: finding.time,
                        why: finding.text.as_str().into(),
                    })
                };
                denied.or_else(too_soon).unwrap_or(WhyEmpty::NoMessages)
            }
            other => other,
        }
    }

    /// The findings, and the numbers of further ones that were not stored. First settles all queues, which finds messages that
    /// were not deleted in time.
    pub(crate) fn all_findings(&self) -> (Vec<Arc<Finding>>, Omitted) {
        if self.is_strict() {
            for queue in self.queues() {
                self.counts(&queue);
            }
        }
        self.findings().all()
    }

    /// Removes all findings. Denied deliveries are reported again.
    pub(crate) fn forget_findings(&self) {
        self.shared.denied_deliveries.clear();
        self.findings().clear();
    }

    /// Names of the queues whose dead-letter queue is `queue`.
    pub(crate) fn dead_letter_sources(&self, queue: &QueueArn) -> Vec<Arc<str>> {
        let account = self.shared.account_of(queue);
        let sources = |account: Arc<AccountRegion>| {
            account.directory.read().sources_of(&queue.name, None, usize::MAX).names
        };
        account.map(sources).unwrap_or_default()
    }

    /// Total usage of all queues.
    pub(crate) fn usage(&self) -> Usage {
        let shared = &self.shared;
        Usage {
            queues: shared.quota.used(),
            parked: shared.parked.count(),
            stored_bytes: shared.memory.used(),
            max_memory: shared.memory.ceiling,
        }
    }

    /// Usage of each queue, sorted by ARN. Queues are locked one at a time, so the figures of two queues can be from
    /// different times. Yields to other tasks in between.
    ///
    /// # Cancel safety
    /// Changes nothing.
    pub(crate) async fn usage_by_queue(&self) -> Vec<QueueUsage> {
        let mut queues = self.shared.all_queues();
        queues.sort_unstable_by(|a, b| a.arn().cmp(b.arn()));
        let mut usage = Vec::with_capacity(queues.len());
        for some in queues.chunks(AT_ONCE) {
            usage.extend(some.iter().filter_map(|queue| self.usage_of(queue)));
            tokio::task::yield_now().await;
        }
        usage
    }

    fn usage_of(&self, queue: &SharedQueue) -> Option<QueueUsage> {
        let now = self.clock().now();
        queue.look(|queue| QueueUsage {
            arn: Arc::clone(queue.arn()),
            counts: queue.counts(now),
            oldest_age: queue.oldest(now).map(|oldest| now.saturating_since(oldest)).unwrap_or_default(),
            stored_bytes: queue.stored_bytes(),
        })
    }

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

    /// Waits until `look` returns a value. It is called at once and after each change of the queue, which may be
    /// created and deleted in the meantime.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn until<T>(&self, arn: &QueueArn, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut created_or_deleted = pin!(self.shared.queues_changed.notified());
            created_or_deleted.as_mut().enable();
            let queue = self.shared.find_arn(arn);
            let found = match &queue {
                Some(queue) => self.until_change(queue, &mut look, created_or_deleted.as_mut()).await,
                None => look(),
            };
            if let Some(found) = found {
                return found;
            }
            if queue.is_none() {
                created_or_deleted.await;
            }
        }
    }

    /// Waits until the service is shut down.
    pub(crate) async fn stopped(&self) {
        self.shared.stopped().await;
    }

    async fn until_change<T>(
        &self,
        queue: &SharedQueue,
        look: &mut impl FnMut() -> Option<T>,
        created_or_deleted: impl Future<Output = ()>,
    ) -> Option<T> {
        let _watching = queue.watchers.enter();
        let mut changed = pin!(queue.changed.notified());
        changed.as_mut().enable();
        // The next change is read before the look: if it happens in between, it causes a second look.
        let now = self.clock().now();
        let next = queue.look(|queue| queue.next_change(now)).flatten();
        if let Some(found) = look() {
            return Some(found);
        }
        tokio::select! {
            biased;
            () = created_or_deleted => {}
            () = changed => {}
            () = self.shared.moment(next) => {}
        }
        None
    }
}

impl QueueArn {
    /// The queue of an ARN, a URL, or a name in this account and region.
    pub(crate) fn named(text: &str, region: &str, account: &str) -> Self {
        text.parse().unwrap_or_else(|_| {
            let Address { account, name } = Address::parse(text, account);
            Self::new(region, account, name)
        })
    }
}

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
