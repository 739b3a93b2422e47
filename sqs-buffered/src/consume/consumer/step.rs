//! The work of a run: futures that resolve to a [`Step`].

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sqs_client::client::Execute;

use super::Shared;
use super::batch::Lines;
use super::groups::{Entry, Key};
use super::handling::Verdict;
use crate::consume::observe::Settled;
use crate::consume::receive::Delivery;
use crate::consume::source::Source;
use crate::span::messaging_span;

/// A piece of work that has ended.
pub(super) enum Step {
    /// A lease was renewed so that a handler can start, or could not be renewed.
    Refreshed {
        key: Key,
        entry: Entry<Delivery>,
        is_fresh: bool,
    },
    Handled {
        key: Key,
        entry: Entry<Delivery>,
        verdict: Verdict,
        elapsed: Duration,
    },
    /// The pause before the next run of a handler is over.
    Rested {
        key: Key,
        entry: Entry<Delivery>,
    },
    HandledBatch {
        lines: Lines<(Entry<Delivery>, Verdict)>,
        elapsed: Duration,
    },
    /// The previous message of its line is done. Both ran in the same batch.
    Decided {
        key: Key,
        entry: Entry<Delivery>,
        verdict: Verdict,
    },
    /// Sending a dead letter has ended: its deliveries, the latest first, and the error if it failed.
    Sent {
        key: Key,
        deliveries: Vec<Delivery>,
        result: Result<(), String>,
    },
    Deleted {
        key: Option<Key>,
        is_done: bool,
        deliveries: Vec<Delivery>,
    },
    GivenBack {
        key: Option<Key>,
    },
}

/// How a message is given back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Return {
    /// Hidden for a while.
    After(Duration),
    /// Visible at once, by its outcome.
    Released,
    /// Visible at once or after a while, without an outcome.
    Returned(Duration),
    /// Left hidden.
    Kept,
}

/// Deletes all deliveries of a message. One success is enough: on FIFO queues, the handles of earlier deliveries have expired.
pub(super) async fn delete<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Option<Key>,
    mut deliveries: Vec<Delivery>,
    how: Settled,
) -> Step {
    let source = &shared.source;
    let deletes = deliveries.iter_mut().map(|delivery| delivery.delete(source, how));
    let is_done = join_all(deletes).await.iter().any(Result::is_ok);
    Step::Deleted { key, is_done, deliveries }
}

/// Sends the message to the dead-letter queue. A copy of an opened delivery has its own payload. The copy of one that is not opened
/// shares it, so no delivery may delete it.
pub(super) async fn send<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Key,
    mut deliveries: Vec<Delivery>,
    reason: String,
) -> Step {
    let opened = deliveries.iter().position(Delivery::is_open);
    if opened.is_none() {
        deliveries.iter_mut().for_each(Delivery::leave_payload);
    }
    let result = match deliveries.get(opened.unwrap_or_default()) {
        Some(delivery) => shared.dead_letters.send(&shared.source, delivery, &reason).await,
        None => Ok(()),
    };
    Step::Sent { key, deliveries, result }
}

/// Gives back the messages of a group that have not started, the last one first, and then the message before them. So
/// the next receive starts with that message.
pub(super) async fn give_back<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Option<Key>,
    rest: Vec<Entry<Delivery>>,
    (head, how): (Vec<Delivery>, Return),
) -> Step {
    let rest = rest.into_iter().rev().flat_map(Entry::into_deliveries);
    all_back(&shared.source, rest, Return::Returned(Duration::ZERO)).await;
    all_back(&shared.source, head, how).await;
    Step::GivenBack { key }
}

/// Errors are counted and reported where they happen.
async fn all_back<H: Execute>(
    source: &Source<H>,
    deliveries: impl IntoIterator<Item = Delivery>,
    how: Return,
) {
    let back = async |delivery: Delivery| match how {
        Return::After(delay) => drop(delivery.hide(source, delay, Settled::Nacked).await),
        Return::Released => drop(delivery.hide(source, Duration::ZERO, Settled::Released).await),
        Return::Returned(delay) => drop(delivery.hide(source, delay, Settled::Returned).await),
        Return::Kept => delivery.keep(),
    };
    join_all(deliveries.into_iter().map(back)).await;
}

pub(super) fn span(queue_url: &str, operation: &'static str, messages: usize) -> tracing::Span {
    messaging_span!(DEBUG "sqs.settle", "client", operation, "settle", queue_url,
        messaging.batch.message_count = messages)
}
