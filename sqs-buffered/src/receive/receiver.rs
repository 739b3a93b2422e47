//! Messages as a stream.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use parking_lot::Mutex;
use sqs_client::client::{Execute, Unopened};
use sqs_client::random;
use sqs_client::wire::limits::MAX_IN_FLIGHT;
use tokio::runtime::Handle;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};

use crate::client::BufferedClient;
use crate::error::{BuildError, ReceiveError, ReceiveErrorKind};
use crate::observe::receives::{Hook, Observer, ReceiveEvent, ReceiveStats, Settled};
use crate::receive::back_off::BackOff;
use crate::receive::credits::SharedCredits;
use crate::receive::dead_letter::DeadLetters;
use crate::receive::delivery::{Claim, Delivery, GRACE, Grace, Received};
use crate::receive::opening::{NotOpened, Opener, extra_places};
use crate::receive::pump::{Intake, Place, Source, Stop, give_back, pause};
use crate::receive::renewal_thread::RenewalThread;
use crate::receive::settings::{Settings, receive_setters};

/// The default limit.
const LIMIT: usize = 10;

/// A stream of received messages. The lease of each one is renewed in the background until the message is settled.
///
/// It receives while it holds fewer messages than its [limit](ReceiverBuilder::limit): buffered ones, and yielded ones that
/// are not settled. When it is dropped, it stops receiving and makes buffered messages visible again in the background;
/// [`close`](Self::close) waits for that. Yielded messages stay with their holders.
///
/// Over a client that stores bodies elsewhere, each message is opened before it is yielded. If that fails and may succeed later
/// ([`Unopened::Retry`]), the receiver keeps the message and tries again, for at most 10 minutes from its receive; on FIFO queues, its
/// group waits. It deletes or dead-letters messages if the client below says so. Otherwise the message becomes visible again after 2
/// seconds at most, doubled with each receive, and on FIFO queues its group with it: there, use a
/// [`Consumer`](crate::consume::consumer::Consumer), which dead-letters such a message alone ([`Poison`](crate::consume::settle::Poison)).
///
/// ```no_run
/// # async fn example(client: sqs_client::Client, url: &str) -> Result<(), Box<dyn std::error::Error>> {
/// use futures_util::StreamExt as _;
/// use sqs_buffered::{BufferedClient, Receiver};
///
/// let buffered = BufferedClient::new(client);
/// let mut orders = Receiver::builder(&buffered, url).limit(20).start().await?;
/// while let Some(order) = orders.next().await {
///     println!("{}", order.message().body().unwrap_or_default());
///     order.ack().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Receiver<H: Execute = sqs_client::Client> {
    intake: Intake<H>,
    ready: VecDeque<Delivery>,
    /// Messages that are prepared before they are yielded: their leases are renewed, and they are opened. On FIFO queues, at most
    /// one of each group.
    preparing: JoinSet<Prepared>,
    /// The places of the messages that are being prepared.
    places: BTreeMap<Id, Place>,
    /// The runtime on which it was started: the stream may be polled outside of it.
    runtime: Handle,
    preparer: Arc<Preparer<H>>,
}

/// A message that can be yielded, or why not.
type Prepared = Result<(Delivery, Claim), Unprepared>;

/// Why a message is not yielded.
#[derive(Debug)]
enum Unprepared {
    /// It could not be opened.
    Unopened(Box<Delivery>),
    /// Another consumer or receiver of the client is handling it.
    Busy(Box<Delivery>),
    /// Its lease is lost, or ends too soon.
    LeaseEnds,
    /// It was deleted.
    Settled,
}

/// Prepares messages of a receiver.
#[derive(Debug)]
struct Preparer<H: Execute> {
    source: Source<H>,
    observer: Arc<Observer>,
    opener: Opener,
    dead_letters: DeadLetters,
    credits: Arc<SharedCredits>,
    limit: usize,
    unopened: Mutex<Counts>,
}

/// Messages that are not open.
#[derive(Debug, Default)]
struct Counts {
    /// They wait until they are opened again.
    resting: usize,
    /// Opening them takes long.
    hanging: usize,
}

/// A message that is counted until this is dropped.
struct Counted<'p, H: Execute> {
    preparer: &'p Preparer<H>,
    count: fn(&mut Counts) -> &mut usize,
}

