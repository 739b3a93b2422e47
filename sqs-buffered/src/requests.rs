//! The requests of a lane that are under way.
//!
//! A request that has the lane to itself is carried by the worker: each task that an answer goes through costs a lone sender
//! time. Requests beside others are tasks of their own, so that they are made on all cores.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{Id, JoinError, JoinSet};

use crate::error::{SendError, SendErrorKind};
use crate::lane::{Answer, Failure};

/// Requests under way, each with the number of its batch.
pub(crate) struct Requests<R> {
    carried: Option<(u64, Carried<R>)>,
    tasks: JoinSet<Answer<R>>,
    /// Which task has which batch.
    numbers: Vec<(Id, u64)>,
}

type Carried<R> = Pin<Box<dyn Future<Output = Answer<R>> + Send>>;

impl<R: Send + 'static> Requests<R> {
    pub(crate) fn new() -> Self {
        Self { carried: None, tasks: JoinSet::new(), numbers: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.carried.is_none() && self.tasks.is_empty()
    }

    /// Begins a request when nothing else is under way. It goes on while [`next`](Self::next) is awaited.
    pub(crate) fn carry(&mut self, number: u64, request: impl Future<Output = Answer<R>> + Send + 'static) {
        debug_assert!(self.is_empty(), "the worker carries one request");
        self.carried = Some((number, Box::pin(request)));
    }

    /// Begins a request as a task.
    pub(crate) fn spawn(&mut self, number: u64, request: impl Future<Output = Answer<R>> + Send + 'static) {
        let task = self.tasks.spawn(request);
        self.numbers.push((task.id(), number));
    }

    /// Gives up what is under way.
    pub(crate) fn abort(&mut self) {
        self.carried = None;
        self.tasks.abort_all();
    }

    /// The next answer, with the number of its batch; waits for ever when nothing is under way.
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn next(&mut self) -> (u64, Answer<R>) {
        poll_fn(|context| match self.poll_carried(context) {
            Poll::Pending => self.poll_tasks(context),
            done @ Poll::Ready(_) => done,
        })
        .await
    }

    fn poll_carried(&mut self, context: &mut Context<'_>) -> Poll<(u64, Answer<R>)> {
        let Some((number, request)) = &mut self.carried else { return Poll::Pending };
        let number = *number;
        let answer = match catch_unwind(AssertUnwindSafe(|| request.as_mut().poll(context))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(answer)) => answer,
            Err(panic) => Answer::Failed(Broken::of(&*panic).into()),
        };
        self.carried = None;
        Poll::Ready((number, answer))
    }

    fn poll_tasks(&mut self, context: &mut Context<'_>) -> Poll<(u64, Answer<R>)> {
        while let Poll::Ready(Some(done)) = self.tasks.poll_join_next_with_id(context) {
            let (id, answer) = match done {
                Ok((id, answer)) => (id, answer),
                Err(error) => (error.id(), Answer::Failed(Broken::from(error).into())),
            };
            if let Some(index) = self.numbers.iter().position(|(task, _)| *task == id) {
                return Poll::Ready((self.numbers.swap_remove(index).1, answer));
            }
        }
        Poll::Pending
    }
}

/// Why a request has no answer.
#[derive(Debug)]
enum Broken {
    Panicked(String),
    GivenUp,
}

impl Broken {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        Self::Panicked(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default())
    }
}

impl From<JoinError> for Broken {
    fn from(error: JoinError) -> Self {
        error.try_into_panic().map_or(Self::GivenUp, |panic| Self::of(&*panic))
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(text) => write!(f, "the request panicked: {text}"),
            Self::GivenUp => f.write_str("the request was given up"),
        }
    }
}

impl Error for Broken {}

/// Nobody knows what came of the request.
impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        if matches!(broken, Broken::Panicked(_)) {
            tracing::error!(error = %broken, "a request of a batch broke");
        }
        let error = SendError::new(SendErrorKind::Request).caused_by(broken);
        Self { error, is_retryable: true, is_throttle: false, is_outcome_unknown: true }
    }
}
