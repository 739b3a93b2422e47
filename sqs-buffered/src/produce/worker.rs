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

use crate::produce::channel::{Channel, IDLE};
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::kind::Kind;
use crate::produce::lane::Step;
use crate::produce::request::{Request, Returned, lost};
use crate::produce::under_way::{Lost, UnderWay};
use crate::random;

/// Works for one lane.
pub(crate) struct Worker<K: Kind, H> {
    will: Will<K>,
    handle: H,
    under_way: UnderWay<Returned<K>>,
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
        Self { will, handle, under_way: UnderWay::new(), gives_way: false }
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
                self.under_way.abort();
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
                (number, returned) = self.under_way.next() => {
                    match returned {
                        Ok(returned) => self.take_in(number, returned).await,
                        Err(lost) => self.forsake(number, lost),
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
            let request = Request::of(&channel, loads, now);
            let is_carried = request.is_light() && self.under_way.is_empty();
            let request = request.send(self.handle.clone());
            if is_carried {
                self.under_way.carry(number, request);
            } else {
                self.under_way.spawn(number, request);
            }
        }
    }

    async fn take_in(&mut self, number: u64, returned: Returned<K>) {
        let Returned { answer, loads } = returned;
        self.gives_way = loads.len() > 1;
        if !self.gives_way && self.under_way.is_empty() {
            // The connection is to be back in its pool before a lone sender sends again. If the runtime ends here, the answer
            // is lost: its entry is told that it was aborted and may have been sent.
            tokio::task::yield_now().await;
        }
        self.channel().with(|lane| lane.complete(Instant::now(), number, answer, loads, random::unit()));
    }

    /// Ends a batch whose request took its entries with it.
    fn forsake(&self, number: u64, why: Lost) {
        let error = match why {
            Lost::Stopped => SendError::new(SendErrorKind::Aborted),
            Lost::Panicked(panicked) => {
                panicked.log("a request of a batch broke, and cannot be made again");
                lost(panicked)
            }
        };
        self.channel().with(|lane| lane.forsake_batch(number, &error));
    }
}
