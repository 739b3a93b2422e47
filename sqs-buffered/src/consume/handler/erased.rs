//! A type-erased handler.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqs_client::types::Message;

use super::context::MessageContext;
use super::function::Handler;
use crate::consume::lease::Lease;
use crate::consume::outcome::{HandlerError, Outcome};

type Handling = BoxFuture<'static, Result<Outcome, HandlerError>>;

/// A handler of any type, with its state.
#[derive(Clone)]
pub(crate) struct AnyHandler(Arc<dyn Fn(MessageContext) -> Handling + Send + Sync>);

impl AnyHandler {
    pub(crate) fn new<A, S, F>(handler: F, state: S) -> Self
    where
        F: Handler<A, S>,
        S: Send + Sync + 'static,
    {
        let shared = Arc::new((handler, state));
        Self(Arc::new(move |context| {
            let shared = Arc::clone(&shared);
            Box::pin(async move { shared.0.call(context, &shared.1).await })
        }))
    }

    /// Wraps a function of message and lease. Its parameter types are fixed, so closures need no annotations.
    pub(crate) fn of_messages<F, R>(handler: F) -> Self
    where
        F: Fn(Arc<Message>, Lease) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome, HandlerError>> + Send + 'static,
    {
        Self(Arc::new(move |context| match context.lease().cloned() {
            Some(lease) => Box::pin(handler(Arc::clone(context.message()), lease)),
            None => Box::pin(async { Err("the message has no lease".into()) }),
        }))
    }

    pub(crate) fn call(&self, context: MessageContext) -> Handling {
        (self.0)(context)
    }
}

impl fmt::Debug for AnyHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyHandler")
    }
}
