//! Handlers of one message: functions, their results, and the tasks in which they run.
//!
//! ```text
//! MessageContext -> FromMessage (one for each parameter) -> function -> IntoOutcome -> Outcome | HandlerError
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqs_client::random;
use sqs_client::types::Message;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use crate::consume::extract::{FromMessage, MessageContext};
use crate::consume::settle::{HandlerError, Outcome};
use crate::error::{self, BuildError, Causes};
use crate::receive::lease::Lease;
use crate::trace_context::SenderContext;

type Handling = BoxFuture<'static, Result<Outcome, HandlerError>>;

/// A handler of any type, with its state.
#[derive(Clone)]
pub(crate) struct AnyHandler {
    call: Arc<dyn Fn(MessageContext) -> Handling + Send + Sync>,
    /// Its settings.
    checked: Result<(), BuildError>,
}

impl AnyHandler {
    pub(crate) fn new<A, S, F>(handler: F, state: S) -> Self
    where
        F: Handler<A, S>,
        S: Send + Sync + 'static,
    {
        let checked = handler.check();
        let shared = Arc::new((handler, state));
        let call = move |context| -> Handling {
            let shared = Arc::clone(&shared);
            Box::pin(async move { shared.0.call(context, &shared.1).await })
        };
        Self { call: Arc::new(call), checked }
    }

    /// Wraps a function of message and lease. Its parameter types are fixed, so closures need no annotations.
    pub(crate) fn of_messages<F, R>(handler: F) -> Self
    where
        F: Fn(Arc<Message>, Lease) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome, HandlerError>> + Send + 'static,
    {
        let call = move |context: MessageContext| -> Handling {
            match context.lease().cloned() {
                Some(lease) => Box::pin(handler(Arc::clone(context.message()), lease)),
                None => Box::pin(async { Err("the message has no lease".into()) }),
            }
        };
        Self { call: Arc::new(call), checked: Ok(()) }
    }

    pub(crate) fn call(&self, context: MessageContext) -> Handling {
        (self.call)(context)
    }

    /// Whether its settings are valid.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        self.checked.clone()
    }
}

impl fmt::Debug for AnyHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyHandler")
    }
}

/// A message handler: an async function, or a closure that returns a future. Its parameters, up to eight, are
/// [extractors](FromMessage); its result converts [into an outcome](IntoOutcome). `S` is the state; `A` is inferred from the
/// parameters.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// use sqs_buffered::{Consumer, Json, State};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     price: u64,
/// }
///
/// async fn add(Json(order): Json<Order>, State(sum): State<Arc<AtomicU64>>) -> Result<(), std::fmt::Error> {
///     sum.fetch_add(order.price, Relaxed);
///     Ok(())
/// }
///
/// # fn example(client: sqs_client::Client, url: &str) {
/// let sum = Arc::new(AtomicU64::new(0));
/// let by_function = Consumer::builder(client.clone(), url).state(Arc::clone(&sum)).handler(add);
/// // A closure captures what it needs. Its parameters need types.
/// let by_closure = Consumer::builder(client, url).handler(move |Json(order): Json<Order>| {
///     let sum = Arc::clone(&sum);
///     async move { drop(sum.fetch_add(order.price, Relaxed)) }
/// });
/// # }
/// ```
///
/// A panic counts as an error. A handler whose future is dropped is stopped at its next `.await`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message handler for the state `{S}`",
    label = "not a message handler",
    note = "a handler is an `async fn`, or a closure that returns a future, with at most eight parameters that implement \
            `FromMessage<{S}>`, such as `Json<T>`, `String`, `State<T>`, `Arc<Message>` and `Lease`",
    note = "its result is `()`, `Outcome`, or a `Result` of these whose error converts into `Box<dyn Error + Send + Sync>`; its \
            future is `Send`",
    note = "`State<T>` needs `.state(value)` before `.handler(..)`, with a value of type `T`"
)]
pub trait Handler<A, S>: Send + Sync + 'static {
    /// Handles one message.
    ///
    /// # Errors
    /// An extractor or the function failed.
    fn call(
        &self,
        context: MessageContext,
        state: &S,
    ) -> impl Future<Output = Result<Outcome, HandlerError>> + Send;

    /// Checks the settings of a handler that has some, when its consumer is built.
    ///
    /// # Errors
    /// A setting is invalid. The error names it, with what is allowed.
    fn check(&self) -> Result<(), BuildError> {
        Ok(())
    }
}

