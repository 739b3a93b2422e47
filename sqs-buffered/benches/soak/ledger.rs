//! Tracks the messages of a queue: which were accepted, which were received, and in what order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::types::Message;

use crate::PRODUCERS;

/// A queue and the state of its messages.
pub(crate) struct Run {
    pub(crate) url: String,
    pub(crate) fifo: bool,
    pub(crate) accepted: AtomicUsize,
    pub(crate) failed: AtomicUsize,
    pub(crate) deliveries: AtomicUsize,
    /// One entry per producer.
    progress: [Mutex<Progress>; PRODUCERS],
    /// Number and id of the last received message of each group.
    last: Mutex<HashMap<usize, (usize, String)>>,
    pub(crate) out_of_order: AtomicUsize,
    pub(crate) stored_twice: AtomicUsize,
    /// Accepted messages at moments since the start.
    accepted_over_time: Mutex<Vec<(Duration, usize)>>,
}

impl Run {
    pub(crate) fn new(url: String) -> Arc<Self> {
        let fifo = url.ends_with(".fifo");
        Arc::new(Self {
            url,
            fifo,
            accepted: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            deliveries: AtomicUsize::new(0),
            progress: Default::default(),
            last: Mutex::default(),
            out_of_order: AtomicUsize::new(0),
            stored_twice: AtomicUsize::new(0),
            accepted_over_time: Mutex::default(),
        })
    }

    pub(crate) fn note_progress(&self, at: Duration) {
        self.accepted_over_time.lock().push((at, self.accepted.load(Ordering::Relaxed)));
    }

    /// Accepted messages per second between two moments.
    pub(crate) fn rate(&self, from: Duration, to: Duration) -> Option<f64> {
        let progress = self.accepted_over_time.lock();
        let (start, before) = progress.iter().find(|(at, _)| *at >= from)?;
        let (end, after) = progress.iter().rev().find(|(at, _)| *at <= to)?;
        let seconds = end.checked_sub(*start)?.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
        (seconds > 0.0).then(|| after.saturating_sub(*before) as f64 / seconds)
    }

    pub(crate) fn accepted(&self, producer: usize, number: usize) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        self.progress[producer].lock().note(number, |state| state.is_settled = true);
    }

    /// A failed message may be stored all the same, so it does not count as lost.
    pub(crate) fn failed(&self, producer: usize, number: usize) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.progress[producer]
            .lock()
            .note(number, |state| *state = MessageState { is_settled: true, is_received: true });
    }

    pub(crate) fn received(&self, message: &Message) {
        self.deliveries.fetch_add(1, Ordering::Relaxed);
        let parts = message.body().and_then(|body| body.split_once(':'));
        let parts = parts
            .and_then(|(group, number)| Some((group.parse::<usize>().ok()?, number.parse::<usize>().ok()?)));
        let Some((group, number)) = parts else { return };
        self.progress[group % PRODUCERS].lock().note(number, |state| state.is_received = true);
        if self.fifo {
            self.check_order(group, number, message.message_id().unwrap_or_default());
        }
    }

    fn check_order(&self, group: usize, number: usize, id: &str) {
        let mut all = self.last.lock();
        let (last, last_id) = all.entry(group).or_default();
        if number == *last && last_id != id {
            self.stored_twice.fetch_add(1, Ordering::Relaxed);
        } else if number < *last {
            self.out_of_order.fetch_add(1, Ordering::Relaxed);
        } else {
            (*last, *last_id) = (number, id.to_owned());
        }
    }

    pub(crate) fn lost(&self) -> usize {
        self.progress.iter().map(|progress| progress.lock().unreceived()).sum()
    }

    /// Number of violations of the guarantees.
    pub(crate) fn violations(&self) -> usize {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let failed = read(&self.failed);
        let too_many_failed = if failed > read(&self.accepted) / 100 { failed } else { 0 };
        self.lost() + read(&self.out_of_order) + read(&self.stored_twice) + too_many_failed
    }
}

/// The messages of one producer. Its memory does not grow with the duration of the run.
#[derive(Default)]
struct Progress {
    /// All messages up to this number are settled and received.
    done: usize,
    later: HashMap<usize, MessageState>,
}

#[derive(Default)]
struct MessageState {
    is_settled: bool,
    is_received: bool,
}

impl Progress {
    fn note(&mut self, number: usize, change: impl FnOnce(&mut MessageState)) {
        if number <= self.done {
            return;
        }
        change(self.later.entry(number).or_default());
        while self.later.get(&(self.done + 1)).is_some_and(|state| state.is_settled && state.is_received) {
            self.done += 1;
            self.later.remove(&self.done);
        }
    }

    fn unreceived(&self) -> usize {
        self.later.values().filter(|state| state.is_settled && !state.is_received).count()
    }
}
