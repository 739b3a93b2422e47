//! The requests of a lane that are under way.
//!
//! A request that has the lane to itself is carried by the worker: each task that an answer goes through costs a lone sender
//! time. Requests beside others are tasks of their own, so that they are made on all cores.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{Id, JoinSet};

/// Requests under way, each with the number of its batch. `D` is what they give when they are done.
pub(crate) struct Requests<D> {
    carried: Option<(u64, Carried<D>)>,
    tasks: JoinSet<D>,
    /// Which task has which batch.
    numbers: Vec<(Id, u64)>,
}

type Carried<D> = Pin<Box<dyn Future<Output = D> + Send>>;

impl<D: Send + 'static> Requests<D> {
    pub(crate) fn new() -> Self {
        Self { carried: None, tasks: JoinSet::new(), numbers: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.carried.is_none() && self.tasks.is_empty()
    }

    /// Begins a request when nothing else is under way. It goes on while [`next`](Self::next) is awaited.
    pub(crate) fn carry(&mut self, number: u64, request: impl Future<Output = D> + Send + 'static) {
        debug_assert!(self.is_empty(), "the worker carries one request");
        self.carried = Some((number, Box::pin(request)));
    }

    /// Begins a request as a task.
    pub(crate) fn spawn(&mut self, number: u64, request: impl Future<Output = D> + Send + 'static) {
        let task = self.tasks.spawn(request);
        self.numbers.push((task.id(), number));
    }

    /// Gives up what is under way.
    pub(crate) fn abort(&mut self) {
        self.carried = None;
        self.tasks.abort_all();
    }

    /// The next that is done, with the number of its batch; waits for ever when nothing is under way. `None` is a task that
    /// was given up or broke: it gives nothing any more.
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn next(&mut self) -> (u64, Option<D>) {
        poll_fn(|context| match self.poll_carried(context) {
            Poll::Pending => self.poll_tasks(context),
            Poll::Ready((number, done)) => Poll::Ready((number, Some(done))),
        })
        .await
    }

    fn poll_carried(&mut self, context: &mut Context<'_>) -> Poll<(u64, D)> {
        let Some((number, request)) = &mut self.carried else { return Poll::Pending };
        let done = std::task::ready!(request.as_mut().poll(context));
        let number = *number;
        self.carried = None;
        Poll::Ready((number, done))
    }

    fn poll_tasks(&mut self, context: &mut Context<'_>) -> Poll<(u64, Option<D>)> {
        while let Poll::Ready(Some(done)) = self.tasks.poll_join_next_with_id(context) {
            let (id, done) = match done {
                Ok((id, done)) => (id, Some(done)),
                Err(error) => (error.id(), None),
            };
            if let Some(index) = self.numbers.iter().position(|(task, _)| *task == id) {
                return Poll::Ready((self.numbers.swap_remove(index).1, done));
            }
        }
        Poll::Pending
    }
}