/// A [handler](Handler) that blocks its thread: see [`blocking`].
#[derive(Debug)]
pub struct Blocking<F>(Arc<F>);

/// A [handler](Handler) from a function that blocks its thread: it computes, or uses a client that is not async. It runs on a thread for
/// blocking work (`tokio::task::spawn_blocking`), of which tokio has 512 by default.
///
/// Such a function cannot be stopped. After its [timeout](crate::consume::builder::ConsumerBuilder::handler_timeout), the consumer keeps its
/// message and its place until it has returned; then the handler has failed. At the end of a shutdown, the message is given back, and the
/// program ends when the function has returned. To end early, it can take a [`CancellationToken`](tokio_util::sync::CancellationToken).
///
/// ```
/// use sqs_buffered::{Consumer, Json, blocking};
///
/// # fn example(client: sqs_client::Client, url: &str) {
/// let consumer = Consumer::builder(client, url).handler(blocking(|Json(numbers): Json<Vec<u64>>| {
///     println!("{}", numbers.iter().sum::<u64>());
/// }));
/// # }
/// ```
pub fn blocking<F>(function: F) -> Blocking<F> {
    Blocking(Arc::new(function))
}

/// The parameters of a [`Blocking`] handler.
#[derive(Debug)]
pub struct Blocked<A>(PhantomData<A>);

/// Implements the trait for functions with these parameters.
macro_rules! functions {
    ($([$($parameter:ident)*])*) => { $(
        impl<F, R, S, $($parameter),*> Handler<($($parameter,)*), S> for F
        where
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: Future<Output: IntoOutcome> + Send,
            S: Sync,
            $($parameter: FromMessage<S>),*
        {
            #[allow(non_snake_case, unused_variables, reason = "types name the values; without parameters none is read")]
            async fn call(&self, context: MessageContext, state: &S) -> Result<Outcome, HandlerError> {
                $(let $parameter = $parameter::from_message(&context, state).await?;)*
                let future = self($($parameter),*);
                // From here on, only the function owns the lease and the message.
                drop(context);
                future.await.into_outcome()
            }
        }

        impl<F, R, S, $($parameter),*> Handler<Blocked<($($parameter,)*)>, S> for Blocking<F>
        where
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: IntoOutcome,
            S: Sync,
            $($parameter: FromMessage<S> + 'static),*
        {
            #[allow(non_snake_case, unused_variables, reason = "types name the values; without parameters none is read")]
            async fn call(&self, context: MessageContext, state: &S) -> Result<Outcome, HandlerError> {
                $(let $parameter = $parameter::from_message(&context, state).await?;)*
                let (function, claim) = (Arc::clone(&self.0), context.claim());
                let (span, sender) = (tracing::Span::current(), SenderContext::current());
                drop(context);
                let running = tokio::task::spawn_blocking(move || {
                    let _claim = claim;
                    sender.scope(|| span.in_scope(|| function($($parameter),*).into_outcome()))
                });
                running.await.unwrap_or_else(|error| match error.try_into_panic() {
                    Ok(panic) => resume_unwind(panic),
                    Err(_) => Err("the runtime has ended".into()),
                })
            }
        }
    )* };
}

functions! {
    []
    [A]
    [A B]
    [A B C]
    [A B C D]
    [A B C D E]
    [A B C D E G]
    [A B C D E G H]
    [A B C D E G H I]
}

/// A return type of a [handler](Handler): `()` for success, an [`Outcome`], or a `Result` of these whose error converts into
/// [`HandlerError`]. Implement it for return types of your own.
///
/// ```
/// use sqs_buffered::{HandlerError, IntoOutcome, Outcome};
///
/// enum Cooked {
///     Served,
///     Burnt,
/// }
///
/// impl IntoOutcome for Cooked {
///     fn into_outcome(self) -> Result<Outcome, HandlerError> {
///         match self {
///             Self::Served => Ok(Outcome::Ack),
///             Self::Burnt => Err("burnt".into()),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a message handler cannot return `{Self}`",
    label = "not a handler's result",
    note = "a handler returns `()`, `Outcome`, or `Result<T, E>` where `T` is one of these and `E` converts into \
            `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoOutcome {
    /// Converts the returned value.
    ///
    /// # Errors
    /// The handler failed: the message is delivered again after the [back-off](crate::receive::back_off::BackOff).
    fn into_outcome(self) -> Result<Outcome, HandlerError>;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Result<Outcome, HandlerError> {
        Ok(Outcome::Ack)
    }
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Result<Outcome, HandlerError> {
        Ok(self)
    }
}

