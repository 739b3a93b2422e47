//! Receiving messages, and converting them for the response.
//!
//! Receiving messages, with long polls.
//!
//! ```text
//! receive --messages--> return
//!    | none
//!    v
//! park: wait for (shutdown | deadline | arrival | the queue's next change, as watcher) --> receive again
//! ```
//! A receive takes messages and returns them in one step without an await: a receive that is dropped has taken nothing.
//! Each step moves a limited number of dead letters.

use sqs_client::wire::validate::Validate as _;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput};
use sqs_client::types::{
    Message, MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeName as Name,
};
use sqs_client::wire::checksum::md5_of_attributes;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::control::clock::Timestamp;
use crate::control::faults::fault::ReceiveChange;
use crate::control::metrics::Stopwatch;
use crate::sqs::engine::Room;
use crate::sqs::engine::inspect::PeekedMessage;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::receive::{Delivery, Receive, Received};
use crate::sqs::engine::redrive::InTransit;
use crate::sqs::engine::throughput::Metered;
use crate::sqs::locked_queue::SharedQueue;
use crate::sqs::ops::{Context, Serve, Served, break_sum, seconds};
use crate::sqs::service::{Service, Shared};

impl Serve for ReceiveMessage {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let ReceiveChange { misses, is_single, is_reordered, lease, .. } = context.receive;
        if misses {
            return Ok(Self::Output::builder().build());
        }
        let at_most = input.max_number_of_messages.map_or(1, |most| usize::try_from(most).unwrap_or(1));
        let request = Receive {
            at_most: if is_single { 1 } else { at_most },
            visibility_timeout: lease.or(input.visibility_timeout.map(seconds)),
            attempt_id: input.receive_request_attempt_id(),
            wait: input.wait_time_seconds.map(seconds),
            redeliver: context.redeliver,
            dead_letter_queue_exists: false,
            room: Room::default(),
        };
        let poll = Poll { shared: &service.shared, context, queue: &queue, request };
        let mut deliveries = poll.receive().await?;
        if is_reordered {
            deliveries.reverse();
        }
        if deliveries.is_empty() && tracing::enabled!(tracing::Level::DEBUG) {
            let why = service.why_empty(queue.arn());
            tracing::debug!(queue = %queue.arn(), %why, "nothing to receive");
        }
        let selection = Selection::of(&input);
        let messages = deliveries.into_iter();
        let messages: Vec<_> = messages
            .map(|Delivery { message, receipt_handle }| received(&message, receipt_handle, selection))
            .collect();
        let messages = Some(messages).filter(|messages| !messages.is_empty());
        Ok(Self::Output::builder().set_messages(messages).build())
    }

    fn delivers(output: &Self::Output) -> bool {
        !output.messages().is_empty()
    }

    fn corrupt(output: &mut Self::Output) -> bool {
        let messages = output.messages.iter_mut().flatten();
        messages.map(|message| break_sum(&mut message.md5_of_body)).fold(false, |any, broken| any | broken)
    }
}

/// A message in the form in which a receive returns it.
pub(crate) fn received(message: &PeekedMessage, receipt_handle: String, selection: Selection<'_>) -> Message {
    let chosen = message.payload.attributes().and_then(|all| selection.message_attributes(all));
    let system = system_attributes(message, selection);
    // The checksum of the returned attributes, which can be fewer than those sent.
    let md5_of_chosen = match (&chosen, message.payload.attributes()) {
        (Some(chosen), Some(all)) if chosen.len() == all.len() => message.payload.md5_of_attributes(),
        (chosen, _) => chosen.as_ref().and_then(md5_of_attributes),
    };
    Message::builder()
        .message_id(message.id.to_string())
        .receipt_handle(receipt_handle)
        .md5_of_body(message.payload.md5_of_body())
        .body(&*message.payload.body)
        .set_attributes(Some(system).filter(|system| !system.is_empty()))
        .set_md5_of_message_attributes(md5_of_chosen.map(String::from))
        .set_message_attributes(chosen)
        .build()
}

