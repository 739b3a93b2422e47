//! Batch handlers: functions of several messages, and their results.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqs_client::types::MessageSystemAttributeName as Name;

use crate::consume::extract::{FromMessage, FromRef, MessageContext, State};
use crate::consume::handler::IntoOutcome;
use crate::consume::settle::{HandlerError, Outcome};

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
/// behind it in its group do not run either, and wait for it. To combine extractors, use a pair: `Vec<(Arc<Message>, Json<Order>)>`. A
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

/// The error of a message that did not run, because an earlier one of its group has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind;

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an earlier message of the group has failed")
    }
}

impl std::error::Error for Behind {}

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
            refusals.push(Some(Behind.into()));
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

type Handling = BoxFuture<'static, Vec<Result<Outcome, HandlerError>>>;

/// A batch handler of any type, with its state.
#[derive(Clone)]
pub(crate) struct AnyBatchHandler(Arc<dyn Fn(Vec<MessageContext>) -> Handling + Send + Sync>);

impl AnyBatchHandler {
    pub(crate) fn new<A, S, F>(handler: F, state: S) -> Self
    where
        F: BatchHandler<A, S>,
        S: Send + Sync + 'static,
    {
        let shared = Arc::new((handler, state));
        Self(Arc::new(move |messages| {
            let shared = Arc::clone(&shared);
            Box::pin(async move { shared.0.call(messages, &shared.1).await })
        }))
    }

    /// Returns one result for each message, in their order.
    pub(crate) async fn call(&self, messages: Vec<MessageContext>) -> Vec<Result<Outcome, HandlerError>> {
        let count = messages.len();
        let mut results = (self.0)(messages).await;
        results.resize_with(count, || Err("the batch handler returned no outcome for this message".into()));
        results
    }
}

impl fmt::Debug for AnyBatchHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyBatchHandler")
    }
}

/// The outcomes of a batch.
#[derive(Debug)]
#[non_exhaustive]
pub enum BatchOutcomes {
    /// One for all messages.
    All(Result<Outcome, HandlerError>),
    /// One for each message, by its position in the parameter of the handler. A message without one has failed.
    Each(Vec<Result<Outcome, HandlerError>>),
    /// One for each message, by message id. A message without one has failed.
    ById(HashMap<String, Result<Outcome, HandlerError>>),
}

/// A return type of a [batch handler](BatchHandler).
///
/// | Type | Meaning |
/// |---|---|
/// | `()`, [`Outcome`], `Result<(), E>` and other [`IntoOutcome`] types | one outcome for all messages |
/// | `Vec<T>`, `Result<Vec<T>, E>` where `T: IntoOutcome` | one for each message, by position |
/// | `HashMap<String, T>`, `Result<HashMap<String, T>, E>` | one for each message, by message id |
///
/// A message without an outcome has failed.
#[diagnostic::on_unimplemented(
    message = "a batch handler cannot return `{Self}`",
    label = "not a batch handler's result",
    note = "a batch handler returns `()`, `Outcome`, `Vec<T>` or `HashMap<String, T>` where `T` is one of the former, or a \
            `Result` of these whose error converts into `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoBatchOutcomes {
    /// Converts the returned value.
    fn into_outcomes(self) -> BatchOutcomes;
}

impl<T: IntoOutcome> IntoBatchOutcomes for T {
    fn into_outcomes(self) -> BatchOutcomes {
        BatchOutcomes::All(self.into_outcome())
    }
}

impl<T: IntoOutcome> IntoBatchOutcomes for Vec<T> {
    fn into_outcomes(self) -> BatchOutcomes {
        BatchOutcomes::Each(self.into_iter().map(T::into_outcome).collect())
    }
}

impl<T: IntoOutcome, B> IntoBatchOutcomes for HashMap<String, T, B> {
    fn into_outcomes(self) -> BatchOutcomes {
        BatchOutcomes::ById(self.into_iter().map(|(id, value)| (id, value.into_outcome())).collect())
    }
}

impl<T: IntoOutcome, E: Into<HandlerError>> IntoBatchOutcomes for Result<Vec<T>, E> {
    fn into_outcomes(self) -> BatchOutcomes {
        self.map_or_else(|error| BatchOutcomes::All(Err(error.into())), Vec::into_outcomes)
    }
}

impl<T: IntoOutcome, E: Into<HandlerError>, B> IntoBatchOutcomes for Result<HashMap<String, T, B>, E> {
    fn into_outcomes(self) -> BatchOutcomes {
        self.map_or_else(|error| BatchOutcomes::All(Err(error.into())), HashMap::into_outcomes)
    }
}

impl BatchOutcomes {
    /// One result for each message, given by id. `None` for a message without one.
    pub(crate) fn of(self, ids: &[Option<&str>]) -> Vec<Option<Result<Outcome, HandlerError>>> {
        match self {
            Self::All(Ok(outcome)) => ids.iter().map(|_| Some(Ok(outcome.clone()))).collect(),
            Self::All(Err(error)) => {
                let shared = SharedError(error.into());
                ids.iter().map(|_| Some(Err(shared.clone().into()))).collect()
            }
            Self::Each(results) => {
                let mut results = results.into_iter();
                ids.iter().map(|_| results.next()).collect()
            }
            Self::ById(mut results) => ids.iter().map(|id| results.remove((*id)?)).collect(),
        }
    }
}

/// An error that several messages share.
#[derive(Clone, Debug)]
pub(crate) struct SharedError(pub(crate) Arc<dyn std::error::Error + Send + Sync>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SharedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
