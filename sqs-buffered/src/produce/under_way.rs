//! The requests of a lane that are under way.
//!
//! A small request that has the lane to itself is carried by the worker: each task that an answer goes through costs a lone
//! sender time. Large ones, and those beside others, are tasks of their own, so that they are made on all cores.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{Id, JoinError, JoinSet};

use crate::panicked::{Panicked, contained, discard};

/// Requests under way, each with the number of its batch. `D` is what they give when they are done.
pub(crate) struct UnderWay<D> {
    carried: Option<(u64, Carried<D>)>,
    tasks: JoinSet<D>,
    /// Which task has which batch.
    numbers: Vec<(Id, u64)>,
}

/// Why a request gives nothing.
#[derive(Debug)]
pub(crate) enum Lost {
    /// It was given up, or its runtime ends.
    Stopped,
    Panicked(Panicked),
}

type Carried<D> = Pin<Box<dyn Future<Output = D> + Send>>;

impl<D: Send + 'static> UnderWay<D> {
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
        self.let_go();
        self.tasks.abort_all();
    }

    /// The next that has ended, with the number of its batch; waits for ever when nothing is under way.
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn next(&mut self) -> (u64, Result<D, Lost>) {
        poll_fn(|context| match self.poll_carried(context) {
            Poll::Pending => self.poll_tasks(context),
            ended @ Poll::Ready(_) => ended,
        })
        .await
    }

    /// A panic does to the worker what it would do to it from a task: nothing.
    fn poll_carried(&mut self, context: &mut Context<'_>) -> Poll<(u64, Result<D, Lost>)> {
        let Some((number, request)) = &mut self.carried else { return Poll::Pending };
        let number = *number;
        let done = match contained(|| request.as_mut().poll(context)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(done)) => Ok(done),
            Err(panicked) => Err(Lost::Panicked(panicked)),
        };
        self.let_go();
        Poll::Ready((number, done))
    }

    fn let_go(&mut self) {
        let carried = self.carried.take();
        discard(|| drop(carried));
    }

    fn poll_tasks(&mut self, context: &mut Context<'_>) -> Poll<(u64, Result<D, Lost>)> {
        while let Poll::Ready(Some(done)) = self.tasks.poll_join_next_with_id(context) {
            let (id, done) = match done {
                Ok((id, done)) => (id, Ok(done)),
                Err(error) => (error.id(), Err(error.into())),
            };
            if let Some(index) = self.numbers.iter().position(|(task, _)| *task == id) {
                return Poll::Ready((self.numbers.swap_remove(index).1, done));
            }
        }
        Poll::Pending
    }
}

impl From<JoinError> for Lost {
    fn from(error: JoinError) -> Self {
        error.try_into_panic().map_or(Self::Stopped, |panic| Self::Panicked(Panicked::of(&*panic)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    /// Panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("when it is dropped");
        }
    }

    /// A request of each kind beside others: the first is carried.
    fn three(under_way: &mut UnderWay<&'static str>) -> [oneshot::Sender<&'static str>; 3] {
        std::array::from_fn(|number| {
            let (end, ended) = oneshot::channel();
            let request = async { ended.await.unwrap() };
            match number {
                0 => under_way.carry(0, request),
                number => under_way.spawn(number as u64, request),
            }
            end
        })
    }

    fn panicked<D: std::fmt::Debug>((number, ended): (u64, Result<D, Lost>)) -> (u64, String) {
        let Err(Lost::Panicked(panicked)) = ended else { panic!("{ended:?}") };
        (number, panicked.to_string())
    }

    #[tokio::test]
    async fn each_gives_what_is_its_own_in_whatever_order_they_end() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
            let mut under_way = UnderWay::new();
            let mut ends = three(&mut under_way).map(Some);
            for number in order {
                ends[number].take().unwrap().send(["a", "b", "c"][number]).unwrap();
                let (ended, given) = under_way.next().await;
                assert_eq!((ended, given.unwrap()), (number as u64, ["a", "b", "c"][number]));
            }
            assert!(under_way.is_empty() && under_way.numbers.is_empty());
        }
    }

    #[tokio::test]
    async fn nothing_is_lost_when_next_is_dropped() {
        let mut under_way = UnderWay::new();
        let ends = three(&mut under_way);
        for _ in 0..3 {
            assert!(under_way.next().now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        for end in ends {
            end.send("done").unwrap();
        }
        tokio::task::yield_now().await;
        let mut ended = Vec::new();
        while let Some((number, given)) = under_way.next().now_or_never() {
            ended.push((number, given.unwrap()));
        }
        ended.sort_unstable();
        assert_eq!(ended, [(0, "done"), (1, "done"), (2, "done")]);
    }

    #[tokio::test(start_paused = true)]
    async fn abort_ends_what_is_carried_and_all_tasks() {
        let (mut under_way, alive) = (UnderWay::<()>::new(), Arc::new(()));
        let request = |alive: &Arc<()>| {
            let alive = Arc::clone(alive);
            async move {
                std::future::pending::<()>().await;
                drop(alive);
            }
        };
        under_way.carry(0, request(&alive));
        under_way.spawn(1, request(&alive));
        under_way.spawn(2, request(&alive));
        assert!(under_way.next().now_or_never().is_none());
        under_way.abort();
        let mut stopped = Vec::new();
        while !under_way.is_empty() {
            let next = timeout(Duration::from_secs(1), under_way.next()).await;
            let (number, ended) = next.expect("it was given up");
            assert!(matches!(ended, Err(Lost::Stopped)), "{ended:?}");
            stopped.push(number);
        }
        stopped.sort_unstable();
        assert_eq!((stopped, Arc::strong_count(&alive)), (vec![1, 2], 1));
    }

    #[tokio::test]
    async fn panic_ends_its_own_request_and_says_which() {
        let mut under_way = UnderWay::<()>::new();
        under_way.carry(7, async { panic!("carried") });
        under_way.spawn(8, async { panic!("in a task") });
        assert_eq!(panicked(under_way.next().await), (7, "the request panicked: carried".to_owned()));
        assert_eq!(panicked(under_way.next().await), (8, "the request panicked: in a task".to_owned()));
        assert!(under_way.is_empty());
    }

    #[tokio::test]
    async fn request_that_panics_when_it_is_given_up_harms_nothing() {
        let mut under_way = UnderWay::<()>::new();
        let request = || {
            let bomb = Bomb;
            async move {
                std::future::pending::<()>().await;
                drop(bomb);
            }
        };
        under_way.carry(0, request());
        under_way.spawn(1, request());
        assert!(under_way.next().now_or_never().is_none());
        under_way.abort();
        // To tokio, a task that panics when it is stopped was stopped or has panicked.
        assert!(matches!(under_way.next().await, (1, Err(_))));
        assert!(under_way.is_empty());
    }
}