/// The requested system attributes that the message has.
fn system_attributes(message: &PeekedMessage, selection: Selection<'_>) -> HashMap<Name, String> {
    if selection.is_without_system() {
        return HashMap::new();
    }
    let text = |value: Option<&str>| value.map(str::to_owned);
    let all = [
        (Name::SenderId, text(Some(&message.payload.sender))),
        (Name::SentTimestamp, Some(message.sent.as_millis().to_string())),
        (Name::ApproximateReceiveCount, Some(message.receive_count.to_string())),
        (Name::ApproximateFirstReceiveTimestamp, message.first_received.map(|at| at.as_millis().to_string())),
        (Name::MessageGroupId, text(message.group.as_deref())),
        (Name::MessageDeduplicationId, text(message.deduplication_id.as_deref())),
        (Name::SequenceNumber, message.sequence_number.map(|number| number.to_string())),
        (Name::AwsTraceHeader, text(message.payload.trace_header())),
        (Name::DeadLetterQueueSourceArn, message.dead_letter_source.as_ref().map(ToString::to_string)),
    ];
    let requested = all.into_iter().filter(|(name, _)| selection.has_system(name));
    requested.filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A receive in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Poll<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) context: &'a Context,
    pub(crate) queue: &'a Arc<SharedQueue>,
    pub(crate) request: Receive<'a>,
}

impl Poll<'_> {
    /// Receives messages, and waits for them as long as the request or the queue says.
    ///
    /// # Cancel safety
    /// A receive that is dropped before it completes has taken no message, and passes its wakeup on to another receive.
    pub(crate) async fn receive(self) -> Result<Vec<Delivery>, ServiceError> {
        let Received { messages, wait, is_over_limit, .. } = self.take(Step::First).await?;
        if !messages.is_empty() {
            return Ok(messages);
        }
        if wait.is_zero() {
            return if is_over_limit { Err(over_limit()) } else { Ok(messages) };
        }
        let watch = Stopwatch::start();
        let messages = self.park(wait).await;
        self.context.trace.note_wait(watch.elapsed());
        messages
    }

    async fn park(self, wait: Duration) -> Result<Vec<Delivery>, ServiceError> {
        let Self { shared, queue, .. } = self;
        let mut stopped = pin!(shared.stopped());
        let mut deadline = pin!(shared.clock.sleep_until(shared.clock.now() + wait));
        let _parked = shared.parked.enter();
        let mut watch = None;
        // Enabled before the queue is checked, so that no arrival in between is missed. Kept across iterations, so that
        // the receive keeps its place in line.
        let mut arrival = pin!(queue.arrival.notified());
        loop {
            arrival.as_mut().enable();
            watch = watch.or_else(|| queue.watch.try_lock().ok());
            let Received { messages, wake_at, .. } = self.take(Step::Later).await?;
            if !messages.is_empty() {
                return Ok(self.handing_on(messages));
            }
            let look_again = async {
                tokio::select! {
                    biased;
                    () = arrival.as_mut() => arrival.set(queue.arrival.notified()),
                    guard = queue.watch.lock(), if watch.is_none() => watch = Some(guard),
                    () = next_moment(shared, queue, wake_at), if watch.is_some() => {}
                }
            };
            match end_before(stopped.as_mut(), deadline.as_mut(), look_again).await {
                Some(End::Stopped) => return Ok(Vec::new()),
                // A message that arrives exactly at the deadline is still returned.
                Some(End::Deadline) => return Ok(self.handing_on(self.take(Step::Later).await?.messages)),
                None => {}
            }
        }
    }

    /// Wakes the next receive for messages that this one left in the queue.
    fn handing_on(self, messages: Vec<Delivery>) -> Vec<Delivery> {
        if messages.is_empty() {
            return messages;
        }
        let now = self.shared.clock.now();
        let available = self.queue.look(|queue| queue.counts(now).available);
        if available.is_some_and(|available| available > 0) {
            self.queue.arrival.notify_one();
        }
        messages
    }

    /// Receives available messages. Yields after each step that found only dead letters, so that other requests can
    /// lock the queue.
    ///
    /// # Cancel safety
    /// Dropped between two steps, it has taken no message.
    async fn take(self, mut step: Step) -> Result<Received, ServiceError> {
        loop {
            let mut received = self.step(step)?;
            step = Step::Later;
            let is_cut_short = received.is_cut_short();
            for letter in received.dead_letters.drain(..) {
                forward(self.shared, self.queue, letter);
            }
            if !is_cut_short {
                return Ok(received);
            }
            tokio::task::yield_now().await;
        }
    }

    fn step(self, step: Step) -> Result<Received, ServiceError> {
        let Self { shared, context, queue, request } = self;
        queue.with_room(context, |queue, room| {
            if step == Step::First {
                queue.accept_call(shared.clock.now(), Metered::Receive)?;
            }
            let dead_letter_queue_exists = has_dead_letter_queue(shared, queue);
            queue.receive(shared.clock.now(), &Receive { dead_letter_queue_exists, room, ..request })
        })?
    }
}