impl<T: IntoOutcome, E: Into<HandlerError>> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Result<Outcome, HandlerError> {
        self.map_err(Into::into)?.into_outcome()
    }
}

/// A handler in a separate task. Dropping it stops the handler at its next `.await`.
pub(crate) struct HandlerTask<T>(JoinHandle<Result<T, HandlerError>>);

/// Why a handler returned no outcome.
#[derive(Debug)]
pub(crate) enum HandlerFailure {
    Error(HandlerError),
    Panic(String),
    /// It took longer than this.
    TimedOut(Duration),
}

/// The error with its causes, and for the others a sentence.
impl fmt::Display for HandlerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => Causes(&**error).fmt(f),
            Self::Panic(text) => write!(f, "the handler panicked: {text}"),
            Self::TimedOut(timeout) => write!(f, "the handler took longer than {timeout:?}"),
        }
    }
}

impl<T: Send + 'static> HandlerTask<T> {
    /// Enters the span within the context. The task also calls the closure, because it may panic before it returns a
    /// future.
    pub(crate) fn spawn<R>(
        context: SenderContext,
        span: tracing::Span,
        handle: impl FnOnce() -> R + Send + 'static,
    ) -> Self
    where
        R: Future<Output = Result<T, HandlerError>> + Send,
    {
        Self(tokio::spawn(context.run(async move { handle().await }.instrument(span))))
    }
}

impl<T> HandlerTask<T> {
    /// Whether the task has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }

    /// Stops the task and waits until it has ended: a message must not be visible to others while its handler still
    /// runs. If the handler does not yield, it keeps running, and this waits until `until`. `None` unless the task
    /// ended by itself.
    pub(crate) async fn stop(&mut self, until: Instant) -> Option<Result<T, HandlerFailure>> {
        self.0.abort();
        let Ok(ended) = timeout_at(until, &mut self.0).await else {
            tracing::warn!("a stopped handler still runs because it does not yield");
            return None;
        };
        Some(ended).filter(|ended| !ended.as_ref().is_err_and(JoinError::is_cancelled)).map(result)
    }
}

impl<T> Future for HandlerTask<T> {
    type Output = Result<T, HandlerFailure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(result)
    }
}

impl<T> Drop for HandlerTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn result<T>(ended: Result<Result<T, HandlerError>, JoinError>) -> Result<T, HandlerFailure> {
    match ended {
        Ok(returned) => returned.map_err(HandlerFailure::Error),
        Err(error) => Err(HandlerFailure::Panic(match error.try_into_panic() {
            Ok(payload) => error::text(&*payload),
            Err(_) => "the runtime has ended".to_owned(),
        })),
    }
}

/// One attempt to handle a message under an idempotency key. [`Idempotent`](crate::consume::idempotent::Idempotent) makes one for each delivery
/// and passes it to its [store](crate::consume::idempotent::IdempotencyStore). A handler takes it as a parameter to complete the attempt in the
/// transaction of its own effect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    key: String,
    id: String,
}

impl Attempt {
    /// Creates an attempt under this key, with a new [`id`](Self::id).
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), id: random::uuid() }
    }

    /// The idempotency key: the same for all deliveries of a message.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A random UUID that identifies this attempt.
    pub fn id(&self) -> &str {
        &self.id
    }
}
