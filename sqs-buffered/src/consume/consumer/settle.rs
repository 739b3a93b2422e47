//! What is done about messages when their handlers have ended.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sqs_client::client::Execute;

use super::Shared;
use super::groups::{Entry, Key};
use super::step::Step;
use crate::consume::receive::{Delivery, Settled, Source};
use crate::span::messaging_span;

/// What becomes of a message that is not done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Back {
    /// Hidden for a while.
    After(Duration),
    /// Visible at once, because its handler said so.
    Released,
    /// Visible at once or after a while, because nothing was said.
    Returned(Duration),
    /// Left alone.
    Kept,
}

/// Deletes all deliveries of a message. It is done when one of them says so: on FIFO queues the handles of earlier ones have
/// expired.
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

/// Gives back what has not started of a group, the last first, and then the message before it: so that whoever receives
/// from the group begins with that one.
pub(super) async fn give_back<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Option<Key>,
    rest: Vec<Entry<Delivery>>,
    (head, how): (Vec<Delivery>, Back),
) -> Step {
    let rest = rest.into_iter().rev().flat_map(Entry::into_deliveries);
    all_back(&shared.source, rest, Back::Returned(Duration::ZERO)).await;
    all_back(&shared.source, head, how).await;
    Step::GivenBack { key }
}

/// Errors are counted and told where they happen; there is nothing more to do about them.
async fn all_back<H: Execute>(source: &Source<H>, deliveries: impl IntoIterator<Item = Delivery>, how: Back) {
    let back = async |delivery: Delivery| match how {
        Back::After(delay) => drop(delivery.hide(source, delay, Settled::Nacked).await),
        Back::Released => drop(delivery.hide(source, Duration::ZERO, Settled::Released).await),
        Back::Returned(delay) => drop(delivery.hide(source, delay, Settled::Returned).await),
        Back::Kept => delivery.keep(),
    };
    join_all(deliveries.into_iter().map(back)).await;
}

pub(super) fn span(queue_url: &str, operation: &'static str, messages: usize) -> tracing::Span {
    messaging_span!(DEBUG "sqs.settle", "client", operation, "settle", queue_url,
        messaging.batch.message_count = messages)
}
