//! Panics of the client below.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

/// What a future panicked with.
#[derive(Debug)]
pub(crate) struct Panicked(String);

/// Runs a future, whose panic ends it alone.
pub(crate) async fn caught<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    // It is not polled again after a panic.
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Err(Panicked::of(&*panic)).into(),
    })
    .await
}

impl Panicked {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        Self(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default())
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request panicked: {}", self.0)
    }
}

impl Error for Panicked {}
