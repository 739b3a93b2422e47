//! Functions as handlers.

use super::context::MessageContext;
use super::extract::FromMessage;
use super::into_outcome::IntoOutcome;
use crate::consume::outcome::{HandlerError, Outcome};

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
}

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
