//! Functions as batch handlers.

use std::collections::HashSet;

use sqs_client::types::MessageSystemAttributeName as Name;

use super::into_outcomes::IntoBatchOutcomes;
use crate::consume::handler::context::MessageContext;
use crate::consume::handler::extract::{FromMessage, FromRef, State};
use crate::consume::outcome::{HandlerError, Outcome};

/// A handler of several messages at a time: an async function, or a closure that returns a future. Its parameters are a `Vec` of
/// [extractors](FromMessage) and, optionally, the [`State`]. Its result converts [into outcomes](IntoBatchOutcomes).
///
/// ```
/// use sqs_buffered::{Consumer, Json, State};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// #[derive(Clone)]
/// struct Db;
///
/// # impl Db { async fn insert(&self, _: &[Json<Order>]) -> Result<(), std::io::Error> { Ok(()) } }
/// async fn store(orders: Vec<Json<Order>>, State(db): State<Db>) -> Result<(), std::io::Error> {
///     db.insert(&orders).await
/// }
///
/// # fn example(client: sqs_client::Client, url: &str) {
/// let consumer = Consumer::builder(client, url).state(Db).batch_handler(store);
/// # }
/// ```
///
/// If the extractor of a message fails, the message has failed and is not in the `Vec`. On a FIFO queue, the messages
/// behind it in its group have failed, too. To combine extractors, use a pair: `Vec<(Arc<Message>, Json<Order>)>`. A
/// panic counts as an error of all messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a batch handler for the state `{S}`",
    label = "not a batch handler",
    note = "a batch handler is an `async fn`, or a closure that returns a future, of `Vec<T>` or of `Vec<T>` and `State<U>`, where \
            `T` implements `FromMessage<{S}>`",
    note = "its result implements `IntoBatchOutcomes`; its future is `Send`",
    note = "`State<T>` needs `.state(value)` before `.batch_handler(..)`, with a value of type `T`"
)]
pub trait BatchHandler<A, S>: Send + Sync + 'static {
    /// Handles the messages of a batch. The results are in the order of the messages; missing ones are failures.
    fn call(
        &self,
        messages: Vec<MessageContext>,
        state: &S,
    ) -> impl Future<Output = Vec<Result<Outcome, HandlerError>>> + Send;
}

impl<F, R, S, M> BatchHandler<(Vec<M>,), S> for F
where
    F: Fn(Vec<M>) -> R + Send + Sync + 'static,
    R: Future<Output: IntoBatchOutcomes> + Send,
    M: FromMessage<S>,
    S: Sync,
{
    async fn call(&self, messages: Vec<MessageContext>, state: &S) -> Vec<Result<Outcome, HandlerError>> {
        run(messages, state, self).await
    }
}

impl<F, R, S, M, T> BatchHandler<(Vec<M>, State<T>), S> for F
where
    F: Fn(Vec<M>, State<T>) -> R + Send + Sync + 'static,
    R: Future<Output: IntoBatchOutcomes> + Send,
    M: FromMessage<S>,
    T: FromRef<S>,
    S: Sync,
{
    async fn call(&self, messages: Vec<MessageContext>, state: &S) -> Vec<Result<Outcome, HandlerError>> {
        run(messages, state, |values| self(values, State(T::from_ref(state)))).await
    }
}

async fn run<M, S, R>(
    messages: Vec<MessageContext>,
    state: &S,
    function: impl FnOnce(Vec<M>) -> R,
) -> Vec<Result<Outcome, HandlerError>>
where
    M: FromMessage<S>,
    R: Future<Output: IntoBatchOutcomes>,
{
    let (mut values, mut ids) = (Vec::with_capacity(messages.len()), Vec::new());
    // `None` for a message that the function takes.
    let (mut refusals, mut failed_groups) = (Vec::new(), HashSet::new());
    for message in &messages {
        let group = group(message);
        if group.is_some_and(|group| failed_groups.contains(group)) {
            refusals.push(Some("an earlier message of the group has failed".into()));
            continue;
        }
        match M::from_message(message, state).await {
            Ok(value) => {
                values.push(value);
                ids.push(message.message().message_id());
                refusals.push(None);
            }
            Err(error) => {
                failed_groups.extend(group);
                refusals.push(Some(error));
            }
        }
    }
    if values.is_empty() {
        return refusals.into_iter().flatten().map(Err).collect();
    }
    let mut results = function(values).await.into_outcomes().of(&ids).into_iter();
    let missing = || Err("the batch handler returned no outcome for this message".into());
    let result = |refusal: Option<HandlerError>| match refusal {
        Some(error) => Err(error),
        None => results.next().flatten().unwrap_or_else(missing),
    };
    refusals.into_iter().map(result).collect()
}

/// The group of a message on a FIFO queue, where messages have sequence numbers. `None` on standard queues, where the
/// order does not matter.
fn group(message: &MessageContext) -> Option<&str> {
    message.attribute(&Name::SequenceNumber)?;
    message.attribute(&Name::MessageGroupId)
}
