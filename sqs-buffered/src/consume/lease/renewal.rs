//! The task that renews the leases of one receiver, and releases messages that were dropped without an outcome.
//!
//! ```text
//! receive -> open -> table --due--> change of visibility (batched lane) --> table: renewed | lost -> handles
//! delivery dropped without an outcome -> abandon -> change of visibility to 0 -> credit returned
//! ```

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::Execute;
use tokio::time::{Instant, sleep_until};

use super::leases::{Abandoned, Leases, Outlook, Renewal};
use super::schedule::Schedule;
use super::state::Due;
use crate::consume::observe::Settled;
use crate::consume::source::Source;
use crate::consume::stop::Stop;
use crate::produce::SendError;

/// The renewal task. It ends when no more messages arrive and all messages are settled.
pub(crate) async fn renew_leases<H: Execute>(leases: Arc<Leases>, source: Source<H>, stop: Stop) {
    let mut guard = RenewalGuard { leases: Arc::clone(&leases), stop, is_finished: false };
    let mut renewals = FuturesUnordered::new();
    let mut returns = FuturesUnordered::new();
    loop {
        let now = Instant::now();
        let (due, abandoned) = leases.due(now);
        for due in due {
            match due {
                Due::Renew(seconds, held) => {
                    renewals.push(renew(&leases, &source, Renewal { held, asked: now, seconds }));
                }
                Due::Served(held) => held.changed.notify_waiters(),
                Due::Lost(held) => leases.lost(&held),
            }
        }
        returns.extend(abandoned.into_iter().map(|abandoned| give_back(&leases, &source, abandoned)));
        let until = match leases.outlook() {
            Outlook::Over if returns.is_empty() => {
                guard.is_finished = true;
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
            Some((renewal, result)) = renewals.next() => leases.renewed(&renewal, &result),
            Some(()) = returns.next() => {}
            () = leases.woken.notified() => {}
            () = pause => {}
        }
    }
}

/// Drop guard: when the task ends unexpectedly, all leases are lost, because nothing renews them.
struct RenewalGuard {
    leases: Arc<Leases>,
    stop: Stop,
    is_finished: bool,
}

impl Drop for RenewalGuard {
    fn drop(&mut self) {
        if !self.is_finished {
            self.stop.finish();
            self.leases.lose_all();
        }
    }
}

async fn renew<H: Execute>(
    leases: &Leases,
    source: &Source<H>,
    renewal: Renewal,
) -> (Renewal, Result<(), SendError>) {
    // A message that was settled meanwhile must not be hidden again. This change would replace the pending one.
    let Some(term) = leases.term(renewal.held.number) else { return (renewal, Ok(())) };
    let give_up = Schedule::give_up_at(renewal.asked, term.deadline);
    let result = source.hide(&renewal.held.receipt_handle, renewal.seconds, give_up).await;
    (renewal, result)
}

async fn give_back<H: Execute>(leases: &Leases, source: &Source<H>, abandoned: Abandoned) {
    let Abandoned { message_id, receipt_handle, received, credit, delay, until, maybe_gone } = abandoned;
    let result = source.delay(&receipt_handle, delay, until).await;
    // The observer has counted and reported a failure.
    let _ = leases.observer.given_back((&message_id, received), (Settled::Returned, maybe_gone), result);
    drop(credit);
    leases.settled();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;

    use super::super::handle::Lease;
    use super::*;
    use crate::consume::observe::Observer;
    use crate::produce::BufferedClient;

    #[tokio::test(start_paused = true)]
    async fn leases_are_lost_and_receiving_ends_when_the_renewal_task_ends() {
        let client = BufferedClient::new(MockSqs::in_process().client());
        let source = Source { client, url: "http://localhost/000000000000/jobs".into() };
        let schedule = Schedule::new(30, Duration::from_secs(3_600));
        let (leases, stop) =
            (Arc::new(Leases::new(schedule, Arc::new(Observer::new("q", None)))), Stop::new());
        let task = tokio::spawn(renew_leases(Arc::clone(&leases), source, stop.clone()));
        let open = || Lease::open(&leases, Instant::now(), vec![("id".into(), "handle".into())]).remove(0);
        let lease = open();
        tokio::task::yield_now().await;
        assert!(!lease.is_lost() && !stop.is_finishing());
        task.abort();
        assert!(task.await.is_err());
        lease.lost().await;
        assert!(lease.refresh().await.is_err() && lease.extend(Duration::from_secs(60)).await.is_err());
        assert!(stop.is_finishing());
        assert!(open().is_lost(), "new leases are lost, too");
    }
}
