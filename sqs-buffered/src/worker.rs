//! The task of a lane, and nothing else: it sends what is due and takes in what comes back.
//!
//! ```text
//! poll --Dispatch--> request, carried or a task of its own --answer--> complete --> poll
//!  | Wait: for a change, an answer, or the time
//! ```

use std::pin::pin;
use std::sync::Arc;

use sqs_client::client::Execute;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;

use crate::channel::{Channel, IDLE};
use crate::kind::Kind;
use crate::lane::{Answer, Step};
use crate::random;
use crate::request::{Request, Returned};
use crate::requests::Requests;

/// Works for one lane.
pub(crate) struct Worker<K: Kind, H> {
    will: Will<K>,
    handle: H,
    requests: Requests<Returned<K>>,
    /// Whether several were told just now, who may have something for the same batch.
    gives_way: bool,
}

/// Why there is nothing to send.
struct Rest {
    until: Option<Instant>,
    is_idle: bool,
    is_closing: bool,
}

/// Ends what a worker leaves behind, whatever ended it.
struct Will<K: Kind> {
    channel: Arc<Channel<K>>,
    is_void: bool,
}

impl<K: Kind> Drop for Will<K> {
    fn drop(&mut self) {
        if !self.is_void {
            self.channel.bury();
        }
    }
}

impl<K: Kind, H: Execute> Worker<K, H> {
    pub(crate) fn new(channel: Arc<Channel<K>>, handle: H) -> Self {
        let will = Will { channel, is_void: false };
        Self { will, handle, requests: Requests::new(), gives_way: false }
    }

    pub(crate) async fn run(mut self) {
        let mut alarm = pin!(sleep_until(Instant::now() + IDLE));
        let mut was_active = true;
        loop {
            if std::mem::take(&mut self.gives_way) {
                tokio::task::yield_now().await;
            }
            let rest = self.send_what_is_due();
            if rest.is_idle {
                // What is still on its way was given up.
                self.requests.abort();
            }
            if rest.is_idle && rest.is_closing && self.is_dismissed() {
                return;
            }
            // Setting a timer wakes whoever waits for timers, so one that goes off too early is left as it is.
            if let Some(until) = rest.until.filter(|until| *until < alarm.deadline()) {
                alarm.as_mut().reset(until);
            }
            tokio::select! {
                biased;
                (number, returned) = self.requests.next() => {
                    match returned {
                        Some(returned) => self.take_in(number, returned).await,
                        None => self.channel().with(|lane| lane.forsake_batch(number)),
                    }
                    was_active = true;
                }
                () = self.will.channel.changed.notified() => was_active = true,
                () = &mut alarm => {
                    if rest.is_idle && !was_active && self.is_dismissed() {
                        return;
                    }
                    was_active = !rest.is_idle;
                    alarm.as_mut().reset(Instant::now() + IDLE);
                }
            }
        }
    }

    fn channel(&self) -> &Arc<Channel<K>> {
        &self.will.channel
    }

    fn is_dismissed(&mut self) -> bool {
        self.will.is_void = self.channel().dismiss();
        self.will.is_void
    }

    /// Sends what is due, and says until when there is nothing to do.
    fn send_what_is_due(&mut self) -> Rest {
        let channel = Arc::clone(self.channel());
        loop {
            let starving = channel.admission.is_starving();
            let now = Instant::now();
            let step = channel.with(|lane| match lane.poll(now, starving) {
                Step::Dispatch(number, loads) => Ok((number, loads)),
                Step::Wait(until) => {
                    Err(Rest { until, is_idle: lane.is_idle(), is_closing: lane.is_closing() })
                }
            });
            let (number, loads) = match step {
                Ok(dispatched) => dispatched,
                Err(rest) => return rest,
            };
            // Without the lock: a subscriber is called.
            let request = Request::of(&channel, loads, now);
            let span = request.span();
            let is_alone = request.is_single() && self.requests.is_empty();
            let request = request.send(self.handle.clone()).instrument(span);
            if is_alone {
                self.requests.carry(number, request);
            } else {
                self.requests.spawn(number, request);
            }
        }
    }

    async fn take_in(&mut self, number: u64, returned: Returned<K>) {
        let Returned { answer, loads } = returned;
        self.gives_way = !matches!(&answer, Answer::Entries(answers) if answers.len() < 2);
        if !self.gives_way {
            // The connection is to be back in its pool before a lone sender sends again.
            tokio::task::yield_now().await;
        }
        self.channel().with(|lane| lane.complete(Instant::now(), number, answer, loads, random::unit()));
    }
}