/// Steps of a receive. Only the first one counts as a call, however often the receive checks its queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    First,
    Later,
}

/// Why a parked receive ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Stopped,
    Deadline,
}

/// Waits for the end of a parked receive, or for a reason to check the queue again (`None`). The end has priority:
/// while other receives take all arrivals, reasons to check can recur indefinitely. An arrival that this ignores wakes
/// the next receive, because a dropped `Notified` passes it on.
async fn end_before(
    stopped: impl Future<Output = ()>,
    deadline: impl Future<Output = ()>,
    look_again: impl Future<Output = ()>,
) -> Option<End> {
    tokio::select! {
        biased;
        () = stopped => Some(End::Stopped),
        () = deadline => Some(End::Deadline),
        () = look_again => None,
    }
}

/// Waits until the queue can have a message without a request, or until that time has changed.
async fn next_moment(shared: &Shared, queue: &SharedQueue, wake_at: Option<Timestamp>) {
    tokio::select! {
        biased;
        () = queue.sooner.notified() => {}
        () = shared.moment(wake_at) => {}
    }
}

/// On AWS, a queue can be its own dead-letter queue. Here such a policy has no effect: messages would move to the same
/// queue forever.
pub(crate) fn has_dead_letter_queue(shared: &Shared, queue: &Queue) -> bool {
    let target = queue.attributes().redrive.as_ref().map(|policy| &policy.target);
    target.is_some_and(|target| target != queue.arn() && shared.find_arn(target).is_some())
}

/// Moves a dead letter to its queue, or back if that queue was deleted.
pub(crate) fn forward(shared: &Shared, source: &SharedQueue, letter: InTransit) {
    let now = shared.clock.now();
    let refused = match shared.find_arn(letter.destination()) {
        Some(target) => target.even_deleted(|queue| queue.accept_dead_letter(now, letter)).err(),
        None => Some(letter),
    };
    if let Some(letter) = refused {
        source.even_deleted(|queue| queue.take_back(now, letter));
    }
}

fn over_limit() -> ServiceError {
    let text = "Too many messages have been received without being deleted.";
    ServiceError::new(ErrorCode::OverLimit, text)
}

/// The attributes that a receive requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a>(&'a ReceiveMessageInput);

impl<'a> Selection<'a> {
    pub(crate) fn of(input: &'a ReceiveMessageInput) -> Self {
        Self(input)
    }

    /// Whether a system attribute is requested. If both lists are present, the newer one applies; the Query protocol
    /// has only the older one.
    pub(crate) fn has_system(self, name: &MessageSystemAttributeName) -> bool {
        let newer = self.0.message_system_attribute_names();
        let asked = |other: &str| other == "All" || other == name.as_str();
        if newer.is_empty() {
            self.0.attribute_names().iter().any(|other| asked(other.as_str()))
        } else {
            newer.iter().any(|other| asked(other.as_str()))
        }
    }