/// Builds a [`Receiver`].
#[must_use]
pub struct ReceiverBuilder<H: Execute = sqs_client::Client> {
    source: Source<H>,
    /// The client of the renewal thread.
    renewals: Option<H>,
    limit: usize,
    settings: Settings,
    hook: Option<Hook>,
}

impl<H: Execute> Receiver<H> {
    /// Returns a builder for a receiver of the queue with this URL. Deletes and visibility changes go through `client`, in
    /// batches with its other entries.
    pub fn builder(client: &BufferedClient<H>, queue_url: impl AsRef<str>) -> ReceiverBuilder<H> {
        let source = Source::new(client, queue_url.as_ref());
        ReceiverBuilder { source, renewals: None, limit: LIMIT, settings: Settings::default(), hook: None }
    }

    /// The totals since the start.
    pub fn stats(&self) -> ReceiveStats {
        self.intake.stats()
    }

    /// Stops receiving, makes buffered messages visible again, and waits until running receives have ended and all yielded
    /// messages are settled: at most 25 seconds, see [`close_within`](Self::close_within).
    ///
    /// # Errors
    /// The receiver had ended by itself, with this error.
    ///
    /// # Cancel safety
    /// If the future is dropped, the receiver closes in the background.
    pub async fn close(self) -> Result<ReceiveStats, ReceiveError> {
        self.close_within(GRACE).await
    }

    /// Like [`close`](Self::close), with another bound of at least one second.
    ///
    /// A [`Received`] that is held after that stays with its holder: its lease is still renewed, and its methods work.
    /// [`ReceiveStats::held`] counts such messages. An eighth of the time, 1 to 3 seconds, is reserved for giving messages
    /// back. A receive that runs longer is cancelled; messages that it would have returned stay hidden until their
    /// visibility timeout is over.
    ///
    /// # Errors
    /// The same as `close`.
    ///
    /// # Cancel safety
    /// The same as `close`.
    pub async fn close_within(mut self, grace: Duration) -> Result<ReceiveStats, ReceiveError> {
        let grace = Grace::new(Instant::now(), grace);
        self.intake.stop();
        // Their messages are given back, also those of tasks that have ended.
        self.preparing = JoinSet::new();
        give_back(self.ready.drain(..).collect());
        if timeout_at(grace.stop, self.give_rest_back()).await.is_err() {
            self.intake.abandon_receives();
            // If this times out too, the statistics count the messages that are still held.
            let _ = timeout_at(grace.end, self.give_rest_back()).await;
        }
        let finished = timeout_at(grace.end, self.intake.finish()).await;
        finished.unwrap_or_else(|_| self.intake.result())?;
        Ok(self.intake.stats())
    }

    async fn give_rest_back(&mut self) {
        while let Some(unwanted) = self.intake.next().await {
            give_back(unwanted);
        }
    }

    /// Waits until receiving has ended. Returns the error, if it ended by itself. After the end of the stream, this returns at
    /// once.
    ///
    /// # Cancel safety
    /// You can drop the future and call it again.
    pub async fn failure(&mut self) -> Option<ReceiveError> {
        self.intake.pumped().await.err()
    }

    /// The next message with enough time left. On FIFO queues, it waits for those before it in its group.
    fn poll_fresh(&mut self, cx: &mut Context<'_>) -> Poll<Option<(Delivery, Claim)>> {
        loop {
            while let Poll::Ready(Some(ended)) = self.preparing.poll_join_next_with_id(cx) {
                let (id, prepared) = match ended {
                    Ok(ended) => ended,
                    // A panic dropped the message, which gives it back.
                    Err(error) => (error.id(), Err(Unprepared::LeaseEnds)),
                };
                if let Some(place) = self.places.remove(&id)
                    && let Some(fresh) = self.prepared(&place, prepared)
                {
                    return Poll::Ready(Some(fresh));
                }
            }
            let Some(delivery) = self.next_to_prepare() else {
                match ready!(self.intake.poll_next(cx)) {
                    Some(batch) => self.ready.extend(batch),
                    None if self.preparing.is_empty() => return Poll::Ready(None),
                    None => return Poll::Pending,
                }
                continue;
            };
            let place = Place::of(&delivery);
            let mut preparing = Box::pin(Arc::clone(&self.preparer).prepare(delivery));
            let entered = self.runtime.enter();
            let polled = preparing.as_mut().poll(cx);
            drop(entered);
            match polled {
                Poll::Ready(prepared) => {
                    if let Some(fresh) = self.prepared(&place, prepared) {
                        return Poll::Ready(Some(fresh));
                    }
                }
                // It continues while the stream is not polled.
                Poll::Pending => {
                    let task = self.preparing.spawn_on(preparing, &self.runtime);
                    self.places.insert(task.id(), place);
                }
            }
        }
    }

