//! Starts and ends batches.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::time::Instant;

use super::super::batch::{Lines, handle_batch};
use super::super::groups::Entry;
use super::super::handling::Verdict;
use super::super::step::Step;
use super::Run;
use crate::consume::handler::AnyBatchHandler;
use crate::consume::pool::HandlerEnd;
use crate::consume::receive::Delivery;
use crate::time::after;

impl<H: Execute> Run<H> {
    /// Starts batches that are full, or whose first message has waited for the window. The error is the time to try
    /// again; `None` if that depends only on messages and other handlers.
    pub(super) fn start_batches(&mut self, handler: &AnyBatchHandler) -> Result<(), Option<Instant>> {
        let (now, size, window) =
            (Instant::now(), self.shared.limits.batch_size, self.shared.limits.batch_window);
        loop {
            let here = self.fresh.len() + self.groups.startable(size);
            if here == 0 {
                self.batch_due = None;
                return Ok(());
            }
            let due = *self.batch_due.get_or_insert_with(|| after(now, window));
            if here < size && now < due {
                self.pool_member.idle();
                return Err(Some(due));
            }
            self.may_start()?;
            self.batch_due = None;
            let lines = self.next_batch(size);
            if lines.is_empty() {
                self.handler_ended(HandlerEnd::Stopped, Duration::ZERO);
            } else {
                self.start_batch(handler.clone(), lines);
            }
        }
    }

    /// Takes messages whose leases have enough time left. The others are renewed first, and run in a later batch.
    fn next_batch(&mut self, size: usize) -> Lines<Entry<Delivery>> {
        let (mut lines, mut count) = (Vec::new(), 0);
        while count < size {
            let Some((key, entry)) = self.fresh.pop_front().or_else(|| self.groups.start()) else { break };
            if !entry.latest.lease.is_fresh() {
                self.refresh(key, entry);
                continue;
            }
            let mut entries = vec![entry];
            while count + entries.len() < size
                && let Some(next) = self.groups.start_next(&key, |entry| entry.latest.lease.is_fresh())
            {
                entries.push(next);
            }
            count += entries.len();
            lines.push((key, entries));
        }
        lines
    }

    fn start_batch(&mut self, handler: AnyBatchHandler, lines: Lines<Entry<Delivery>>) {
        self.started(lines.iter().map(|(_, entries)| entries.len()).sum());
        let (shared, stop) = (Arc::clone(&self.shared), self.stop_handlers.subscribe());
        self.work.push(Box::pin(async move {
            let began = Instant::now();
            let lines = handle_batch(&handler, &shared.source, lines, &shared.observer, stop).await;
            Step::HandledBatch { lines, elapsed: began.elapsed() }
        }));
    }

    /// Settles the first message of each line; the others when it is their turn.
    pub(super) fn handled_batch(&mut self, lines: Lines<(Entry<Delivery>, Verdict)>) {
        for (key, entries) in lines {
            let mut entries = entries.into_iter();
            let Some((first, verdict)) = entries.next() else { continue };
            self.groups.decide(&key, entries);
            self.handled(key, first, verdict);
        }
    }
}

/// The result of a batch for the adaptive concurrency.
pub(super) fn batch_end(lines: &Lines<(Entry<Delivery>, Verdict)>) -> HandlerEnd {
    let ends = lines.iter().flat_map(|(_, entries)| entries).map(|(_, verdict)| verdict.end());
    ends.max().unwrap_or(HandlerEnd::Stopped)
}
