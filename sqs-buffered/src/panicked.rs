//! Panics of what others gave: the client below, subscribers, handlers.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use tracing::Span;

/// What a request panicked with.
#[derive(Debug)]
pub(crate) struct Panicked(String);

/// Does something whose panic ends it alone.
pub(crate) fn contained<T>(act: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| Panicked::of(&*panic))
}

/// Runs a future in a span. A panic ends it alone, be it of the future, also of one that is dropped when it has ended, or of
/// the subscriber.
pub(crate) async fn caught<F: Future>(span: Span, future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(Some(future));
    // It is not polled again after a panic.
    let ended = poll_fn(|context| {
        let polled = contained(|| {
            let _entered = span.enter();
            future.as_mut().as_pin_mut().map_or(Poll::Pending, |future| future.poll(context))
        });
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    })
    .await;
    discard(|| future.set(None));
    discard(|| drop(span));
    ended
}

/// Lets go of something that is not needed any more. That it panics changes nothing.
pub(crate) fn discard(drop_it: impl FnOnce()) {
    if let Err(panicked) = contained(drop_it) {
        panicked.log("what is left of a request panicked");
    }
}

/// The text of a panic.
pub(crate) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

impl Panicked {
    /// Also a subscriber may be what panics.
    pub(crate) fn log(&self, what: &str) {
        let _ = contained(|| tracing::error!(error = %self, "{what}"));
    }

    /// What the panic of a task says.
    pub(crate) fn of(panic: &(dyn Any + Send)) -> Self {
        Self(text(panic))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request panicked: {}", self.0)
    }
}

impl Error for Panicked {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("when it is dropped");
        }
    }

    /// Holds a bomb also when it has ended.
    struct Armed(Poll<u8>, Bomb);

    impl Future for Armed {
        type Output = u8;

        fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<u8> {
            self.0
        }
    }

    #[tokio::test]
    async fn what_a_future_gave_stands_though_it_panics_when_it_is_dropped() {
        assert_eq!(caught(Span::none(), Armed(Poll::Ready(7), Bomb)).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn future_that_panics_tells_the_text() {
        let told = async |payload: Box<dyn Any + Send>| {
            let broken = caught(Span::none(), async { std::panic::resume_unwind(payload) });
            let ended: Result<(), _> = broken.await;
            ended.unwrap_err().to_string()
        };
        assert_eq!(told(Box::new("tea")).await, "the request panicked: tea");
        assert_eq!(told(Box::new("tea".to_owned())).await, "the request panicked: tea");
        assert_eq!(told(Box::new(1)).await, "the request panicked: a panic without a text");
    }
}
