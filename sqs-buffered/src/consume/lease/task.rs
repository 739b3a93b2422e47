//! The task that keeps the leases of one receiver: it renews them, and gives back what was abandoned.
//!
//! ```text
//! receive -> open -> book --due--> change of visibility (batched lane) --> book: renewed | lost -> who waits
//! delivery dropped without an outcome -> abandon -> change of visibility to 0 -> credit returned
//! ```

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::Execute;
use tokio::time::{Instant, sleep_until};

use super::keeper::{Abandoned, Keeper, Outlook};
use super::lease::Held;
use super::{Due, Schedule};
use crate::consume::receive::{Settled, Source, Stop};
use crate::produce::SendError;

/// A renewal under way.
pub(super) struct Renewal {
    pub(super) held: Arc<Held>,
    pub(super) asked: Instant,
    pub(super) seconds: u32,
}

/// The task. It ends when the keeper is closed and every message is settled.
pub(crate) async fn keep<H: Execute>(keeper: Arc<Keeper>, source: Source<H>, stop: Stop) {
    let mut will = Will { keeper: Arc::clone(&keeper), stop, is_void: false };
    let mut renewals = FuturesUnordered::new();
    let mut returns = FuturesUnordered::new();
    loop {
        let now = Instant::now();
        let (due, abandoned) = keeper.due(now);
        for due in due {
            match due {
                Due::Renew(seconds, held) => renewals.push(renew(&source, held, now, seconds)),
                Due::Served(held) => held.changed.notify_waiters(),
                Due::Lost(held) => keeper.lost(&held),
            }
        }
        returns.extend(abandoned.into_iter().map(|abandoned| give_back(&keeper, &source, abandoned)));
        let until = match keeper.outlook() {
            Outlook::Over if returns.is_empty() => {
                will.is_void = true;
                return;
            }
            Outlook::Over => None,
            Outlook::Until(until) => until,
        };
        let pause = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some((renewal, result)) = renewals.next() => keeper.renewed(&renewal, &result),
            Some(()) = returns.next() => {}
            () = keeper.woken.notified() => {}
            () = pause => {}
        }
    }
}

/// What is to be done when the task ends before its time: nobody keeps leases any more, so none is to be relied on.
struct Will {
    keeper: Arc<Keeper>,
    stop: Stop,
    is_void: bool,
}

impl Drop for Will {
    fn drop(&mut self) {
        if !self.is_void {
            self.stop.finish();
            self.keeper.bury();
        }
    }
}

async fn renew<H: Execute>(
    source: &Source<H>,
    held: Arc<Held>,
    asked: Instant,
    seconds: u32,
) -> (Renewal, Result<(), SendError>) {
    // What has ended meanwhile is not hidden again: its own request may wait, and this would become one with it.
    let Some(term) = held.keeper.term(held.number) else { return (Renewal { held, asked, seconds }, Ok(())) };
    let result = source.hide(&held.receipt_handle, seconds, Schedule::give_up_at(asked, term.deadline)).await;
    (Renewal { held, asked, seconds }, result)
}

async fn give_back<H: Execute>(keeper: &Keeper, source: &Source<H>, abandoned: Abandoned) {
    let Abandoned { lease, credit, delay, until, maybe_gone } = abandoned;
    let result = source.delay(lease.receipt_handle(), delay, until).await;
    // It is told where it is counted; nobody waits for it.
    let _ = keeper.monitor.given_back(&lease, (Settled::Returned, maybe_gone), result);
    drop(credit);
    keeper.settled();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;

    use super::*;
    use crate::produce::BufferedClient;

    #[tokio::test(start_paused = true)]
    async fn leases_that_nobody_keeps_any_more_are_lost_and_receiving_ends() {
        let client = BufferedClient::new(MockSqs::in_process().client());
        let source = Source { client, url: "http://localhost/000000000000/jobs".into() };
        let schedule = Schedule::new(30, Duration::from_secs(3_600));
        let (keeper, stop) = (Arc::new(Keeper::new(schedule, Arc::default())), Stop::new());
        let task = tokio::spawn(keep(Arc::clone(&keeper), source, stop.clone()));
        let open = || keeper.open(Instant::now(), &[("id".into(), "handle".into())]).remove(0);
        let lease = open();
        tokio::task::yield_now().await;
        assert!(!lease.is_lost() && !stop.is_finishing());
        task.abort();
        assert!(task.await.is_err());
        lease.lost().await;
        assert!(lease.freshen().await.is_err() && lease.extend(Duration::from_secs(60)).await.is_err());
        assert!(stop.is_finishing());
        assert!(open().is_lost(), "also what comes later");
    }
}
