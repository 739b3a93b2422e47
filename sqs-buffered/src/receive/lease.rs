//! Leases: how long a received message stays hidden from others, and the task that renews them.
//!
//! ```text
//! receive -> open -> table --due--> change of visibility (batched lane) --> table: renewed | lost -> handles
//! delivery dropped without an outcome -> abandon -> change of visibility to 0 -> place returned
//!
//! Lease (handle) --+
//!                  +--> Leases (lock) --> LeaseTable (pure)
//! renewal task ----+
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use sqs_client::client::Execute;
use sqs_client::random;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::error::{SendError, SendErrorKind};
use crate::observe::receives::{Observer, ReceiveEvent, Settled};
use crate::receive::credits::Credit;
use crate::receive::lease_table::{Due, LeaseOver, LeaseTable, LeaseTerm, Number, Renewed, Schedule};
use crate::receive::pump::{Source, Stop};

/// The time for which a received message is hidden from other consumers.
///
/// It is renewed in the background until the message is settled. If that fails, the lease is lost: another consumer may have
/// the message. Then nothing more is done by its receipt handle, and its handler should stop. Clones share the lease.
///
/// ```
/// use sqs_buffered::{HandlerError, Lease, Outcome};
///
/// async fn cook(lease: Lease) -> Result<Outcome, HandlerError> {
///     tokio::select! {
///         () = tokio::time::sleep(std::time::Duration::from_secs(90)) => Ok(Outcome::Ack), // the work
///         () = lease.lost() => Err("another consumer may have the order".into()),
///     }
/// }
/// # let _ = cook;
/// ```
///
/// # Cancel safety
/// You can drop its futures at any time.
#[derive(Clone)]
pub struct Lease {
    held: Arc<Held>,
    leases: Arc<Leases>,
}

impl Lease {
    /// Opens the leases of messages, given by id and receipt handle, whose response arrived at `now`.
    pub(crate) fn open(leases: &Arc<Leases>, now: Instant, messages: Vec<(Arc<str>, Arc<str>)>) -> Vec<Self> {
        let opened = leases.open(now, messages).into_iter();
        opened.map(|held| Self { held, leases: Arc::clone(leases) }).collect()
    }

    /// The receipt handle of this delivery.
    pub fn receipt_handle(&self) -> &str {
        &self.held.receipt_handle
    }

    /// Whether the lease is lost. Then stop work that must not be done twice.
    pub fn is_lost(&self) -> bool {
        self.held.is_lost()
    }

    /// Waits until the lease is lost. If it is never lost, this waits forever.
    pub async fn lost(&self) {
        self.until(|| self.is_lost().then_some(())).await;
    }

    /// The end of the current lease; renewals extend it. `None` if the lease is lost or the message is settled.
    pub fn deadline(&self) -> Option<Instant> {
        self.leases.term(self.held.number).map(|term| term.deadline)
    }

