//! A type-erased batch handler.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::function::BatchHandler;
use crate::consume::handler::context::MessageContext;
use crate::consume::outcome::{HandlerError, Outcome};

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