    /// The first message that waits for no other: on FIFO queues, none of its group is being prepared.
    fn next_to_prepare(&mut self) -> Option<Delivery> {
        let is_held = |delivery: &Delivery| self.places.values().any(|place| place.is_of_group(delivery));
        let is_fifo = self.intake.source.is_fifo();
        let index = self.ready.iter().position(|delivery| !is_fifo || !is_held(delivery))?;
        self.ready.remove(index)
    }

    /// Gives back what is behind a message in its group, on FIFO queues, so that nothing overtakes it.
    fn give_back_behind(&mut self, place: &Place) {
        let is_fifo = self.intake.source.is_fifo();
        let (behind, ready) = self.ready.drain(..).partition(|delivery| is_fifo && place.is_before(delivery));
        self.ready = ready;
        give_back(behind.into());
    }

    /// A message to yield, unless it could not be prepared. Then it is given back, unless it is deleted, and on FIFO queues those behind it
    /// in its group as well, so that none overtakes it.
    fn prepared(&mut self, place: &Place, prepared: Prepared) -> Option<(Delivery, Claim)> {
        match prepared {
            Ok(fresh) => return Some(fresh),
            Err(Unprepared::Settled) => {}
            Err(Unprepared::LeaseEnds) => self.give_back_behind(place),
            Err(Unprepared::Unopened(delivery)) => {
                self.give_back_behind(place);
                let delay = BackOff::default().delay(delivery.receive_count(), random::unit());
                delivery.give_back_after(delay);
            }
            Err(Unprepared::Busy(delivery)) => {
                self.give_back_behind(place);
                self.preparer.observer.duplicate();
                // Each receive until the other one is done would count towards the dead-letter queue.
                delivery.keep(Settled::Returned);
            }
        }
        None
    }
}

impl<H: Execute> Stream for Receiver<H> {
    type Item = Received<H>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Received<H>>> {
        let fresh = ready!(self.poll_fresh(cx));
        Poll::Ready(fresh.map(|(delivery, claim)| Received::new(delivery, &self.intake.source, claim)))
    }
}

impl<H: Execute> Preparer<H> {
    /// Renews the lease of a message if little time is left, claims the message, and opens it. If that may succeed later, tries again for
    /// as long as a consumer does.
    async fn prepare(self: Arc<Self>, mut delivery: Delivery) -> Prepared {
        let lease = delivery.lease.clone();
        let ends = |_| Unprepared::LeaseEnds;
        lease.refresh().await.map_err(ends)?;
        // Before it is opened: its payload may be deleted by the one that handles it.
        let Some(claim) = self.source.client.claims().claim(&self.source.url, delivery.id()) else {
            return Err(Unprepared::Busy(delivery.into()));
        };
        loop {
            let hangs = || self.count(|counts| &mut counts.hanging);
            let opening = self.opener.open(&self.source, &self.observer, &mut delivery, hangs);
            let (policy, reason) = match opening.await {
                Ok(()) => return Ok((delivery, claim)),
                Err(NotOpened::LeaseEnds) => return Err(Unprepared::LeaseEnds),
                Err(NotOpened::Failed(policy, reason)) => (policy, reason),
            };
            match policy {
                Unopened::Retry => {
                    let Some(_resting) = self.rest(&delivery) else {
                        return Err(Unprepared::Unopened(delivery.into()));
                    };
                    delivery.overloads = delivery.overloads.saturating_add(1);
                    tokio::select! {
                        biased;
                        () = lease.lost() => return Err(Unprepared::LeaseEnds),
                        () = sleep(pause(delivery.overloads, random::unit())) => {}
                    }
                }
                Unopened::Delete => return Err(self.settle(delivery, None).await),
                Unopened::DeadLetter => return Err(self.settle(delivery, Some(reason)).await),
                _ => return Err(Unprepared::Unopened(delivery.into())),
            }
        }
    }