    /// Extends the lease to at least this long from now, even beyond the `max_lease` of the consumer or receiver.
    /// Returns the usable time. It is up to 2 seconds shorter, as a safety margin, and ends at most 12 hours after the
    /// receive.
    ///
    /// # Errors
    /// The lease is lost, was lost before the extension, or the message is settled.
    ///
    /// # Cancel safety
    /// If the future is dropped, the lease may still be extended.
    pub async fn extend(&self, duration: Duration) -> Result<Duration, LeaseOver> {
        let (leases, number) = (&self.leases, self.held.number);
        let request = leases.extend(number, duration).ok_or(LeaseOver)?;
        let deadline = self.until(|| leases.granted(number, request).transpose()).await?;
        Ok(deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits until enough time is left for a handler to start. An error if that cannot be: the lease is lost, or is not renewed any
    /// more (`max_lease`).
    pub(crate) async fn refresh(&self) -> Result<(), LeaseOver> {
        self.until(|| match self.leases.refresh(self.held.number) {
            None => Some(Err(LeaseOver)),
            Some(is_fresh) => is_fresh.then_some(Ok(())),
        })
        .await
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.leases.refresh(self.held.number) == Some(true)
    }

    /// Whether a handler may start, now or after a renewal.
    pub(crate) fn may_start(&self) -> bool {
        self.leases.refresh(self.held.number).is_some()
    }

    /// Ends the renewal of the lease, and returns its term.
    pub(crate) fn end(&self) -> Result<LeaseTerm, LeaseOver> {
        self.leases.end(&self.held)
    }

    /// Marks the lease as lost.
    pub(crate) fn forget(&self) {
        if self.end().is_ok() {
            self.leases.lost(&self.held);
        }
    }

    pub(crate) fn message_id(&self) -> &Arc<str> {
        &self.held.message_id
    }

    /// The time of the receive.
    pub(crate) fn received(&self) -> Instant {
        self.held.received
    }

    async fn until<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.held.changed.notified());
            // Listening starts before the check, so that no change in between is missed.
            changed.as_mut().enable();
            if let Some(result) = check() {
                return result;
            }
            changed.await;
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("message_id", &self.held.message_id)
            .field("is_lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}

/// The lease of one message, shared by its handles and the table.
pub(crate) struct Held {
    pub(crate) number: Number,
    pub(crate) receipt_handle: Arc<str>,
    pub(crate) message_id: Arc<str>,
    /// The time of the receive.
    pub(crate) received: Instant,
    is_lost: AtomicBool,
    /// Whether it must not be renewed any more: it is lost, or the message is settled.
    pub(crate) is_over: Arc<AtomicBool>,
    /// Renewals and the loss of the lease wake all waiting tasks.
    changed: Notify,
}

impl Held {
    pub(crate) fn new(
        number: Number,
        message_id: Arc<str>,
        receipt_handle: Arc<str>,
        received: Instant,
    ) -> Self {
        let (is_lost, is_over, changed) = (AtomicBool::new(false), Arc::default(), Notify::new());
        Self { number, receipt_handle, message_id, received, is_lost, is_over, changed }
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Marks the lease as lost. Returns whether it was not lost before.
    fn lose(&self) -> bool {
        self.is_over.store(true, Ordering::Release);
        let is_news = !self.is_lost.swap(true, Ordering::AcqRel);
        self.changed.notify_waiters();
        is_news
    }
}

/// The leases of one receiver. The lock is held for a few instructions, never while waiting or calling a hook.
pub(crate) struct Leases {
    state: Mutex<State>,
    /// Wakes the renewal task.
    pub(crate) woken: Notify,
    pub(crate) observer: Arc<Observer>,
}

struct State {
    table: LeaseTable<Arc<Held>>,
    abandoned: Vec<Abandoned>,
    /// Messages that are not settled.
    open: usize,
    /// Whether no more messages arrive.
    is_closing: bool,
    /// Whether the renewal task has ended.
    is_dead: bool,
}

/// A message that the renewal task gives back, with the credit that it occupies until then.
pub(crate) struct Abandoned {
    pub(crate) message_id: Arc<str>,
    pub(crate) receipt_handle: Arc<str>,
    pub(crate) received: Instant,
    pub(crate) credit: Credit,
    /// How long the message stays hidden; usually not at all.
    pub(crate) delay: Duration,
    /// When the message becomes visible by itself; giving it back is retried until then.
    pub(crate) until: Instant,
    /// How the delivery counts if the message turns out to be deleted.
    pub(crate) maybe_gone: Option<Settled>,
}

/// What the renewal task does next.
enum Outlook {
    /// All messages are settled, and no more arrive.
    Over,
    /// Wait until this time, if there is one, or until woken.
    Until(Option<Instant>),
}

/// A running renewal.
pub(crate) struct Renewal {
    pub(crate) held: Arc<Held>,
    asked: Instant,
    pub(crate) seconds: u32,
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("open", &self.state.lock().open).finish_non_exhaustive()
    }
}

/// For the receiving side.
impl Leases {
    pub(crate) fn new(schedule: Schedule, observer: Arc<Observer>) -> Self {
        let table = LeaseTable::new(schedule);
        let state = State { table, abandoned: Vec::new(), open: 0, is_closing: false, is_dead: false };
        Self { state: Mutex::new(state), woken: Notify::new(), observer }
    }

    /// Opens the leases of messages, given by id and receipt handle, whose response arrived at `now`.
    pub(crate) fn open(&self, now: Instant, messages: Vec<(Arc<str>, Arc<str>)>) -> Vec<Arc<Held>> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.open += messages.len();
        let open = |(message_id, receipt_handle)| {
            let held = |number| Arc::new(Held::new(number, message_id, receipt_handle, now));
            state.table.open(now, held, random::unit())
        };
        let opened = messages.into_iter().map(open).collect();
        let is_dead = state.is_dead;
        self.woken.notify_one();
        drop(guard);
        if is_dead {
            self.lose_all();
        }
        opened
    }

    /// A message is settled.
    pub(crate) fn settled(&self) {
        let mut state = self.state.lock();
        state.open = state.open.saturating_sub(1);
        if state.is_closing {
            self.woken.notify_one();
        }
    }

    /// Gives a message back in the background.
    pub(crate) fn abandon(&self, abandoned: Abandoned) {
        let mut state = self.state.lock();
        if state.is_dead {
            // The message becomes visible when its visibility timeout is over.
            return;
        }
        state.abandoned.push(abandoned);
        self.woken.notify_one();
    }

    /// No more messages arrive: the renewal task ends when the last one is settled.
    pub(crate) fn close(&self) {
        self.state.lock().is_closing = true;
        self.woken.notify_one();
    }
}

/// For handles.
impl Leases {
    pub(crate) fn term(&self, number: Number) -> Option<LeaseTerm> {
        self.state.lock().table.term(number)
    }

    pub(crate) fn extend(&self, number: Number, wanted: Duration) -> Option<u64> {
        let request = self.state.lock().table.extend(number, wanted, Instant::now());
        self.woken.notify_one();
        request
    }

    pub(crate) fn granted(&self, number: Number, request: u64) -> Result<Option<Instant>, LeaseOver> {
        self.state.lock().table.granted(number, request)
    }

    pub(crate) fn refresh(&self, number: Number) -> Option<bool> {
        let is_fresh = self.state.lock().table.refresh(number, Instant::now());
        if is_fresh == Some(false) {
            self.woken.notify_one();
        }
        is_fresh
    }

    pub(crate) fn end(&self, held: &Held) -> Result<LeaseTerm, LeaseOver> {
        let now = Instant::now();
        held.is_over.store(true, Ordering::Release);
        // The lock is released before others are called.
        let ended = self.state.lock().table.end(held.number, now);
        let Some(term) = ended else {
            self.lost(held);
            return Err(LeaseOver);
        };
        held.changed.notify_waiters();
        Ok(term)
    }

    /// Reports that a lease is lost, once.
    fn lost(&self, held: &Held) {
        if held.lose() {
            let (message_id, age) = (&*held.message_id, held.received.elapsed());
            self.observer.report(&ReceiveEvent::LeaseLost { message_id, age });
        }
    }
}

/// For the renewal task.
impl Leases {
    pub(crate) fn due(&self, now: Instant) -> (Vec<Due<Arc<Held>>>, Vec<Abandoned>) {
        let mut state = self.state.lock();
        (state.table.due(now), std::mem::take(&mut state.abandoned))
    }

    pub(crate) fn renewed(&self, renewal: &Renewal, result: &Result<(), SendError>) {
        let verdict = match result {
            Ok(()) => Renewed::Done,
            Err(error) if is_refusal(error) => Renewed::Refused,
            // The message is settled: nobody needs the renewal.
            Err(_) if renewal.held.is_over.load(Ordering::Acquire) => Renewed::Failed,
            Err(error) => {
                let message_id = &*renewal.held.message_id;
                self.observer.report(&ReceiveEvent::RenewalFailed { message_id, error });
                Renewed::Failed
            }
        };
        let asked = (renewal.asked, renewal.seconds);
        let (number, now) = (renewal.held.number, Instant::now());
        let lost = self.state.lock().table.renewed(number, asked, verdict, now, random::unit());
        match lost {
            Some(held) => self.lost(&held),
            None => renewal.held.changed.notify_waiters(),
        }
    }

    fn outlook(&self) -> Outlook {
        let state = self.state.lock();
        if state.is_closing && state.open == 0 && state.abandoned.is_empty() {
            return Outlook::Over;
        }
        Outlook::Until(state.table.next_look())
    }

    /// The renewal task has ended, so all leases are lost.
    fn lose_all(&self) {
        let (leases, abandoned) = {
            let mut state = self.state.lock();
            state.is_dead = true;
            (state.table.clear(), std::mem::take(&mut state.abandoned))
        };
        for held in &leases {
            self.lost(held);
        }
        drop(abandoned);
    }
}

/// Whether SQS refused the renewal for good, as opposed to a transient failure.
fn is_refusal(error: &SendError) -> bool {
    match error.kind() {
        SendErrorKind::LeaseLost | SendErrorKind::Invalid => true,
        SendErrorKind::Rejected => !error.is_retryable(),
        _ => false,
    }
}

/// How late the renewal task wakes if its runtime was blocked.
const LATE: Duration = Duration::from_secs(1);

/// How often that is logged at most.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Logs that the runtime was blocked, so that leases may end.
struct Stalls {
    logged: Option<Instant>,
}

impl Stalls {
    fn note<H: Execute>(&mut self, now: Instant, until: Instant, source: &Source<H>) {
        let late = now.saturating_duration_since(until);
        if late < LATE || self.logged.is_some_and(|logged| now < logged + LOG_INTERVAL) {
            return;
        }
        self.logged = Some(now);
        let queue_url = &*source.url;
        tracing::warn!(
            ?late,
            queue_url,
            "the runtime was blocked, and leases were not renewed; use `spawn_blocking`, or set `renewal_thread`"
        );
    }
}

/// The renewal task. It ends when no more messages arrive and all messages are settled.
pub(crate) async fn renew_leases<H: Execute>(leases: Arc<Leases>, source: Source<H>, stop: Stop) {
    let mut guard = RenewalGuard { leases: Arc::clone(&leases), stop, is_finished: false };
    let mut stalls = Stalls { logged: None };
    let mut renewals = FuturesUnordered::new();
    let mut returns = FuturesUnordered::new();
    let mut planned: Option<Instant> = None;
    loop {
        let now = Instant::now();
        if let Some(planned) = planned {
            stalls.note(now, planned, &source);
        }
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
        planned = until;
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
    let Some(term) = leases.term(renewal.held.number) else { return (renewal, Ok(())) };
    let give_up = Schedule::give_up_at(renewal.asked, term.deadline);
    let result = source.renew(&renewal.held, renewal.seconds, give_up).await;
    (renewal, result)
}

async fn give_back<H: Execute>(leases: &Leases, source: &Source<H>, abandoned: Abandoned) {
    let Abandoned { message_id, receipt_handle, received, credit, delay, until, maybe_gone } = abandoned;
    let result = source.delay(&receipt_handle, delay, until).await;
    // The observer has counted and reported a failure.
    let (message, how) = ((&*message_id, received), (Settled::Returned, maybe_gone));
    let _ = leases.observer.given_back(message, how, (delay, until), result);
    drop(credit);
    leases.settled();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqs_mock_server::MockSqs;

    use super::*;
    use crate::client::BufferedClient;
    use crate::observe::receives::Observer;
    use crate::settings::Linger;

    #[tokio::test(start_paused = true)]
    async fn renewal_of_an_ended_lease_does_not_hide_its_message_again() {
        let server = MockSqs::in_process();
        let base = server.client();
        let url = base.create_queue().queue_name("jobs").send().await.unwrap().queue_url.unwrap();
        base.send_message().queue_url(&url).message_body("one").send().await.unwrap();
        let receive = || base.receive_message().queue_url(&url).visibility_timeout(600).send();
        let handle = receive().await.unwrap().messages.unwrap().remove(0).receipt_handle.unwrap();
        let client = BufferedClient::builder(base.clone());
        let client = client.linger(Linger::Fixed(Duration::from_secs(1))).build().unwrap();
        let (source, until) = (Source::new(&client, &url), Instant::now() + Duration::from_mins(1));
        let schedule = Schedule::new(600, Duration::from_secs(3_600));
        let leases = Arc::new(Leases::new(schedule, Arc::new(Observer::new("q", None))));
        let lease =
            Lease::open(&leases, Instant::now(), vec![("id".into(), handle.as_str().into())]).remove(0);
        // One renewal waits in the lane and is replaced, another comes after the message was given back.
        let early = source.renew(&lease.held, 600, until);
        let returned = async {
            tokio::task::yield_now().await;
            assert!(lease.end().is_ok());
            let (returned, late) = tokio::join!(
                source.delay(&handle, Duration::ZERO, until),
                source.renew(&lease.held, 600, until)
            );
            assert_eq!(late.unwrap_err().kind(), SendErrorKind::Superseded);
            returned.unwrap();
        };
        let (early, ()) = tokio::join!(early, returned);
        assert!(early.is_ok(), "it ends with the change that replaced it: {early:?}");
        assert_eq!(client.stats().batched_entries, 1);
        assert_eq!(receive().await.unwrap().messages.unwrap_or_default().len(), 1, "it is visible");
    }

    #[tokio::test(start_paused = true)]
    async fn leases_are_lost_and_receiving_ends_when_the_renewal_task_ends() {
        let client = BufferedClient::new(MockSqs::in_process().client());
        let source = Source::new(&client, "http://localhost/000000000000/jobs");
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