    /// Whether no system attribute is requested.
    pub(crate) fn is_without_system(self) -> bool {
        self.0.message_system_attribute_names().is_empty() && self.0.attribute_names().is_empty()
    }

    /// Whether a message attribute is requested: by its name, by `All`, or by a prefix as `prefix.*`. An invalid name
    /// matches nothing.
    pub(crate) fn has(self, name: &str) -> bool {
        self.0.message_attribute_names().iter().any(|filter| match filter.as_str() {
            "All" | "*" => true,
            other => other == name || other.strip_suffix(".*").is_some_and(|start| name.starts_with(start)),
        })
    }

    /// The requested message attributes; `None` if there are none.
    pub(crate) fn message_attributes(
        self,
        all: &HashMap<String, MessageAttributeValue>,
    ) -> Option<HashMap<String, MessageAttributeValue>> {
        let chosen = all.iter().filter(|(name, _)| self.has(name));
        let chosen: HashMap<_, _> = chosen.map(|(name, value)| (name.clone(), value.clone())).collect();
        Some(chosen).filter(|chosen| !chosen.is_empty())
    }
}

#[cfg(test)]
mod poll_tests {
    use std::future::{pending, ready};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn deadline_has_priority_and_the_arrival_wakes_the_next_receive() {
        let arrivals = Notify::new();
        let (mut first, mut second) = (pin!(arrivals.notified()), pin!(arrivals.notified()));
        first.as_mut().enable();
        second.as_mut().enable();
        arrivals.notify_one();
        assert_eq!(end_before(pending(), ready(()), first.as_mut()).await, Some(End::Deadline));
        first.set(arrivals.notified());
        assert!(second.as_mut().enable(), "the arrival wakes the second receive");
    }

    #[tokio::test]
    async fn shutdown_has_priority_over_deadline_and_arrival() {
        assert_eq!(end_before(ready(()), ready(()), ready(())).await, Some(End::Stopped));
        assert_eq!(end_before(pending(), pending(), ready(())).await, None);
    }
}

#[cfg(test)]
mod selection_tests {
    use sqs_client::types::QueueAttributeName;

    use super::*;

    fn has(filters: &[&str], name: &str) -> bool {
        let names = filters.iter().map(|filter| (*filter).to_owned()).collect();
        let input = ReceiveMessageInput::builder().set_message_attribute_names(Some(names)).build();
        Selection::of(&input.unwrap_or_default()).has(name)
    }

    #[test]
    fn message_attributes_are_selected_by_name_prefix_or_all() {
        let table: [(&[&str], &str, bool); 12] = [
            (&["All"], "colour", true),
            (&[".*"], "colour", true),
            (&["*"], "colour", true),
            (&["colour"], "colour", true),
            (&["Colour"], "colour", false),
            (&["col.*"], "colour", true),
            (&["col.*"], "col", true),
            (&["col*"], "colour", false),
            (&["a", "col.*"], "colour", true),
            (&["not a legal name!"], "colour", false),
            (&["all"], "colour", false),
            (&[], "colour", false),
        ];
        for (filters, name, expected) in table {
            assert_eq!(has(filters, name), expected, "{filters:?} {name}");
        }
    }

    #[test]
    fn newer_list_of_system_attributes_takes_precedence() {
        use MessageSystemAttributeName as Name;
        let old = || ReceiveMessageInput::builder().attribute_names(QueueAttributeName::All);
        let old_only = old().build().unwrap();
        assert!(Selection::of(&old_only).has_system(&Name::SenderId));
        let both = old().message_system_attribute_names(Name::SentTimestamp).build().unwrap();
        assert!(Selection::of(&both).has_system(&Name::SentTimestamp));
        assert!(!Selection::of(&both).has_system(&Name::SenderId));
        let system = old().set_attribute_names(Some(vec!["SenderId".into()])).build().unwrap();
        assert!(Selection::of(&system).has_system(&Name::SenderId));
        assert!(!Selection::of(&ReceiveMessageInput::default()).has_system(&Name::SenderId));
    }
}