    /// Keeps a message until the next attempt, if it may stay.
    fn rest(&self, delivery: &Delivery) -> Option<Counted<'_, H>> {
        let resting = self.unopened.lock().resting;
        let may_stay = self.opener.may_keep(delivery.lease.received(), resting, self.limit);
        may_stay.then(|| self.count(|counts| &mut counts.resting))
    }

    fn count(&self, count: fn(&mut Counts) -> &mut usize) -> Counted<'_, H> {
        self.change(|counts| *count(counts) += 1);
        Counted { preparer: self, count }
    }

    fn change(&self, change: impl FnOnce(&mut Counts)) {
        let mut counts = self.unopened.lock();
        change(&mut counts);
        self.credits
            .set_total(self.limit + extra_places((counts.resting, counts.hanging), self.limit, self.limit));
    }

    /// Deletes a message that cannot be opened. If there is a reason, sends it to the dead-letter queue before.
    async fn settle(&self, mut delivery: Delivery, reason: Option<String>) -> Unprepared {
        let (source, id) = (&self.source, Arc::clone(delivery.id()));
        let how = if reason.is_some() { Settled::DeadLettered } else { Settled::Discarded };
        if let Some(reason) = reason
            && let Err(reason) = self.dead_letters.send(source, &delivery, &reason).await
        {
            self.observer.report(&ReceiveEvent::DeadLetterFailed { message_id: &id, reason: &reason });
            return Unprepared::Unopened(delivery.into());
        }
        match delivery.delete(source, how).await {
            Ok(()) => Unprepared::Settled,
            Err(_) => Unprepared::Unopened(delivery.into()),
        }
    }
}

impl<H: Execute> Drop for Counted<'_, H> {
    fn drop(&mut self) {
        self.preparer.change(|counts| *(self.count)(counts) -= 1);
    }
}

impl<H: Execute> Drop for Receiver<H> {
    fn drop(&mut self) {
        give_back(self.ready.drain(..).collect());
    }
}

impl<H: Execute> ReceiverBuilder<H> {
    /// Sets how many messages are held or requested at a time: 1 to 120,000; 10 by default.
    pub fn limit(mut self, messages: usize) -> Self {
        self.limit = messages;
        self
    }

    receive_setters!(hook);

    /// Starts receiving.
    ///
    /// # Errors
    /// A setting is out of range, or the visibility timeout of the queue cannot be read. Transient failures, such as a refused
    /// connection, are retried until they clear.
    ///
    /// # Cancel safety
    /// If the future is dropped, nothing was received.
    pub async fn start(mut self) -> Result<Receiver<H>, ReceiveError> {
        self.settings.check(&self.source.url).map_err(|error| ReceiveError::invalid(&error))?;
        if !(1..=MAX_IN_FLIGHT).contains(&self.limit) {
            let error = BuildError::new("limit", self.limit, format_args!("1 to {MAX_IN_FLIGHT} messages"));
            return Err(ReceiveError::invalid(&error));
        }
        if let Some(client) = self.renewals {
            let thread = RenewalThread::new(client, self.source.client.settings())
                .map_err(|error| ReceiveError::invalid(&error))?;
            self.source.renewals = Some(thread);
        }
        let observer = Arc::new(Observer::new(&self.source.url, self.hook));
        let held = observer.metrics.held();
        let credits = Arc::new(SharedCredits::of_messages(self.limit, self.settings.max_poll_delay, held));
        let preparer = Arc::new(Preparer {
            source: self.source.clone(),
            observer: Arc::clone(&observer),
            opener: Opener::default(),
            dead_letters: DeadLetters::default(),
            credits: Arc::clone(&credits),
            limit: self.limit,
            unopened: Mutex::default(),
        });
        let intake = Intake::start(self.source, &self.settings, credits, observer, Stop::new()).await?;
        let intake = intake.ok_or_else(|| ReceiveError::new(ReceiveErrorKind::Aborted, "stopped"))?;
        let (ready, preparing, runtime) = (VecDeque::new(), JoinSet::new(), Handle::current());
        Ok(Receiver { intake, ready, preparing, places: BTreeMap::new(), runtime, preparer })
    }
}

impl<H: Execute> std::fmt::Debug for ReceiverBuilder<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReceiverBuilder")
            .field("limit", &self.limit)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
