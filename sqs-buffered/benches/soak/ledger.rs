//! Records the messages of a run: which were accepted, which were received, and in what order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::types::Message;

use crate::PRODUCERS;

/// One queue, and the records of its messages.
pub(crate) struct Run {
    pub(crate) url: String,
    pub(crate) fifo: bool,
    pub(crate) accepted: AtomicUsize,
    pub(crate) failed: AtomicUsize,
    pub(crate) deliveries: AtomicUsize,
    /// By producer.
    progress: [Mutex<Progress>; PRODUCERS],
    /// The number and the id of the last message of each group.
    last: Mutex<HashMap<usize, (usize, String)>>,
    pub(crate) out_of_order: AtomicUsize,
    pub(crate) stored_twice: AtomicUsize,
    /// The number of accepted messages by time.
    progress_over_time: Mutex<Vec<(Duration, usize)>>,
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
            progress_over_time: Mutex::default(),
        })
    }

    pub(crate) fn note_progress(&self, at: Duration) {
        self.progress_over_time.lock().push((at, self.accepted.load(Ordering::Relaxed)));
    }

    /// Accepted messages per second between two times.
    pub(crate) fn rate(&self, from: Duration, to: Duration) -> Option<f64> {
        let progress = self.progress_over_time.lock();
        let (start, before) = progress.iter().find(|(at, _)| *at >= from)?;
        let (end, after) = progress.iter().rev().find(|(at, _)| *at <= to)?;
        let seconds = end.checked_sub(*start)?.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
        (seconds > 0.0).then(|| after.saturating_sub(*before) as f64 / seconds)
    }

    pub(crate) fn accepted(&self, producer: usize, number: usize) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        self.progress[producer].lock().note(number, |known| known.is_settled = true);
    }

    /// The send of a message failed. The message may be stored, so it may be received or not.
    pub(crate) fn failed(&self, producer: usize, number: usize) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.progress[producer]
            .lock()
            .note(number, |known| *known = Known { is_settled: true, is_received: true });
    }

    pub(crate) fn received(&self, message: &Message) {
        self.deliveries.fetch_add(1, Ordering::Relaxed);
        let parts = message.body().and_then(|body| body.split_once(':'));
        let parts = parts
            .and_then(|(group, number)| Some((group.parse::<usize>().ok()?, number.parse::<usize>().ok()?)));
        let Some((group, number)) = parts else { return };
        self.progress[group % PRODUCERS].lock().note(number, |known| known.is_received = true);
        if self.fifo {
            self.in_order(group, number, message.message_id().unwrap_or_default());
        }
    }

    fn in_order(&self, group: usize, number: usize, id: &str) {
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

    pub(crate) fn wrong(&self) -> usize {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let failed = read(&self.failed);
        let too_many_failed = if failed > read(&self.accepted) / 100 { failed } else { 0 };
        self.lost() + read(&self.out_of_order) + read(&self.stored_twice) + too_many_failed
    }
}

/// The records of one producer, in memory that does not grow with the run.
#[derive(Default)]
struct Progress {
    /// All messages up to this number are settled and received.
    done: usize,
    later: HashMap<usize, Known>,
}

#[derive(Default)]
struct Known {
    is_settled: bool,
    is_received: bool,
}

impl Progress {
    fn note(&mut self, number: usize, change: impl FnOnce(&mut Known)) {
        if number <= self.done {
            return;
        }
        change(self.later.entry(number).or_default());
        while self.later.get(&(self.done + 1)).is_some_and(|known| known.is_settled && known.is_received) {
            self.done += 1;
            self.later.remove(&self.done);
        }
    }

    fn unreceived(&self) -> usize {
        self.later.values().filter(|known| known.is_settled && !known.is_received).count()
    }
}
